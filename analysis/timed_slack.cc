#include "analysis/timed_slack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/constraint_graph.h"
#include "sched/error.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// Slack below this is rounding: times are sums of thousands of terms of the makespan's magnitude.
double rounding_s(double makespan_s) { return std::max(1e-15, makespan_s * 1e-12); }

void require_trace_of(const sched::Schedule& schedule, const sched::Trace& trace) {
  if (trace.schedule != schedule.digest() || trace.ops.size() != schedule.op_count()) {
    throw InputError(fmt::format("the trace is of schedule {}, not of {}",
                                 to_string(trace.schedule), to_string(schedule.digest())));
  }
  for (std::uint32_t i = 0; i < trace.ops.size(); ++i) {
    if (!std::isfinite(trace.ops[i].done_s)) {
      throw InputError(
          fmt::format("the trace is not complete: {} never finished", describe(schedule, OpId(i))));
    }
  }
}

// Backwards from the end: at each moment the constraint that binds it, the one with the lowest
// operation if several do.
std::vector<OpId> critical_path(const ConstraintGraph& graph, double makespan_s) {
  const std::span<const double> time_s = graph.time_s();
  const double tolerance_s = rounding_s(makespan_s);
  std::vector<std::uint32_t> binding(graph.node_count(), std::numeric_limits<std::uint32_t>::max());
  for (std::uint32_t i = 0; i < graph.constraints().size(); ++i) {
    const Constraint& c = graph.constraints()[i];
    const double slack_s = time_s[c.head.value] - (time_s[c.tail.value] + c.weight_s);
    if (slack_s > tolerance_s) continue;
    std::uint32_t& best = binding[c.head.value];
    if (best == std::numeric_limits<std::uint32_t>::max() ||
        c.tail < graph.constraints()[best].tail) {
      best = i;
    }
  }
  NodeId node{0};
  for (NodeId n : graph.order()) {
    const bool later = time_s[n.value] > time_s[node.value];
    const bool equal = time_s[n.value] == time_s[node.value];
    if (later || (equal && n.moment() == Moment::kDone && n < node)) node = n;
  }
  std::vector<OpId> path;
  while (true) {
    if (path.empty() || path.back() != node.op()) path.push_back(node.op());
    const std::uint32_t index = binding[node.value];
    const bool from_start = time_s[node.value] <= graph.source_s(node);
    if (index == std::numeric_limits<std::uint32_t>::max() || from_start) break;
    node = graph.constraints()[index].tail;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

TimedSlack timed_slack(const sched::Schedule& schedule, const machine::Platform& platform,
                       const machine::DelayPlan& plan, const sched::Trace& trace) {
  const machine::Wiring wiring(platform, schedule.rank_count());
  return timed_slack(schedule, platform, wiring, plan, trace);
}

TimedSlack timed_slack(const sched::Schedule& schedule, const machine::Platform& platform,
                       const machine::Wiring& wiring, const machine::DelayPlan& plan,
                       const sched::Trace& trace) {
  require_trace_of(schedule, trace);
  TimedSlack result;
  if (schedule.op_count() == 0) return result;
  const machine::Delays delays(plan, schedule, platform);
  const machine::Paths paths(schedule, wiring, plan);
  const ConstraintGraph graph(schedule, platform, delays, paths, trace);
  const std::span<const double> time_s = graph.time_s();
  for (const double t : time_s) result.makespan_s = std::max(result.makespan_s, t);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const OpId id(i);
    for (const auto& [moment, seen_s] : {std::pair{Moment::kIssued, trace.ops[i].issued_s},
                                         std::pair{Moment::kDone, trace.ops[i].done_s}}) {
      result.unexplained_s =
          std::max(result.unexplained_s, std::abs(time_s[NodeId::of(id, moment).value] - seen_s));
    }
  }
  // How far each moment can slip: before the run is late, and before another operation moves.
  std::vector<double> until_late_s(graph.node_count(), kUnbounded);
  std::vector<double> until_moved_s(graph.node_count(), kUnbounded);
  for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it) {
    const NodeId node = *it;
    double& late_s = until_late_s[node.value];
    double& moved_s = until_moved_s[node.value];
    late_s = moved_s = result.makespan_s - time_s[node.value];
    for (std::uint32_t index : graph.out_of(node)) {
      const Constraint& c = graph.constraints()[index];
      const double slack_s =
          std::max(0.0, time_s[c.head.value] - (time_s[node.value] + c.weight_s));
      late_s = std::min(late_s, slack_s + until_late_s[c.head.value]);
      const bool own = c.head.op() == node.op();
      moved_s = std::min(moved_s, own ? slack_s + until_moved_s[c.head.value] : slack_s);
    }
  }
  const double tolerance_s = rounding_s(result.makespan_s);
  const auto clean = [&](double slack_s) { return slack_s <= tolerance_s ? 0.0 : slack_s; };
  result.total_float_s.reserve(schedule.op_count());
  result.free_float_s.reserve(schedule.op_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const NodeId issued = NodeId::of(OpId(i), Moment::kIssued);
    result.total_float_s.push_back(clean(until_late_s[issued.value]));
    result.free_float_s.push_back(clean(until_moved_s[issued.value]));
  }
  result.critical_path = critical_path(graph, result.makespan_s);
  return result;
}

}  // namespace slackline::analysis
