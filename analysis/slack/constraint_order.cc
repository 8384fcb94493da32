// The order that a run had on lanes, ports, words and queue pairs, as constraints.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/lane_hold.h"
#include "base/error.h"
#include "machine/atomic_service.h"
#include "machine/queue_pairs.h"
#include "machine/run/lanes.h"

namespace slackline::analysis {
namespace {

using sched::Op;
using sched::OpId;
using sched::OpKind;

using sched::has_reply;

using machine::NicId;

using machine::holds_lane;
using machine::is_posted;

// A message, or one of the two of a get or an atomic, at the ports.
struct Passage {
  NodeId node;
  double lead_s;   // it begins that much before its node
  double begin_s;  // as the trace has it
  double join_s;   // when it joined its sender's queue, and
  NodeId joined;   // what made it join; not needed for an atomic's reply
  double wire_s;
  double gap_s;  // that its sender's port keeps after it
};

// An atomic at its word.
struct Served {
  double wire_at_s;  // when its reply left its word's queue, as the trace has it
  NodeId wire;
  double service_s;
  bool local;
  friend auto operator<=>(const Served&, const Served&) = default;
};

// Of a word that both its NIC and CPUs serve the trace does not tell the order: an answer may wait
// for the NIC while a later one is there.
void require_one_server(const sched::Schedule& schedule, const std::vector<Served>& served) {
  for (const Served& other : served) {
    if (other.local == served.front().local) continue;
    throw Unsupported(fmt::format(
        "slack takes words that either NICs or the machine's own ranks use: {} and {} "
        "are of both kinds",
        describe(schedule, served.front().wire.op()), describe(schedule, other.wire.op())));
  }
}

// The ports for messages of one class, large or small.
struct Ports {
  std::vector<std::vector<Passage>> out;
  std::vector<std::vector<Passage>> in;
  bool held = false;  // some message keeps another waiting
};

template <class Key>
void sort_by(std::vector<Passage>& passages, const Key& key) {
  const auto earlier = [&](const Passage& a, const Passage& b) { return key(a) < key(b); };
  if (!std::is_sorted(passages.begin(), passages.end(), earlier)) {
    std::sort(passages.begin(), passages.end(), earlier);
  }
}

}  // namespace

// Who holds its lane keeps what comes after it waiting, up to the next that holds it. An operation
// that needs no time keeps nobody waiting, but waits. So does a look at a completion, which ends
// when its operation is done.
void ConstraintGraph::add_lanes(const machine::Setting& setting, const machine::Delays& delays,
                                const machine::Completions& completions, const sched::Trace& trace,
                                const KeptOrder& kept) {
  const sched::Schedule& schedule = setting.schedule;
  struct Turn {
    NodeId node;
    double at_s;
    double hold_s;
    int place;  // of several at one time: a hold that ends, none, one that begins
    bool holds;
  };
  struct Lane {
    std::vector<Turn> turns;
    bool held = false;
  };
  const machine::LaneIndex lanes(schedule);
  std::vector<Lane> of_lane(lanes.count());
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const OpId id(i);
    const Op& op = schedule.op(id);
    if (!holds_lane(op.kind)) continue;
    const double hold_s = lane_hold_s(setting, delays, id);
    const int place = hold_s == 0 ? 1 : is_posted(op.kind) ? 0 : 2;
    Lane& lane = of_lane[lanes.of(id.value, op)];
    const bool holds = hold_s > 0 || op.rank == kept.rank || (kept.posts && is_posted(op.kind));
    const NodeId issued = NodeId::of(id, Moment::kIssued);
    lane.turns.push_back({issued, trace.ops[i].issued_s, hold_s, place, holds});
    lane.held = lane.held || holds;
    if (completions.is_looked_at(id)) {
      const double see_s = completions.see_s(id);
      lane.turns.push_back({NodeId::of(id, Moment::kDone), trace.ops[i].done_s, see_s,
                            see_s > 0 ? 0 : 1, see_s > 0});
      lane.held = lane.held || see_s > 0;
    }
  }
  const auto earlier = [](const Turn& a, const Turn& b) {
    return std::tuple(a.at_s, a.place, a.node) < std::tuple(b.at_s, b.place, b.node);
  };
  std::vector<std::uint32_t> depth;
  for (auto& [turns, held] : of_lane) {
    if (!held) continue;
    if (!std::is_sorted(turns.begin(), turns.end(), earlier)) {
      std::sort(turns.begin(), turns.end(), earlier);
    }
    const auto tied = [](const Turn& a, const Turn& b) {
      return a.at_s == b.at_s && a.place == b.place && a.holds && b.holds;
    };
    if (kept != KeptOrder{} &&
        std::adjacent_find(turns.begin(), turns.end(), tied) != turns.end()) {
      if (depth.empty()) depth = depth_in_instant(schedule, trace);
      const auto key = [&](const Turn& t) {
        return std::tuple(t.at_s, t.place, t.holds, depth[t.node.value], t.node);
      };
      std::sort(turns.begin(), turns.end(),
                [&](const Turn& a, const Turn& b) { return key(a) < key(b); });
    }
    const Turn* holder = nullptr;
    const Turn* passing = turns.data();  // the first of those without hold since the holder
    for (const Turn& turn : turns) {
      const double into_s = turn.place == 0 ? turn.hold_s : 0;
      if (holder != nullptr) {
        add(holder->node, turn.node, (holder->place == 2 ? holder->hold_s : 0) + into_s,
            Weight::kTurn);
      }
      if (!turn.holds) continue;
      for (; passing != &turn; ++passing) {
        went_before_.push_back({passing->node, turn.node, into_s});
      }
      holder = &turn;
      ++passing;
    }
  }
}

