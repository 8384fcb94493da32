#include "experiments/registry.h"

#include <array>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"

namespace slackline::experiments {

// Each is defined in its folder. A new experiment is one name here and one in the list below.
extern const Experiment kGrappaAggregation, kGrappaBfs, kGrappaContexts, kGrappaHierarchy,
    kGrappaUts, kOffloadPreemption, kPriorityInversionOffload, kRdmaVsRpcFig3, kRdmaVsRpcFig4,
    kRdmaVsRpcFig5, kRdmaVsRpcFig6, kRdmaVsRpcTable1, kRdmaVsRpcTables23, kRdmcAtomic, kRdmcDelays,
    kRdmcFig10, kRdmcFig11, kRdmcFig12, kRdmcFig3, kRdmcFig4, kRdmcFig5, kRdmcFig6, kRdmcFig7,
    kRdmcFig8, kRdmcFig9, kRdmcHybrid, kRdmcInversion, kRdmcLockstep, kRdmcRobustness, kRdmcSmall,
    kRdmcSteps, kRdmcTable1, kRdmcWaiting, kSeriemaFig2, kSeriemaFig3, kSeriemaTable2;

std::span<const Experiment> experiments() {
  static const std::array kExperiments = {
      kRdmcFig3,        kRdmcSteps,     kRdmcRobustness,    kRdmcFig4,
      kRdmcTable1,      kRdmcFig5,      kRdmcFig6,          kRdmcFig7,
      kRdmcFig8,        kRdmcFig9,      kRdmcFig10,         kRdmcFig11,
      kRdmcFig12,       kRdmcWaiting,   kRdmcHybrid,        kRdmcSmall,
      kRdmcAtomic,      kRdmcLockstep,  kRdmcInversion,     kRdmcDelays,
      kRdmaVsRpcTable1, kRdmaVsRpcFig3, kRdmaVsRpcTables23, kRdmaVsRpcFig4,
      kRdmaVsRpcFig5,   kRdmaVsRpcFig6, kOffloadPreemption, kPriorityInversionOffload,
      kSeriemaFig2,     kSeriemaFig3,   kSeriemaTable2,     kGrappaAggregation,
      kGrappaHierarchy, kGrappaUts,     kGrappaContexts,    kGrappaBfs};
  return kExperiments;
}

const Experiment& find_experiment(std::string_view name) {
  if (const Experiment* found = base::find_named(experiments(), name)) return *found;
  throw InputError("reproduce: " +
                   sched::unknown_name("figure", name, base::names_of(experiments())));
}

}  // namespace slackline::experiments
