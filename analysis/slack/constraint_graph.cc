#include "analysis/slack/constraint_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/index_limit.h"
#include "analysis/slack/lane_hold.h"
#include "base/error.h"
#include "machine/atomic_service.h"
#include "machine/congestion.h"
#include "machine/lane.h"
#include "machine/run/adaptive_ways.h"
#include "sched/event_graph.h"

namespace slackline::analysis {
namespace {

using sched::Op;
using sched::OpId;
using sched::OpKind;

using sched::has_reply;

using machine::is_posted;

// From the arrival of a request until it is answered, if no other is at the word.
double asked_s(const machine::Platform& platform, const machine::Paths& paths, const Op& op) {
  const bool local = paths[paths.of(op.channel, false)].passes_no_nic();
  const double read_s = machine::read_s(platform, local);
  return sched::is_atomic(op.kind) ? read_s + machine::service_s(platform, local) : read_s;
}

// Each operation has four moments, which 32 bits number.
std::uint32_t countable_ops(const sched::Schedule& schedule) {
  require_indexable(4 * std::uint64_t{schedule.op_count()}, "moments of operations");
  return schedule.op_count();
}

// Some atomics take as long as those before them make them.
void require_own_service(const machine::Setting& setting) {
  if (!machine::service_depends_on_others(setting.platform)) return;
  const sched::Schedule& schedule = setting.schedule;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    if (!sched::is_atomic(schedule.ops()[i].kind)) continue;
    throw Unsupported(
        fmt::format("slack takes atomics of a fixed time only: with atomic_service_shared or "
                    "cpu_atomic_sharer that of {} depends on who came before",
                    describe(schedule, OpId(i))));
  }
}

// What a run's order does not tell: which completions one look took, and, of those that waited for
// their look, when they came. Signals are not in the times of posts here. Which receive is the last
// of its message, and has the callback, a delay changes.
void require_plain_completions(const machine::Setting& setting) {
  const machine::Platform& platform = setting.platform;
  if (platform.ack_bytes != 0) {
    throw Unsupported(
        "slack takes acknowledgements that use no port, of which a run tells the times: expected a "
        "platform without ack");
  }
  if (!machine::completions_cost(platform)) return;
  const bool sleeps = platform.poll_for && platform.interrupt_cost.count() > 0;
  if (sleeps || platform.service_thread || platform.o_signal.count() > 0 ||
      platform.poll_batch > 1 || platform.o_callback.count() > 0) {
    throw Unsupported(fmt::format(
        "slack takes completions that are seen one by one and at once, and posts that take one "
        "time: expected a platform without {}",
        platform.service_thread           ? "completions=service"
        : sleeps                          ? "poll_for"
        : platform.poll_batch > 1         ? "poll_batch"
        : platform.o_callback.count() > 0 ? "o_callback"
                                          : "o_signal"));
  }
  const sched::Schedule& schedule = setting.schedule;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    if (!sched::is_atomic(schedule.ops()[i].kind)) continue;
    throw Unsupported(
        fmt::format("slack takes no atomics whose completions wait for their lane: with {} that of "
                    "{} does",
                    machine::completion_figure(platform), describe(schedule, OpId(i))));
  }
}

}  // namespace

ConstraintGraph::ConstraintGraph(const machine::Setting& setting, const machine::Delays& delays,
                                 const machine::Paths& paths, const sched::Trace& trace,
                                 WireTimes wire, KeptOrder kept)
    : ops_(countable_ops(setting.schedule)), source_s_(node_count(), 0) {
  machine::require_no_switches(setting.platform, "slack");
  machine::require_fixed_ways(setting.platform, "slack");
  machine::require_no_congestion(setting.platform, "slack");
  require_own_service(setting);
  require_plain_completions(setting);
  const machine::Completions completions(setting.schedule, setting.platform, setting.order);
  const std::vector<double> wire_s = wire_times_s(setting, paths, trace, wire);
  constraints_.reserve(setting.schedule.edges().size() + 6 * std::size_t{ops_});
  weights_.reserve(constraints_.capacity());
  add_operations(setting, delays, paths, completions, wire_s);
  schedule_constraints_ = constraints_.size();
  add_lanes(setting, delays, completions, trace, kept);
  add_ports(setting, paths, trace, wire_s, kept.gaps);
  add_locks(setting, paths, trace);
  add_bound_of_sends(setting, delays, trace);
  solve();
}

ConstraintGraph ConstraintGraph::of_every_run(const machine::Setting& setting,
                                              const machine::Delays& delays,
                                              const machine::Paths& paths) {
  ConstraintGraph graph(countable_ops(setting.schedule));
  // Where no rate changes, a message takes as long whenever it begins.
  sched::Trace any_time;
  any_time.ops.resize(setting.schedule.op_count());
  graph.constraints_.reserve(setting.schedule.edges().size() + 6 * std::size_t{graph.ops_});
  graph.add_operations(setting, delays, paths,
                       machine::Completions(setting.schedule, setting.platform, setting.order),
                       wire_times_s(setting, paths, any_time, WireTimes::kModel));
  graph.schedule_constraints_ = graph.constraints_.size();
  graph.solve();
  return graph;
}