void ConstraintGraph::add_ports(const machine::Setting& setting, const machine::Paths& paths,
                                const sched::Trace& trace, std::span<const double> wire_time_s,
                                bool keep_gaps) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Platform& platform = setting.platform;
  const double gap_of_nic_s = sched::seconds(platform.gap);
  const double complete_s = sched::seconds(platform.o_complete);
  const bool serial = platform.nic == machine::NicDiscipline::kSerial;
  Ports classes[2];
  for (Ports& ports : classes) {
    ports.out.resize(paths.nic_count());
    ports.in.resize(serial ? paths.nic_count() : 0);
    ports.held = keep_gaps;
  }
  const bool any_served =
      machine::service_s(platform, false) > 0 ||
      (platform.node.has_local_messages() && machine::service_s(platform, true) > 0);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Served>> words;
  const auto pass = [&](const Passage& passage, NicId src, NicId dst, std::uint64_t bytes) {
    Ports& ports = classes[bytes > platform.interleave_bytes ? 0 : 1];
    ports.out[src.value].push_back(passage);
    if (serial) ports.in[dst.value].push_back(passage);
    ports.held = ports.held || passage.gap_s > 0 || (serial && passage.wire_s > 0);
  };
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const OpId id(i);
    const Op& op = schedule.op(id);
    if (!sched::is_initiator(op.kind)) continue;
    const sched::OpTimes& times = trace.ops[i];
    const machine::Path& way = paths[paths.of(op.channel, false)];
    const NicId src = way.src_nic;
    const NicId dst = way.dst_nic;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    const NodeId issued = NodeId::of(id, Moment::kIssued);
    const NodeId wire = NodeId::of(id, Moment::kWire);
    const bool local = way.passes_no_nic();
    const double gap_s = way.scale_up ? 0 : gap_of_nic_s;
    const double latency_s = way.latency_s + machine::read_s(platform, local);
    const double wire_s = wire_time_s[i];
    const bool atomic = sched::is_atomic(op.kind);
    const double service_s = atomic ? machine::service_s(platform, local) : 0;
    if (atomic && any_served) {
      const sched::Slice& word = schedule.slices(op.reads).front();
      words[{word.buffer.value, word.offset}].push_back({times.wire_s, wire, service_s, local});
    }
    if (way.local) continue;
    if (!has_reply(op.kind)) {
      pass({wire, 0, times.wire_s, times.issued_s, issued, wire_s, gap_s}, src, dst, bytes);
      continue;
    }
    const double request_s = trace.request_s.empty() ? times.issued_s : trace.request_s[i];
    const NodeId request = NodeId::of(id, Moment::kRequest);
    pass({request, 0, request_s, times.issued_s, issued, 0, gap_s}, src, dst, 0);
    if (op.kind == OpKind::kGet) {
      pass({wire, 0, times.wire_s, request_s + latency_s, request, wire_s, gap_s}, dst, src, bytes);
      continue;
    }
    // Its reply has no moment of its own, but is done a fixed time after it begins.
    const NodeId done = NodeId::of(id, Moment::kDone);
    const double lead_s = wire_s + paths[paths.of(op.channel, true)].latency_s + complete_s;
    pass({done, lead_s, times.wire_s, times.wire_s, wire, wire_s, gap_s}, dst, src, bytes);
  }
  std::vector<std::uint32_t> depth;
  for (Ports& ports : classes) {
    if (!ports.held) continue;
    for (std::vector<Passage>& port : ports.out) {
      const auto hold_s = [&](const Passage& p) {
        return serial ? std::max(p.gap_s, p.wire_s) : p.gap_s;
      };
      // What begins at one time takes no time, but for the last.
      const auto times = [&](const Passage& p) {
        return std::tuple(p.begin_s, hold_s(p) > 0, p.join_s);
      };
      sort_by(port, [&](const Passage& p) { return std::tuple(times(p), p.node); });
      const auto tie = std::adjacent_find(
          port.begin(), port.end(),
          [&](const Passage& a, const Passage& b) { return times(a) == times(b); });
      if (tie != port.end()) {
        if (depth.empty()) depth = depth_in_instant(schedule, trace);
        sort_by(port, [&](const Passage& p) {
          return std::tuple(times(p), depth[p.joined.value], p.node);
        });
      }
      for (std::size_t i = 1; i < port.size(); ++i) {
        add(port[i - 1].node, port[i].node,
            hold_s(port[i - 1]) - port[i - 1].lead_s + port[i].lead_s, Weight::kOutPort);
      }
    }
    // As on a lane, a message that takes no time keeps no other waiting.
    for (std::vector<Passage>& port : ports.in) {
      sort_by(port, [](const Passage& p) { return std::tuple(p.begin_s, p.wire_s > 0, p.node); });
      const Passage* holder = nullptr;
      const Passage* passing = port.data();
      for (const Passage& passage : port) {
        if (holder != nullptr) {
          add(holder->node, passage.node, holder->wire_s - holder->lead_s + passage.lead_s,
              Weight::kInPort);
        }
        if (passage.wire_s <= 0) continue;
        for (; passing != &passage; ++passing) {
          went_before_.push_back({passing->node, passage.node, passage.lead_s - passing->lead_s});
        }
        holder = &passage;
        ++passing;
      }
    }
  }
  // Replies leave in the order in which their requests were served.
  for (auto& [word, served] : words) {
    std::sort(served.begin(), served.end());
    require_one_server(schedule, served);
    if (served.front().service_s == 0) continue;
    for (std::size_t i = 1; i < served.size(); ++i) {
      add(served[i - 1].wire, served[i].wire, served[i].service_s, Weight::kFixed);
    }
  }
}

