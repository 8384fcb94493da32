#include "experiments/component_cost.h"

#include <fmt/format.h>

#include <array>

#include "analysis/engines/event_engine.h"
#include "base/units.h"

namespace slackline::experiments {
namespace {

using sched::ComponentKind;

constexpr std::uint64_t kSeed = 1;
// An insertion into a local hash table, some 100 instructions and a cache miss.
constexpr sched::Time kHandler{200'000};

constexpr std::array kComponents = {
    Component{"put", ComponentKind::kPut, 1},
    Component{"get", ComponentKind::kGet, kVariables},
    Component{"single CAS", ComponentKind::kCompareSwap, kVariables},
    Component{"persistent CAS", ComponentKind::kPersistentCompareSwap, kVariables},
    Component{"FAD", ComponentKind::kFetchAdd, kVariables},
    Component{"FAD, single variable", ComponentKind::kFetchAdd, 1},
    Component{"active message", ComponentKind::kActiveMessage, 1},
};

}  // namespace

std::span<const Component> components() { return kComponents; }

double component_us(const Component& component, const machine::Platform& platform,
                    std::uint32_t nodes, std::uint32_t operations) {
  sched::Spec spec;
  spec.pattern = "one-sided";
  spec.multicast.ranks = nodes * kProcessesPerNode;
  spec.edit_own<sched::OneSidedOptions>() = {kWarmUp + operations, component.access,
                                             component.variables, kSeed};
  spec.handler = kHandler;
  const sched::Schedule schedule = sched::one_sided(spec);
  const sched::Trace trace = analysis::run_events({schedule, platform});
  double total_s = 0;  // from the end of the warm-up to that of the last operation
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const std::uint32_t step = schedule.ops()[i].step;
    // Of an active message the poll of its answer, which comes after its put.
    const bool ends = component.access != ComponentKind::kActiveMessage ||
                      schedule.ops()[i].kind == sched::OpKind::kPoll;
    if (!ends) continue;
    if (step == kWarmUp - 1) total_s -= trace.ops[i].done_s;
    if (step == kWarmUp + operations - 1) total_s += trace.ops[i].done_s;
  }
  return 1e6 * total_s / spec.multicast.ranks / operations;
}

std::vector<Constant> component_constants(const machine::Platform& platform,
                                          std::uint32_t operations) {
  return {
      {"machine", "preset cori, packed", "stated and assumed; in the preset"},
      {"processes a node", fmt::to_string(kProcessesPerNode), "stated: one a core"},
      {"o_post", sched::format_time(platform.o_post),
       "calibrated to the put of table I, 3.0 us on 64 nodes; in the preset"},
      {"operations", fmt::format("{} of each process", operations),
       "ours: a million, of which each takes as long"},
      {"variables", fmt::format("{} a process", kVariables),
       "ours for the stated 100,000: either way hardly two operations are at one at a time"},
      {"handler", sched::format_time(kHandler), "assumed: an insertion into a local hash table"},
  };
}

}  // namespace slackline::experiments
