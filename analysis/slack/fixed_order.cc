#include "analysis/slack/fixed_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "base/enum_names.h"
#include "base/grouped.h"
#include "machine/completions.h"
#include "machine/delays.h"
#include "machine/paths.h"

namespace slackline::analysis {
namespace {

using sched::OpId;

// How this works. If arcs fix every order, then every run has the order of the one at hand. So it
// is enough to take that run's order at each lane, port and word, and to show of its neighbours
// that arcs lead from the moment at which the first has taken its place to a moment before the
// second asks for it: orders are transitive. Each is a search back from the second along the
// schedule's arcs, as proofs of "happened before" are (Lamport, "Time, clocks, and the ordering of
// events in a distributed system", CACM 21(7), 1978). A search passes over all that came before the
// first in this run, since what comes after the first in every run comes after it in this one.
//
// An in-port serves messages as they come to head their senders' queues. That needs the order of
// the out-ports, so those are shown first, and what they show counts as an arc from then on.

// How many moments are looked at, beyond one for each of the run: what a path between neighbours
// passes is near in time, so most searches look at a few.
constexpr std::uint64_t kLooks = 20'000'000;

// What must come before what, and why.
struct Pair {
  NodeId before;                // the first has taken its place
  std::array<NodeId, 2> after;  // the second comes no earlier than either of these
  Contested contested;
  OpId first, second;
};

class Search {
 public:
  Search(const sched::Schedule& schedule, const ConstraintGraph& graph)
      : schedule_(schedule),
        graph_(graph),
        arcs_(graph.schedule_constraints()),
        into_(graph.node_count(),
              [this](auto&& take) {
                for (const Constraint& c : arcs_) take(c.head.value, c.tail);
              }),
        place_(graph.node_count(), 0),
        seen_(graph.node_count(), 0),
        queued_before_(graph.node_count(), NodeId{kNone}) {
    for (std::uint32_t i = 0; i < graph.order().size(); ++i) place_[graph.order()[i].value] = i;
  }

  // The first that is not fixed.
  FixedOrder run() {
    for (const bool in_ports : {false, true}) {
      const std::span<const Weight> weights = graph_.weights();
      const std::size_t own = arcs_.size();
      for (std::size_t i = 0; i < graph_.of_order().size(); ++i) {
        const Constraint& c = graph_.of_order()[i];
        const Weight weight = weights[own + i];
        if ((weight == Weight::kInPort) != in_ports) continue;
        if (!is_fixed(pair_of(c, weight))) return found_;
        // An atomic's answer has no moment at which it begins.
        const bool begins = c.head.moment() != Moment::kDone && c.tail.moment() != Moment::kDone;
        if (weight == Weight::kOutPort && begins) queued_before_[c.head.value] = c.tail;
      }
      for (const Constraint& c : graph_.went_before()) {
        const bool at_port = c.head.moment() != Moment::kIssued;
        if (at_port != in_ports) continue;
        if (!is_fixed(pair_of(c, at_port ? Weight::kInPort : Weight::kTurn))) return found_;
      }
    }
    return found_;
  }

  // Whether the second comes after the first has taken its place, in every run.
  bool is_fixed(const Pair& pair) {
    ++round_;
    stack_.clear();
    const double from_s = graph_.time_s()[pair.before.value];
    const std::uint32_t from = place_[pair.before.value];
    const auto look = [&](NodeId node) {
      if (node.value == kNone || seen_[node.value] == round_) return;
      // Nothing that comes after `before` in every run comes earlier in this one.
      if (place_[node.value] < from || graph_.time_s()[node.value] < from_s) return;
      seen_[node.value] = round_;
      stack_.push_back(node);
    };
    for (const NodeId node : pair.after) look(node);
    while (!stack_.empty()) {
      const NodeId node = stack_.back();
      stack_.pop_back();
      if (node == pair.before) return true;
      if (++looks_ > kLooks + graph_.node_count()) {
        found_ = {pair.contested, pair.first, pair.second, false};
        return false;
      }
      for (const NodeId before : into_[node.value]) look(before);
      look(queued_before_[node.value]);
    }
    found_ = {pair.contested, pair.first, pair.second, true};
    return false;
  }

  // The latest moment of which it is known that the operation's message joins its queue no earlier.
  NodeId before_joining(NodeId wire) const {
    const OpId op = wire.op();
    if (wire.moment() == Moment::kDone) return NodeId::of(op, Moment::kWire);  // an atomic's answer
    const bool reply = wire.moment() == Moment::kWire && sched::has_reply(schedule_.op(op).kind);
    return NodeId::of(op, reply ? Moment::kRequest : Moment::kIssued);
  }

  FixedOrder found() const { return found_; }
  static constexpr std::uint32_t kNone = 0xffffffffu;

 private:
  // A moment at which it has joined its queue for certain.
  NodeId joined(NodeId wire) const {
    const OpId op = wire.op();
    if (wire.moment() == Moment::kDone) return NodeId::of(op, Moment::kWire);
    const bool reply = wire.moment() == Moment::kWire && sched::has_reply(schedule_.op(op).kind);
    return reply ? wire : NodeId::of(op, Moment::kIssued);
  }

  Pair pair_of(const Constraint& c, Weight weight) const {
    const OpId first = c.tail.op();
    const OpId second = c.head.op();
    const NodeId none{kNone};
    switch (weight) {
      case Weight::kTurn:
        return {c.tail, {c.head, none}, Contested::kLane, first, second};
      case Weight::kLock:
        return {c.tail, {c.head, none}, Contested::kLock, first, second};
      case Weight::kInFlight:
        return {c.tail, {c.head, none}, Contested::kInFlight, first, second};
      case Weight::kOutPort:
        return {joined(c.tail), {before_joining(c.head), none}, Contested::kOutPort, first, second};
      case Weight::kInPort:
        // It heads its queue after it has joined it, and after the one before it there has left.
        return {c.tail,
                {before_joining(c.head), queued_before_[c.head.value]},
                Contested::kInPort,
                first,
                second};
      default:
        return {
            c.tail, {NodeId::of(second, Moment::kRequest), none}, Contested::kWord, first, second};
    }
  }

