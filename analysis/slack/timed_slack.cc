#include "analysis/slack/timed_slack.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/critical_path.h"
#include "machine/event_queue.h"
#include "machine/lane.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace

TimedSlack timed_slack(const machine::Setting& setting, const sched::Trace& trace, WireTimes wire) {
  const sched::Schedule& schedule = setting.schedule;
  const ConstraintGraph graph = frozen_run(setting, trace, wire);
  TimedSlack result;
  result.wire_times = wire;
  const std::span<const double> time_s = graph.time_s();
  result.makespan_s = makespan_s(graph);
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
  // Of what holds its lane behind its issue: how much longer it may, for those next on the lane.
  std::vector<double> until_next_s(schedule.op_count(), kUnbounded);
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
      if (graph.weights()[index] == Weight::kTurn && node.moment() == Moment::kIssued) {
        double& next_s = until_next_s[node.op().value];
        next_s = std::min(next_s, slack_s + until_late_s[c.head.value]);
      }
      const bool own = c.head.op() == node.op();
      moved_s = std::min(moved_s, own ? slack_s + until_moved_s[c.head.value] : slack_s);
    }
  }
  const double tolerance_s = rounding_s(result.makespan_s);
  const auto clean = [&](double slack_s) { return slack_s <= tolerance_s ? 0.0 : slack_s; };
  result.total_float_s.reserve(schedule.op_count());
  result.free_float_s.reserve(schedule.op_count());
  result.hold_float_s.reserve(schedule.op_count());
  result.message_float_s.reserve(schedule.op_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const NodeId issued = NodeId::of(OpId(i), Moment::kIssued);
    result.total_float_s.push_back(clean(until_late_s[issued.value]));
    result.free_float_s.push_back(clean(until_moved_s[issued.value]));
    const sched::OpKind kind = schedule.ops()[i].kind;
    const bool holds_behind = machine::holds_lane(kind) && !machine::is_posted(kind);
    const double end_s = until_late_s[NodeId::of(OpId(i), Moment::kDone).value];
    result.hold_float_s.push_back(holds_behind ? clean(std::min(end_s, until_next_s[i]))
                                               : result.total_float_s.back());
    const bool sends = sched::is_initiator(kind);
    const NodeId on_wire = NodeId::of(OpId(i), Moment::kWire);
    result.message_float_s.push_back(sends ? clean(until_late_s[on_wire.value])
                                           : std::numeric_limits<double>::quiet_NaN());
  }
  result.critical_path = critical_path(graph);
  return result;
}

TimedSlack slack_of_run(const machine::Setting& setting, const sched::Trace& trace) {
  TimedSlack by_model = timed_slack(setting, trace, WireTimes::kModel);
  if (explains(by_model)) return by_model;
  TimedSlack by_run = timed_slack(setting, trace, WireTimes::kRun);
  return by_run.unexplained_s < by_model.unexplained_s ? by_run : by_model;
}

bool explains(const TimedSlack& slack) {
  return slack.unexplained_s <= 1e-9 * slack.makespan_s + 8 * machine::kInstant_s;
}

}  // namespace slackline::analysis
