#include "cli/engine.h"

#include <fmt/format.h>

#include <array>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/plan_runs.h"
#include "analysis/engines/samples.h"
#include "base/error.h"
#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/simgrid_engine.h"
#endif

namespace slackline::cli {
namespace {

std::string drive_alone(const sched::Schedule& /*schedule*/, const machine::Platform& /*platform*/,
                        const machine::Wiring& /*wiring*/, const machine::Paths& paths,
                        const machine::MakeRun& make) {
  return machine::drive_alone(paths, make);
}

std::string drive_flows(const sched::Schedule& /*schedule*/, const machine::Platform& /*platform*/,
                        const machine::Wiring& wiring, const machine::Paths& paths,
                        const machine::MakeRun& make) {
  return analysis::drive_flows(wiring, paths, make);
}

constexpr std::array kEngines = {
#ifdef SLACKLINE_HAVE_SIMGRID
    EngineEntry{"simgrid", true, sim::run_simgrid, sim::run_simgrid_samples, sim::run_simgrid_plans,
                sim::drive_in_simgrid},
#endif
    EngineEntry{"flow", true, analysis::run_flows, analysis::run_flow_samples,
                analysis::run_flow_plans, drive_flows},
    EngineEntry{"analytic", false, analysis::run_analytic, analysis::run_analytic_samples,
                analysis::run_analytic_plans, drive_alone},
    EngineEntry{"event", false, analysis::run_events, analysis::run_event_samples,
                analysis::run_event_plans, drive_alone},
};

}  // namespace

std::span<const EngineEntry> engines() { return kEngines; }

const EngineEntry& engine_named(std::string_view name, std::string_view option) {
  for (const EngineEntry& entry : kEngines) {
    if (entry.name == name) return entry;
  }
  if (name == "simgrid") {
    throw EnvironmentError(
        fmt::format("{0} simgrid: this program was built without SimGrid; install it (Debian: "
                    "libsimgrid-dev) and build again, or use {0} flow",
                    option));
  }
  throw InputError(
      fmt::format("{}: '{}'; expected simgrid, flow, analytic or event", option, name));
}

}  // namespace slackline::cli
