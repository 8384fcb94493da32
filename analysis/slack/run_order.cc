#include "analysis/slack/run_order.h"

#include <algorithm>

#include "machine/atomic_service.h"
#include "machine/delays.h"
#include "machine/paths.h"

namespace slackline::analysis {
namespace {

double time_s(const sched::Schedule& schedule, const sched::Trace& trace, NodeId node) {
  const sched::OpTimes& times = trace.ops[node.op().value];
  if (node.moment() == Moment::kDone) return times.done_s;
  const sched::OpKind kind = schedule.op(node.op()).kind;
  if (node.moment() == Moment::kIssued || !sched::is_initiator(kind)) return times.issued_s;
  if (node.moment() == Moment::kWire || !sched::has_reply(kind)) return times.wire_s;
  return trace.request_s.empty() ? times.issued_s : trace.request_s[node.op().value];
}

// A trace does not tell when an atomic was served, only when its reply began to leave. A word
// serves in the order of arrival: so of two at one word, the requests' arrivals are compared.
Constraint of_arrivals(const Constraint& c, const machine::Setting& setting,
                       const machine::Paths& paths) {
  const sched::Schedule& schedule = setting.schedule;
  const auto is_served = [&](NodeId node) {
    return node.moment() == Moment::kWire && sched::is_atomic(schedule.op(node.op()).kind);
  };
  if (!is_served(c.tail) || !is_served(c.head)) return c;
  const auto way_s = [&](NodeId node) {
    const machine::Path& way = paths[paths.of(schedule.op(node.op()).channel, false)];
    return way.latency_s + (way.passes_no_nic() ? 0 : machine::read_s(setting.platform, false));
  };
  Constraint result = c;
  result.tail = NodeId::of(c.tail.op(), Moment::kRequest);
  result.head = NodeId::of(c.head.op(), Moment::kRequest);
  result.weight_s = way_s(c.tail) - way_s(c.head);
  return result;
}

}  // namespace

RunOrder::RunOrder(const machine::Setting& setting, const sched::Trace& trace) {
  const machine::Paths paths(setting);
  const ConstraintGraph graph(setting, machine::Delays(setting), paths, trace);
  for (const Constraint& c : graph.of_order()) {
    constraints_.push_back(of_arrivals(c, setting, paths));
  }
  constraints_.insert(constraints_.end(), graph.went_before().begin(), graph.went_before().end());
}

bool RunOrder::is_kept_by(const sched::Schedule& schedule, const sched::Trace& trace) const {
  const double near_s = std::max(1e-15, trace.makespan_s() * 1e-12);
  return std::all_of(constraints_.begin(), constraints_.end(), [&](const Constraint& c) {
    return time_s(schedule, trace, c.head) >= time_s(schedule, trace, c.tail) + c.weight_s - near_s;
  });
}

}  // namespace slackline::analysis