void ConstraintGraph::add_operations(const machine::Setting& setting, const machine::Delays& delays,
                                     const machine::Paths& paths,
                                     const machine::Completions& completions,
                                     std::span<const double> wire_time_s) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Platform& platform = setting.platform;
  sched::require_static(schedule, "slack");
  const double o_complete_s = sched::seconds(platform.o_complete);
  const sched::ChannelOrder channels = sched::channel_order(schedule);
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const OpId id(i);
    const Op& op = schedule.op(id);
    if (sched::is_atomic(op.kind) &&
        schedule.arguments(op).address_offset.from != sched::Operand::From::kAbsent) {
      throw Unsupported(fmt::format("slack takes fixed words only: that of {} is an operand",
                                    describe(schedule, id)));
    }
    const NodeId issued = NodeId::of(id, Moment::kIssued);
    const NodeId request = NodeId::of(id, Moment::kRequest);
    const NodeId wire = NodeId::of(id, Moment::kWire);
    const NodeId done = NodeId::of(id, Moment::kDone);
    const double complete_s = o_complete_s + completions.see_s(id);
    const double hold_s = lane_hold_s(setting, delays, id);
    const double into_s = delays.post_delay_s(id) + (is_posted(op.kind) ? hold_s : 0);
    source_s_[issued.value] = into_s;
    for (const sched::Edge& edge : schedule.edges_into(id)) {
      add(NodeId::of(edge.pred, edge.on == sched::On::kDone ? Moment::kDone : Moment::kIssued),
          issued, into_s, Weight::kInto);
    }
    if (channels.previous[i].valid()) {
      add(NodeId::of(channels.previous[i], Moment::kIssued), issued, into_s, Weight::kInto);
    }
    add(issued, request, 0, Weight::kFixed);
    if (!sched::is_initiator(op.kind)) {
      add(request, wire, 0, Weight::kFixed);
      if (op.kind == OpKind::kRecv || op.kind == OpKind::kPoll) {
        add(wire, done, complete_s, Weight::kCompletion);
      } else if (op.kind == OpKind::kDelay) {
        add(wire, done, sched::seconds(schedule.arguments(op).duration), Weight::kFixed);
      } else {
        add(wire, done, hold_s, Weight::kLaneTime);
      }
      continue;
    }
    const sched::Channel& channel = schedule.channel(op.channel);
    const double latency_s = paths[paths.of(op.channel, false)].latency_s;
    const double back_s = paths[paths.of(op.channel, true)].latency_s;
    const double wire_s = wire_time_s[i];
    if (has_reply(op.kind)) {
      const double service_s = asked_s(platform, paths, op);
      add(request, wire, latency_s + service_s, Weight::kRequest);
      add(wire, done, wire_s + back_s + complete_s, Weight::kReply);
      continue;
    }
    add(request, wire, 0, Weight::kFixed);
    const bool acknowledged = sched::is_acknowledged(channel.service);
    if (acknowledged) {
      add(wire, done, wire_s + latency_s + back_s + complete_s, Weight::kAcknowledged);
    } else {
      add(wire, done, wire_s + complete_s, Weight::kSent);
    }
    if (!op.match.valid()) continue;
    add(wire, NodeId::of(op.match, Moment::kDone),
        wire_s + latency_s + o_complete_s + completions.see_s(op.match), Weight::kArrived);
    if (schedule.op(op.match).kind == OpKind::kRecv && acknowledged) {
      add(NodeId::of(op.match, Moment::kIssued), done, back_s + complete_s, Weight::kAnswered);
    }
  }
}

std::vector<double> ConstraintGraph::unlocked_s() const {
  std::vector<double> at_s;
  for (std::uint32_t i = 0; i < ops_; ++i) {
    at_s.push_back(source_s(NodeId::of(OpId(i), Moment::kIssued)));
  }
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const Constraint& c = constraints_[i];
    if (c.head.moment() != Moment::kIssued || weights_[i] == Weight::kLock) continue;
    double& least_s = at_s[c.head.op().value];
    least_s = std::max(least_s, time_s_[c.tail.value] + c.weight_s);
  }
  return at_s;
}

void ConstraintGraph::solve() {
  require_indexable(constraints_.size(), "constraints");
  out_begin_.assign(node_count() + 1, 0);
  std::vector<std::uint32_t> waiting(node_count(), 0);
  for (const Constraint& c : constraints_) {
    ++out_begin_[c.tail.value + 1];
    ++waiting[c.head.value];
  }
  for (std::size_t i = 1; i < out_begin_.size(); ++i) out_begin_[i] += out_begin_[i - 1];
  out_.resize(constraints_.size());
  std::vector<std::uint32_t> fill(out_begin_.begin(), out_begin_.end() - 1);
  for (std::uint32_t i = 0; i < constraints_.size(); ++i) {
    out_[fill[constraints_[i].tail.value]++] = i;
  }
  order_.reserve(node_count());
  for (std::uint32_t n = 0; n < node_count(); ++n) {
    if (waiting[n] == 0) order_.push_back({n});
  }
  time_s_ = source_s_;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const NodeId node = order_[i];
    for (std::uint32_t index : out_of(node)) {
      const Constraint& c = constraints_[index];
      time_s_[c.head.value] = std::max(time_s_[c.head.value], time_s_[node.value] + c.weight_s);
      if (--waiting[c.head.value] == 0) order_.push_back(c.head);
    }
  }
  if (order_.size() != node_count()) {
    throw InputError("the trace's order on lanes and ports contradicts its schedule");
  }
}

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

ConstraintGraph frozen_run(const machine::Setting& setting, const sched::Trace& trace,
                           WireTimes wire) {
  require_trace_of(setting.schedule, trace);
  return ConstraintGraph(setting, machine::Delays(setting), machine::Paths(setting), trace, wire);
}

}  // namespace slackline::analysis