  const sched::Schedule& schedule_;
  const ConstraintGraph& graph_;
  const std::span<const Constraint> arcs_;
  base::Grouped<NodeId> into_;        // of every node
  std::vector<std::uint32_t> place_;  // in an order in which every arc leads on
  std::vector<std::uint32_t> seen_;
  std::vector<NodeId> queued_before_;  // of what begins to leave: what left before, in every run
  std::vector<NodeId> stack_;
  std::uint32_t round_ = 0;
  std::uint64_t looks_ = 0;
  FixedOrder found_;
};

struct OnLink {
  double begin_s;
  OpId op;
  machine::NicId src;
  double bytes_per_s;
};

// Large messages share links, but for the ports of serial NICs. They never do where the next begins
// after the last has left in every run, or where a link has the rate for one of each NIC.
bool links_are_fixed(const machine::Setting& setting, const machine::Paths& paths,
                     const sched::Trace& trace, Search& search) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Platform& platform = setting.platform;
  const machine::Wiring& wiring = setting.wiring;
  const bool serial = platform.nic == machine::NicDiscipline::kSerial;
  const bool from_file = platform.topology.kind() == machine::TopologyKind::kSimgridFile;
  const std::size_t ends = serial && !from_file ? 1 : 0;
  std::vector<std::vector<OnLink>> users(wiring.links().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind)) continue;
    if (schedule.payload_bytes(op) <= platform.interleave_bytes) continue;
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    const auto links = paths.links(path);
    for (std::size_t l = ends; l + ends < links.size(); ++l) {
      if (!wiring.links()[links[l].value].shared) continue;
      users[links[l].value].push_back({trace.ops[i].wire_s, OpId(i), paths[path].src_nic,
                                       paths[path].bytes_per_s * paths.share(path, l)});
    }
  }
  for (std::size_t l = 0; l < users.size(); ++l) {
    std::vector<OnLink>& of_link = users[l];
    if (serial) {
      std::sort(of_link.begin(), of_link.end(), [](const OnLink& a, const OnLink& b) {
        return std::tuple(a.src, -a.bytes_per_s) < std::tuple(b.src, -b.bytes_per_s);
      });
      double demand = 0;
      for (std::size_t i = 0; i < of_link.size(); ++i) {
        if (i == 0 || of_link[i].src != of_link[i - 1].src) demand += of_link[i].bytes_per_s;
      }
      if (demand <= wiring.links()[l].rate.bytes_per_second() * (1 + 1e-9)) continue;
    }
    std::sort(of_link.begin(), of_link.end(), [](const OnLink& a, const OnLink& b) {
      return std::tuple(a.begin_s, a.op) < std::tuple(b.begin_s, b.op);
    });
    for (std::size_t i = 1; i < of_link.size(); ++i) {
      const OpId first = of_link[i - 1].op;
      const OpId second = of_link[i].op;
      const bool reply = sched::has_reply(schedule.op(second).kind);
      const NodeId after = NodeId::of(second, reply ? Moment::kRequest : Moment::kIssued);
      const OpId match = schedule.op(first).match;
      const auto comes_after = [&](OpId op) {
        return search.is_fixed({NodeId::of(op, Moment::kDone),
                                {after, NodeId{Search::kNone}},
                                Contested::kLink,
                                first,
                                second});
      };
      if (!(match.valid() && comes_after(match)) && !comes_after(first)) return false;
    }
  }
  return true;
}

}  // namespace

FixedOrder fixed_order(const machine::Setting& setting, const sched::Trace& trace) {
  require_trace_of(setting.schedule, trace);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  if (paths.may_fail() || !paths.link_changes().empty()) {
    return {Contested::kRates, OpId::none(), OpId::none(), true};
  }
  if (machine::completions_cost(setting.platform)) {
    return {Contested::kLooks, OpId::none(), OpId::none(), true};
  }
  const ConstraintGraph graph(setting, delays, paths, trace);
  Search search(setting.schedule, graph);
  const FixedOrder found = search.run();
  if (!found.one_delay_costs_at_most_itself()) return found;
  if (!links_are_fixed(setting, paths, trace, search)) return search.found();
  return found;
}

std::string_view name(Contested contested) {
  constexpr base::EnumNames<Contested, 10> kNames = {"nothing", "lane",     "out-port", "in-port",
                                                     "word",    "link",     "rates",    "looks",
                                                     "lock",    "in-flight"};
  return kNames[contested];
}

std::string place_of(const sched::Schedule& schedule, const FixedOrder& order) {
  const auto rank_of = [&](OpId op) { return schedule.op(op).rank.value; };
  switch (order.contested) {
    case Contested::kNothing:
      return "";
    case Contested::kLane:
      return fmt::format("a lane of rank {}", rank_of(order.first));
    case Contested::kOutPort:
      return "a NIC's out-port";
    case Contested::kInPort:
      return "a NIC's in-port";
    case Contested::kWord:
      return "a word";
    case Contested::kLink:
      return "a link";
    case Contested::kRates:
      return "rates that change at given times";
    case Contested::kLooks:
      return "looks at completions";
    case Contested::kLock:
      return "a queue pair's lock";
    case Contested::kInFlight:
      return fmt::format("the sends in flight of rank {}", rank_of(order.first));
  }
  return "";
}

}  // namespace slackline::analysis
