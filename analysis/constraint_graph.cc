#include "analysis/constraint_graph.h"

#include <algorithm>
#include <map>

#include "machine/execution.h"
#include "sched/error.h"
#include "sched/event_graph.h"

namespace slackline::analysis {
namespace {

using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::RankId;

bool is_posted(OpKind kind) { return sched::is_initiator(kind) || kind == OpKind::kRecv; }
bool holds_lane(OpKind kind) {
  return is_posted(kind) || kind == OpKind::kCalc || kind == OpKind::kCopy ||
         kind == OpKind::kReduce;
}
bool has_reply(OpKind kind) { return kind == OpKind::kGet || sched::is_atomic(kind); }

double lane_hold_s(const sched::Schedule& schedule, const machine::Platform& platform,
                   const machine::Delays& delays, OpId id) {
  const Op& op = schedule.op(id);
  const double delay_s = delays.lane_delay_s(id);
  if (is_posted(op.kind)) return sched::seconds(platform.o_post) + delay_s;
  if (op.kind == OpKind::kCalc) return sched::seconds(schedule.arguments(op).duration) + delay_s;
  if (holds_lane(op.kind)) return platform.copy_s(schedule.payload_bytes(op)) + delay_s;
  return 0;
}

// A message, or one of the two of a get or an atomic, at the ports.
struct Passage {
  NodeId node;
  double begin_s;
  RankId src;
  RankId dst;
  std::uint64_t bytes;
  double wire_s;
};

}  // namespace

ConstraintGraph::ConstraintGraph(const sched::Schedule& schedule, const machine::Platform& platform,
                                 const machine::Delays& delays, const sched::Trace& trace)
    : ops_(schedule.op_count()), source_s_(node_count(), 0) {
  constraints_.reserve(schedule.edges().size() + 6 * std::size_t{ops_});
  add_operations(schedule, platform, delays);
  add_lanes(schedule, platform, delays, trace);
  add_ports(schedule, platform, delays, trace);
  solve();
}

void ConstraintGraph::add_operations(const sched::Schedule& schedule,
                                     const machine::Platform& platform,
                                     const machine::Delays& delays) {
  const double complete_s = sched::seconds(platform.o_complete);
  const double latency_s = sched::seconds(platform.latency);
  const sched::ChannelOrder channels = sched::channel_order(schedule);
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const OpId id(i);
    const Op& op = schedule.op(id);
    const NodeId issued = NodeId::of(id, Moment::kIssued);
    const NodeId request = NodeId::of(id, Moment::kRequest);
    const NodeId wire = NodeId::of(id, Moment::kWire);
    const NodeId done = NodeId::of(id, Moment::kDone);
    const double hold_s = lane_hold_s(schedule, platform, delays, id);
    const double into_s = delays.post_delay_s(id) + (is_posted(op.kind) ? hold_s : 0);
    source_s_[issued.value] = into_s;
    for (const sched::Edge& edge : schedule.edges_into(id)) {
      add(NodeId::of(edge.pred, edge.on == sched::On::kDone ? Moment::kDone : Moment::kIssued),
          issued, into_s);
    }
    if (channels.previous[i].valid()) {
      add(NodeId::of(channels.previous[i], Moment::kIssued), issued, into_s);
    }
    add(issued, request, 0);
    if (!sched::is_initiator(op.kind)) {
      add(request, wire, 0);
      double last_s = 0;
      if (op.kind == OpKind::kRecv || op.kind == OpKind::kPoll) {
        last_s = complete_s;
      } else if (op.kind == OpKind::kDelay) {
        last_s = sched::seconds(schedule.arguments(op).duration);
      } else {
        last_s = hold_s;
      }
      add(wire, done, last_s);
      continue;
    }
    const sched::Channel& channel = schedule.channel(op.channel);
    if (has_reply(op.kind)) {
      const double service_s =
          op.kind == OpKind::kGet ? 0 : sched::seconds(platform.atomic_service);
      add(request, wire, latency_s + service_s);
      const double wire_s = platform.transfer_s(schedule.payload_bytes(op),
                                                delays.pair_rate(channel.dst, channel.src));
      add(wire, done, wire_s + latency_s + complete_s);
      continue;
    }
    add(request, wire, 0);
    const double wire_s =
        platform.transfer_s(schedule.payload_bytes(op), delays.pair_rate(channel.src, channel.dst));
    const bool datagram = channel.service == sched::Service::kDatagram;
    add(wire, done, datagram ? wire_s + complete_s : wire_s + 2 * latency_s + complete_s);
    if (!op.match.valid()) continue;
    add(wire, NodeId::of(op.match, Moment::kDone), wire_s + latency_s + complete_s);
    if (schedule.op(op.match).kind == OpKind::kRecv && !datagram) {
      add(NodeId::of(op.match, Moment::kIssued), done, latency_s + complete_s);
    }
  }
}

