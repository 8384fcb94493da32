#include "analysis/engines/analytic.h"

#include <fmt/format.h>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/plan_runs.h"
#include "base/error.h"
#include "machine/static_forms.h"

namespace slackline::analysis {
namespace {

std::optional<std::string> why_refused(const machine::Setting& setting) {
  if (auto why = kEventEngine.refusal(setting)) return why;
  const bool by_slack = setting.order.policy == machine::IssuePolicy::kLeastSlack;
  if (setting.schedule.regions().empty() || (setting.delays.empty() && !by_slack)) {
    return std::nullopt;
  }
  return fmt::format(
      "the analytic engine prices the best case of a dynamic schedule, without delays or slack: {}",
      *setting.schedule.dynamic_reason());
}

// The schedule's trace out of its best case's: of what runs several times, the last.
sched::Trace run_best_case(const machine::Setting& setting) {
  if (const auto why = why_refused(setting)) throw Unsupported(*why);
  const sched::Schedule& schedule = setting.schedule;
  const sched::Unrolled best = machine::best_case(schedule);
  sched::Trace trace = run_analytic(
      {best.schedule, setting.platform, setting.wiring, setting.delays, setting.order});
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

sched::Trace run_analytic(const machine::Setting& setting) {
  if (!setting.schedule.regions().empty()) return run_best_case(setting);
  if (setting.order.is_program_order() && !setting.schedule.has_bundles()) {
    if (auto trace = longest_path(setting)) return *std::move(trace);
  }
  return run_events(setting);
}

const machine::Engine kAnalyticEngine{
    .name = "analytic",
    .summary = "the longest path where it is exact, else the event engine",
    .run_once = run_analytic,
    .run_plans = plans_in_threads<run_analytic>,
    .refusal = why_refused,
};

}  // namespace slackline::analysis