// A post ends with the time for which it has its queue pair. So of two at one pair the second ends
// no less than that after the first.
void ConstraintGraph::add_locks(const machine::Setting& setting, const machine::Paths& paths,
                                const sched::Trace& trace) {
  const machine::QueuePairs pairs(setting.schedule, setting.platform, paths);
  if (!pairs.are_locked()) return;
  std::vector<std::vector<OpId>> posts(pairs.count());
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const std::uint32_t pair = pairs.of(setting.schedule.op(OpId(i)));
    if (pair != machine::QueuePairs::kNone) posts[pair].emplace_back(i);
  }
  for (std::vector<OpId>& of_pair : posts) {
    std::stable_sort(of_pair.begin(), of_pair.end(), [&](OpId a, OpId b) {
      return trace.ops[a.value].issued_s < trace.ops[b.value].issued_s;
    });
    for (std::size_t i = 1; i < of_pair.size(); ++i) {
      add(NodeId::of(of_pair[i - 1], Moment::kIssued), NodeId::of(of_pair[i], Moment::kIssued),
          pairs.lock_s(), Weight::kLock);
    }
  }
}

// With at most n sends of a rank under way, the k-th of them has its turn after k − n are done.
// They are in the order of their turns here, and of their ends. So each waits for one, and each one
// has one at the most that waits for it.
void ConstraintGraph::add_bound_of_sends(const machine::Setting& setting,
                                         const machine::Delays& delays, const sched::Trace& trace) {
  const std::size_t most = setting.order.sends_in_flight;
  if (most == 0) return;
  const sched::Schedule& schedule = setting.schedule;
  struct Send {
    double at_s;  // its turn, or its end
    OpId op;
    bool operator<(const Send& other) const {
      return std::tuple(at_s, op) < std::tuple(other.at_s, other.op);
    }
  };
  std::vector<std::vector<Send>> turns(schedule.rank_count());
  std::vector<std::vector<Send>> ends(schedule.rank_count());
  for (std::uint32_t i = 0; i < ops_; ++i) {
    const OpId id(i);
    const Op& op = schedule.op(id);
    if (!machine::counts_in_flight(schedule, op, setting.order,
                                   setting.platform.interleave_bytes)) {
      continue;
    }
    const sched::OpTimes& times = trace.ops[i];
    turns[op.rank.value].push_back({times.issued_s - lane_hold_s(setting, delays, id), id});
    ends[op.rank.value].push_back({times.done_s, id});
  }
  for (std::size_t r = 0; r < turns.size(); ++r) {
    std::sort(turns[r].begin(), turns[r].end());
    std::sort(ends[r].begin(), ends[r].end());
    for (std::size_t k = most; k < turns[r].size(); ++k) {
      const OpId op = turns[r][k].op;
      add(NodeId::of(ends[r][k - most].op, Moment::kDone), NodeId::of(op, Moment::kIssued),
          lane_hold_s(setting, delays, op), Weight::kInFlight);
    }
  }
}

