#include "analysis/engines/analytic.h"

#include <fmt/format.h>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/longest_path.h"
#include "base/error.h"
#include "machine/static_forms.h"

namespace slackline::analysis {
namespace {

// The schedule's trace out of its best case's: of what runs several times, the last.
sched::Trace run_best_case(const sched::Schedule& schedule, const machine::Platform& platform,
                           const machine::Wiring& wiring, const machine::DelayPlan& delays,
                           const machine::IssueOrder& order) {
  if (!delays.empty() || order.policy == machine::IssuePolicy::kLeastSlack) {
    throw Unsupported(
        fmt::format("the analytic engine prices the best case of a dynamic schedule, without "
                    "delays or slack: {}",
                    *schedule.dynamic_reason()));
  }
  const sched::Unrolled best = machine::best_case(schedule);
  sched::Trace trace = run_analytic(best.schedule, platform, wiring, delays, order);
  sched::Trace result = trace;
  result.schedule = schedule.digest();
  result.engine = "best-case";
  result.ops.assign(schedule.op_count(), {0, 0, 0, 0, 0, {}});
  result.results.clear();
  result.memory.clear();
  if (!trace.request_s.empty()) result.request_s.assign(schedule.op_count(), 0);
  for (std::size_t i = 0; i < best.origin.size(); ++i) {
    if (!best.origin[i].valid()) continue;
    const std::uint32_t origin = best.origin[i].value;
    const std::uint32_t attempts = result.ops[origin].attempts + 1;
    result.ops[origin] = trace.ops[i];
    result.ops[origin].attempts = attempts;
    const sched::OpId cause = trace.ops[i].cause;
    result.ops[origin].cause = cause.valid() ? best.origin[cause.value] : cause;
    if (!trace.request_s.empty()) result.request_s[origin] = trace.request_s[i];
  }
  return result;
}

}  // namespace

sched::Trace run_analytic(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::DelayPlan& delays, const machine::IssueOrder& order) {
  return run_analytic(schedule, platform, machine::Wiring(platform, schedule.rank_count()), delays,
                      order);
}

sched::Trace run_analytic(const sched::Schedule& schedule, const machine::Platform& platform,
                          const machine::Wiring& wiring, const machine::DelayPlan& delays,
                          const machine::IssueOrder& order) {
  if (!schedule.regions().empty()) return run_best_case(schedule, platform, wiring, delays, order);
  if (order.is_program_order() && !schedule.has_bundles()) {
    if (auto trace = longest_path(schedule, platform, wiring, delays)) return *std::move(trace);
  }
  return run_events(schedule, platform, wiring, delays, order);
}

}  // namespace slackline::analysis