void ConstraintGraph::add_lanes(const sched::Schedule& schedule, const machine::Platform& platform,
                                const machine::Delays& delays, const sched::Trace& trace) {
  const machine::LaneIndex lanes(schedule);
  std::vector<std::vector<OpId>> of_lane(lanes.count);
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const OpId id(i);
    if (!holds_lane(schedule.op(id).kind)) continue;
    if (lane_hold_s(schedule, platform, delays, id) == 0) continue;
    of_lane[lanes.of(id, schedule.op(id))].push_back(id);
  }
  for (std::vector<OpId>& ops : of_lane) {
    const auto earlier = [&](OpId a, OpId b) {
      const double a_s = trace.ops[a.value].issued_s;
      const double b_s = trace.ops[b.value].issued_s;
      return a_s != b_s ? a_s < b_s : a < b;
    };
    if (!std::is_sorted(ops.begin(), ops.end(), earlier))
      std::sort(ops.begin(), ops.end(), earlier);
    for (std::size_t i = 1; i < ops.size(); ++i) {
      const double before_s = is_posted(schedule.op(ops[i - 1]).kind)
                                  ? 0
                                  : lane_hold_s(schedule, platform, delays, ops[i - 1]);
      const double after_s =
          is_posted(schedule.op(ops[i]).kind) ? lane_hold_s(schedule, platform, delays, ops[i]) : 0;
      add(NodeId::of(ops[i - 1], Moment::kIssued), NodeId::of(ops[i], Moment::kIssued),
          before_s + after_s);
    }
  }
}

void ConstraintGraph::add_ports(const sched::Schedule& schedule, const machine::Platform& platform,
                                const machine::Delays& delays, const sched::Trace& trace) {
  const double gap_s = sched::seconds(platform.gap);
  const bool serial = platform.nic == machine::NicDiscipline::kSerial;
  std::vector<std::vector<Passage>> out(2 * schedule.rank_count());
  std::vector<std::vector<Passage>> in(serial ? 2 * schedule.rank_count() : 0);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Passage>> words;
  const auto pass = [&](const Passage& passage) {
    const std::size_t kind = passage.bytes > platform.interleave_bytes ? 0 : 1;
    if (gap_s > 0 || (serial && passage.wire_s > 0)) {
      out[2 * passage.src.value + kind].push_back(passage);
    }
    if (serial && passage.wire_s > 0) in[2 * passage.dst.value + kind].push_back(passage);
  };
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const OpId id(i);
    const Op& op = schedule.op(id);
    if (!sched::is_initiator(op.kind)) continue;
    const sched::Channel& channel = schedule.channel(op.channel);
    const std::uint64_t bytes = schedule.payload_bytes(op);
    const auto wire_s = [&](RankId src, RankId dst) {
      return platform.transfer_s(bytes, delays.pair_rate(src, dst));
    };
    const NodeId wire = NodeId::of(id, Moment::kWire);
    const double begin_s = trace.ops[i].wire_s;
    if (!has_reply(op.kind)) {
      pass({wire, begin_s, channel.src, channel.dst, bytes, wire_s(channel.src, channel.dst)});
      continue;
    }
    pass({NodeId::of(id, Moment::kRequest), trace.ops[i].issued_s, channel.src, channel.dst, 0, 0});
    const Passage reply{wire,        begin_s, channel.dst,
                        channel.src, bytes,   wire_s(channel.dst, channel.src)};
    pass(reply);
    if (op.kind == OpKind::kGet || platform.atomic_service.count() == 0) continue;
    const sched::Slice& word = schedule.slices(op.reads).front();
    words[{word.buffer.value, word.offset}].push_back(reply);
  }
  const auto chain = [&](std::vector<Passage>& passages, auto hold_s) {
    std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
      return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.node < b.node;
    });
    for (std::size_t i = 1; i < passages.size(); ++i) {
      add(passages[i - 1].node, passages[i].node, hold_s(passages[i - 1]));
    }
  };
  for (auto& port : out) {
    chain(port, [&](const Passage& p) { return serial ? std::max(gap_s, p.wire_s) : gap_s; });
  }
  for (auto& port : in) chain(port, [](const Passage& p) { return p.wire_s; });
  // Replies leave as the word's service ends, one service time apart, unless a port holds them.
  for (auto& [word, replies] : words) {
    chain(replies, [&](const Passage&) { return sched::seconds(platform.atomic_service); });
  }
}

void ConstraintGraph::solve() {
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

}  // namespace slackline::analysis
