// A run computed again with the order on lanes and ports that a trace had, by a system of its own:
// every pair of operations that may keep each other waiting has its constraint, none is left out as
// implied, and the solver knows nothing but repetition. Slow and plain: the oracle of slack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/delays.h"
#include "machine/platform.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::testing {

class FrozenRun {
 public:
  enum Moment : std::uint32_t { kIssued, kRequest, kServed, kWire, kDone };
  static constexpr std::uint32_t kMoments = 5;
  using Times = std::vector<double>;  // by 5 · op + moment

  struct Arc {
    std::uint32_t tail;
    std::uint32_t head;
    double weight_s;
  };

  FrozenRun(const sched::Schedule& schedule, const machine::Platform& platform,
            const machine::DelayPlan& plan, const sched::Trace& trace)
      : schedule_(schedule),
        platform_(platform),
        plan_(plan),
        delays_(plan, schedule, platform),
        trace_(trace) {
    source_s_.resize(kMoments * schedule.op_count(), 0);
    awaited_.resize(schedule.op_count(), false);
    for (const sched::Edge& edge : schedule.edges()) {
      if (edge.on == sched::On::kDone) awaited_[edge.pred.value] = true;
    }
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      if (sched::is_initiator(op(i).kind) && !speaks_for(i)) awaited_[i] = true;
    }
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) add_operation(i);
    add_channels();
    add_lanes();
    add_ports();
    add_locks();
    // Solving goes faster in the order of the run, and comes to the same without.
    const auto when = [&](std::uint32_t node) {
      const sched::OpTimes& t = trace.ops[node / kMoments];
      const std::uint32_t moment = node % kMoments;
      return std::pair(moment == kIssued ? t.issued_s
                       : moment == kDone ? t.done_s
                                         : t.wire_s,
                       moment);
    };
    std::stable_sort(arcs_.begin(), arcs_.end(),
                     [&](const Arc& a, const Arc& b) { return when(a.tail) < when(b.tail); });
  }

  static std::uint32_t node(std::uint32_t op, Moment moment) { return kMoments * op + moment; }
  const std::vector<Arc>& arcs() const { return arcs_; }
  double source_s(std::uint32_t node) const { return source_s_[node]; }

  /// When each moment comes if that of `node` comes no earlier than `at_s`.
  Times solve(std::uint32_t node = 0, double at_s = 0) const {
    Times time_s = source_s_;
    if (!time_s.empty()) time_s[node] = std::max(time_s[node], at_s);
    std::size_t passes = 0;
    for (bool changed = true; changed;) {
      changed = false;
      if (++passes > time_s.size() + 2) throw std::logic_error("the order has a cycle");
      for (const Arc& arc : arcs_) {
        const double least_s = time_s[arc.tail] + arc.weight_s;
        if (time_s[arc.head] >= least_s) continue;
        time_s[arc.head] = least_s;
        changed = true;
      }
    }
    return time_s;
  }

  static double makespan_s(const Times& time_s) {
    double end_s = 0;
    for (std::size_t i = kDone; i < time_s.size(); i += kMoments) {
      end_s = std::max(end_s, time_s[i]);
    }
    return end_s;
  }

 private:
  using Kind = sched::OpKind;

  struct Passage {
    std::uint32_t node;
    double begin_s;
    double joined_s;
    double wire_s;
    double gap_s = 0;  // that its sender's port keeps
  };
  static constexpr std::uint32_t kScaleUpPorts = 1u << 30;  // numbered behind all NICs

  const sched::Op& op(std::uint32_t i) const { return schedule_.ops()[i]; }
  static double s(sched::Time time) { return sched::seconds(time); }
  static bool posted(Kind kind) { return sched::is_initiator(kind) || kind == Kind::kRecv; }
  static bool computes(Kind kind) {
    return kind == Kind::kCalc || kind == Kind::kCopy || kind == Kind::kReduce;
  }

  // Whether the next operation of its channel makes a completion that may speak for it.
  bool speaks_for(std::uint32_t i) const {
    for (std::uint32_t n = i + 1; n < schedule_.op_count(); ++n) {
      if (op(n).rank != op(i).rank) return false;
      if (!sched::is_initiator(op(n).kind) || op(n).channel != op(i).channel) continue;
      const bool message = op(n).kind == Kind::kSend || op(n).notify == sched::Notify::kImm;
      return message || sched::is_atomic(op(n).kind) || schedule_.payload_bytes(op(n)) != 0;
    }
    return false;
  }

  double hold_s(std::uint32_t i) const {
    const double delay_s = delays_.lane_delay_s(sched::OpId(i));
    if (op(i).kind == Kind::kRecv && platform_.o_post_recv) {
      return s(*platform_.o_post_recv) + delay_s;
    }
    if (posted(op(i).kind)) {
      const bool shared = op(i).kind != Kind::kRecv && !local(i);
      const int others = static_cast<int>(platform_.node.threads_per_qp) - 1;
      return s(platform_.o_post) + (shared ? others * s(platform_.node.qp_sharer) : 0) + delay_s;
    }
    if (op(i).kind == Kind::kCalc) return s(schedule_.arguments(op(i)).duration) + delay_s;
    if (computes(op(i).kind)) {
      const bool update = op(i).kind == Kind::kReduce && schedule_.bytes(op(i).writes) <= 64;
      const int others = update ? static_cast<int>(platform_.node.threads) - 1 : 0;
      return platform_.copy_s(schedule_.payload_bytes(op(i))) +
             others * s(platform_.node.update_sharer) + delay_s;
    }
    return 0;
  }
  // Whether a completion of it is seen by a look, and what that takes.
  bool looked_at(std::uint32_t i) const {
    if (platform_.o_poll.count() == 0 && platform_.o_match.count() == 0) return false;
    return op(i).kind == Kind::kRecv || (sched::is_initiator(op(i).kind) && awaited_[i]);
  }
  double look_s(std::uint32_t i) const {
    if (!looked_at(i)) return 0;
    return s(platform_.o_poll) + (op(i).kind == Kind::kRecv ? s(platform_.o_match) : 0);
  }
  // From the moment an operation becomes ready to its issue, if its lane is free.
  double into_s(std::uint32_t i) const {
    return delays_.post_delay_s(sched::OpId(i)) + (posted(op(i).kind) ? hold_s(i) : 0);
  }

  void arc(std::uint32_t tail_op, Moment tail, std::uint32_t head_op, Moment head,
           double weight_s) {
    arcs_.push_back({node(tail_op, tail), node(head_op, head), weight_s});
  }

  bool local(std::uint32_t i) const {
    if (!sched::is_initiator(op(i).kind)) return false;
    const sched::Channel& channel = schedule_.channel(op(i).channel);
    const std::uint32_t per_node = platform_.node.ranks;
    return per_node > 1 && channel.src.value / per_node == channel.dst.value / per_node;
  }
  // Over a network of the node, which has a port for each of its ranks.
  bool scales_up(std::uint32_t i) const {
    if (!local(i) || platform_.node.scale_up.rate.bits_per_second == 0) return false;
    const sched::Channel& channel = schedule_.channel(op(i).channel);
    return channel.src != channel.dst;
  }
  // Nodes are the hosts of a star, in order.
  std::uint32_t host(sched::RankId rank) const { return rank.value / platform_.node.ranks; }
  template <class Value>
  static Value of_host(const machine::ForHosts<Value>& all, std::uint32_t host, Value others) {
    Value found = others;
    for (const auto& run : all.runs) {
      if (host >= run.first && host <= run.last) found = run.value;
    }
    return found;
  }
  // The same both ways.
  double latency_s(std::uint32_t i) const {
    if (!sched::is_initiator(op(i).kind)) return 0;  // nobody asks
    const sched::Channel& channel = schedule_.channel(op(i).channel);
    const auto zone = [&](sched::RankId rank) {
      return rank.value % platform_.node.ranks * platform_.node.zones / platform_.node.ranks;
    };
    if (!local(i)) {
      // Of a machine's only NIC, which is in its first zone.
      const int hops = (zone(channel.src) != 0 ? 1 : 0) + (zone(channel.dst) != 0 ? 1 : 0);
      const machine::Time farther =
          of_host(platform_.hosts.latency, host(channel.src), machine::Time{0}) +
          of_host(platform_.hosts.latency, host(channel.dst), machine::Time{0});
      return s(platform_.latency) + hops * s(platform_.node.numa_hop) + s(farther);
    }
    if (scales_up(i)) return s(platform_.node.scale_up.latency);
    const bool far = zone(channel.src) != zone(channel.dst);
    return s(platform_.node.memory_latency) + (far ? s(platform_.node.zone_latency) : 0);
  }
  double read_s(std::uint32_t i) const { return local(i) ? 0 : s(platform_.nic_read); }
  double service_s(std::uint32_t i) const {
    if (!sched::is_atomic(op(i).kind)) return 0;
    return s(local(i) ? platform_.node.cpu_atomic : platform_.atomic_service);
  }

  void add_operation(std::uint32_t i) {
    const double latency_s = this->latency_s(i);
    const double complete_s = s(platform_.o_complete) + look_s(i);
    const Kind kind = op(i).kind;
    source_s_[node(i, kIssued)] = into_s(i);
    for (const sched::Edge& edge : schedule_.edges_into(sched::OpId(i))) {
      arc(edge.pred.value, edge.on == sched::On::kDone ? kDone : kIssued, i, kIssued, into_s(i));
    }
    const bool reply = kind == Kind::kGet || sched::is_atomic(kind);
    arc(i, kIssued, i, kRequest, 0);
    arc(i, kRequest, i, kServed, reply ? latency_s + read_s(i) + service_s(i) : 0);
    arc(i, kServed, i, kWire, 0);
    if (!sched::is_initiator(kind)) {
      double end_s = hold_s(i);
      if (kind == Kind::kRecv || kind == Kind::kPoll) end_s = complete_s;
      if (kind == Kind::kDelay) end_s = s(schedule_.arguments(op(i)).duration);
      arc(i, kIssued, i, kDone, end_s);
      return;
    }
    const sched::Channel& channel = schedule_.channel(op(i).channel);
    const double wire_s =
        reply ? wire(i, channel.dst, channel.src) : wire(i, channel.src, channel.dst);
    const bool datagram = !sched::is_acknowledged(channel.service);
    if (reply) {
      arc(i, kWire, i, kDone, wire_s + latency_s + complete_s);
      return;
    }
    arc(i, kWire, i, kDone, wire_s + (datagram ? 0 : 2 * latency_s) + complete_s);
    if (!op(i).match.valid()) return;
    const std::uint32_t match = op(i).match.value;
    arc(i, kWire, match, kDone, wire_s + latency_s + s(platform_.o_complete) + look_s(match));
    if (op(match).kind == Kind::kRecv && !datagram) {
      arc(match, kIssued, i, kDone, latency_s + complete_s);
    }
  }

  double wire(std::uint32_t i, sched::RankId src, sched::RankId dst) const {
    const std::uint64_t bytes = schedule_.payload_bytes(op(i));
    machine::Rate pair;
    for (const machine::PairRate& slow : plan_.pairs) {
      if (slow.src == src && slow.dst == dst) pair = slow.rate;
    }
    const bool within = local(i);
    if (!within || scales_up(i)) {
      // The slowest of both ends and of what the plan has for the pair.
      const machine::Rate others = within ? platform_.node.scale_up.rate : platform_.rate;
      const auto& of_hosts = within ? platform_.hosts.scale_up_rate : platform_.hosts.rate;
      std::uint64_t least = std::min(of_host(of_hosts, host(src), others).bits_per_second,
                                     of_host(of_hosts, host(dst), others).bits_per_second);
      if (pair.bits_per_second != 0) least = std::min(least, pair.bits_per_second);
      if (within) return static_cast<double>(bytes) / machine::Rate{least}.bytes_per_second();
      return platform_.transfer_s(bytes, machine::Rate{least});
    }
    const machine::Rate copy = platform_.copy_rate;
    const bool slow = pair.bits_per_second != 0 && pair.bits_per_second < copy.bits_per_second;
    return static_cast<double>(bytes) / (slow ? pair : copy).bytes_per_second();
  }

  // The initiators of a channel issue in order, and its receives.
  void add_channels() {
    std::map<std::pair<std::uint32_t, bool>, std::uint32_t> last;
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      if (!sched::has_channel(op(i).kind)) continue;
      const std::pair side{op(i).channel.value, op(i).kind == Kind::kRecv};
      const auto before = last.find(side);
      if (before != last.end()) arc(before->second, kIssued, i, kIssued, into_s(i));
      last[side] = i;
    }
  }

  // Of what has a turn on a lane: when its node is, and what it takes before that, or after.
  struct Turn {
    std::uint32_t node;
    double at_s;
    double hold_s;
    bool ends;  // with its node
  };
  void add_lanes() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Turn>> lanes;
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      if (!posted(op(i).kind) && !computes(op(i).kind)) continue;
      std::vector<Turn>& turns = lanes[{op(i).rank.value, op(i).lane}];
      turns.push_back({node(i, kIssued), trace_.ops[i].issued_s, hold_s(i), posted(op(i).kind)});
      if (looked_at(i)) {
        turns.push_back({node(i, kDone), trace_.ops[i].done_s, look_s(i), true});
      }
    }
    for (const auto& [lane, turns] : lanes) {
      for (const Turn& a : turns) {
        if (a.hold_s == 0) continue;
        for (const Turn& b : turns) {
          const bool before = b.at_s > a.at_s || (b.at_s == a.at_s && a.ends);
          if (a.node == b.node || !before) continue;
          arcs_.push_back({a.node, b.node, (a.ends ? 0 : a.hold_s) + (b.ends ? b.hold_s : 0)});
        }
      }
    }
  }

  // Of any two posts on one queue pair of threads the later ends with the lock's time.
  void add_locks() {
    if (platform_.node.qp_lock.count() == 0) return;
    using Pair =
        std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Pair, std::vector<std::uint32_t>> posts;
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      if (!sched::is_initiator(op(i).kind) || local(i)) continue;
      const std::uint32_t src = schedule_.channel(op(i).channel).src.value;
      const std::uint32_t dst = schedule_.channel(op(i).channel).dst.value;
      const std::uint32_t number = number_among(op(i).channel);
      const std::uint32_t threads = platform_.node.threads_per_qp;
      posts[{src / threads, dst / threads, nic(src, dst, number), nic(dst, src, number), number}]
          .push_back(i);
    }
    for (const auto& [pair, of_pair] : posts) {
      for (const std::uint32_t a : of_pair) {
        for (const std::uint32_t b : of_pair) {
          if (trace_.ops[a].issued_s >= trace_.ops[b].issued_s) continue;
          arc(a, kIssued, b, kIssued, s(platform_.node.qp_lock));
        }
      }
    }
  }

  std::uint32_t number_of(sched::ChannelId channel) const {
    return platform_.node.rails.count == 1 ? 0 : number_among(channel);
  }
  // How many channels of messages between the two ranks stand before it; of one that carries
  // credits for another, before that.
  std::uint32_t number_among(sched::ChannelId channel) const {
    const auto channels = schedule_.channels();
    const std::vector<bool> control = schedule_.control_channels();
    const auto data_of = [&](std::uint32_t c) {
      for (std::uint32_t d = 0; d < channels.size(); ++d) {
        if (channels[d].credit_on == sched::ChannelId(c) && !control[d]) return d;
      }
      return c;
    };
    const std::uint32_t data = data_of(channel.value);
    std::uint32_t number = 0;
    for (std::uint32_t c = 0; c < data; ++c) {
      const bool between =
          channels[c].src == channels[data].src && channels[c].dst == channels[data].dst;
      if (between && data_of(c) == c) ++number;
    }
    return number;
  }
  std::uint32_t nic(std::uint32_t rank, std::uint32_t peer, std::uint32_t number) const {
    const machine::Rails& rails = platform_.node.rails;
    const std::uint32_t per_node = platform_.node.ranks;
    std::uint32_t rail = number;
    if (rails.rule == machine::RailRule::kRank) rail = rank % per_node;
    if (rails.rule == machine::RailRule::kPair) rail = rank + peer + number;
    return rank / per_node * rails.count + rail % rails.count;
  }

  void add_ports() {
    using Port = std::pair<std::uint32_t, bool>;  // of a NIC, for large messages or for small ones
    std::map<Port, std::vector<Passage>> out;
    std::map<Port, std::vector<Passage>> in;
    // When its reply left, its node, and what it was served for.
    using Served = std::tuple<double, std::uint32_t, double>;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Served>> words;
    const auto pass = [&](std::uint32_t src, std::uint32_t dst, std::uint32_t number,
                          std::uint64_t bytes, Passage passage) {
      const bool large = bytes > platform_.interleave_bytes;
      const bool within = scales_up(passage.node / kMoments);
      passage.gap_s = within ? 0 : s(platform_.gap);
      const auto port = [&](std::uint32_t rank, std::uint32_t peer) {
        return within ? kScaleUpPorts + rank : nic(rank, peer, number);
      };
      out[{port(src, dst), large}].push_back(passage);
      in[{port(dst, src), large}].push_back(passage);
    };
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      if (!sched::is_initiator(op(i).kind)) continue;
      const sched::Channel& channel = schedule_.channel(op(i).channel);
      const std::uint32_t src = channel.src.value;
      const std::uint32_t dst = channel.dst.value;
      const std::uint32_t number = number_of(op(i).channel);
      const std::uint64_t bytes = schedule_.payload_bytes(op(i));
      const sched::OpTimes& t = trace_.ops[i];
      if (service_s(i) > 0) {
        const sched::Slice& word = schedule_.slices(op(i).reads).front();
        words[{word.buffer.value, word.offset}].push_back(
            {t.wire_s, node(i, kServed), service_s(i)});
      }
      if (local(i) && !scales_up(i)) continue;
      if (op(i).kind != Kind::kGet && !sched::is_atomic(op(i).kind)) {
        pass(src, dst, number, bytes,
             {node(i, kWire), t.wire_s, t.issued_s, wire(i, channel.src, channel.dst)});
        continue;
      }
      const double request_s = trace_.request_s[i];
      pass(src, dst, number, 0, {node(i, kRequest), request_s, t.issued_s, 0});
      pass(dst, src, number, bytes,
           {node(i, kWire), t.wire_s, request_s + latency_s(i) + read_s(i),
            wire(i, channel.dst, channel.src)});
    }
    // A queue is left in its order, and the port is held for the gap at least. Messages that never
    // wait for each other, since none of their class takes any time, have no order to keep.
    std::map<bool, bool> any_takes_time;
    for (const auto& [port, passages] : out) {
      for (const Passage& p : passages) {
        if (p.wire_s > 0 || p.gap_s > 0) any_takes_time[port.second] = true;
      }
    }
    for (const auto& [port, passages] : out) {
      if (!any_takes_time[port.second]) continue;
      for (const Passage& a : passages) {
        const double held_s = std::max(a.gap_s, a.wire_s);
        for (const Passage& b : passages) {
          const auto key = [](const Passage& p, double keeps_s) {
            return std::tuple(p.begin_s, keeps_s > 0, p.joined_s, p.node);
          };
          if (key(a, held_s) < key(b, std::max(b.gap_s, b.wire_s))) {
            arcs_.push_back({a.node, b.node, held_s});
          }
        }
      }
    }
    for (const auto& [port, passages] : in) {
      for (const Passage& a : passages) {
        for (const Passage& b : passages) {
          if (a.wire_s > 0 && a.begin_s < b.begin_s) {
            arcs_.push_back({a.node, b.node, a.wire_s});
          }
        }
      }
    }
    for (auto& [word, served] : words) {
      std::sort(served.begin(), served.end());
      for (std::size_t i = 1; i < served.size(); ++i) {
        arcs_.push_back(
            {std::get<1>(served[i - 1]), std::get<1>(served[i]), std::get<2>(served[i])});
      }
    }
  }

  const sched::Schedule& schedule_;
  const machine::Platform& platform_;
  const machine::DelayPlan& plan_;
  const machine::Delays delays_;
  const sched::Trace& trace_;
  std::vector<bool> awaited_;
  std::vector<Arc> arcs_;
  Times source_s_;
};

}  // namespace slackline::testing