// How many constraints without weight lead to a node within its instant: the order in which things
// that take no time came about.
std::vector<std::uint32_t> ConstraintGraph::depth_in_instant(const sched::Schedule& schedule,
                                                             const sched::Trace& trace) const {
  const auto time_s = [&](NodeId node) {
    const sched::OpTimes& times = trace.ops[node.op().value];
    const OpKind kind = schedule.op(node.op()).kind;
    if (node.moment() == Moment::kDone) return times.done_s;
    if (node.moment() == Moment::kIssued || !sched::is_initiator(kind)) return times.issued_s;
    if (node.moment() == Moment::kWire || !has_reply(kind)) return times.wire_s;
    return trace.request_s.empty() ? times.issued_s : trace.request_s[node.op().value];
  };
  std::vector<Constraint> within;
  std::vector<std::uint32_t> waiting(node_count(), 0);
  for (const Constraint& c : constraints_) {
    if (c.weight_s != 0 || time_s(c.tail) != time_s(c.head)) continue;
    within.push_back(c);
    ++waiting[c.head.value];
  }
  std::stable_sort(within.begin(), within.end(),
                   [](const Constraint& a, const Constraint& b) { return a.tail < b.tail; });
  std::vector<NodeId> ready;
  for (const Constraint& c : within) {
    if (waiting[c.tail.value] == 0 && (ready.empty() || ready.back() != c.tail)) {
      ready.push_back(c.tail);
    }
  }
  std::vector<std::uint32_t> depth(node_count(), 0);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    auto c = std::lower_bound(within.begin(), within.end(), ready[i],
                              [](const Constraint& a, NodeId tail) { return a.tail < tail; });
    for (; c != within.end() && c->tail == ready[i]; ++c) {
      depth[c->head.value] = std::max(depth[c->head.value], depth[ready[i].value] + 1);
      if (--waiting[c->head.value] == 0) ready.push_back(c->head);
    }
  }
  return depth;
}

}  // namespace slackline::analysis
