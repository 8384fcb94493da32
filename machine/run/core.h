// The part of a run that is the same in a simulation and on a machine: what is ready when, which
// lane posts what, and how often regions go round. It knows neither clock nor network, and no
// bytes.
//
// A run carries out a range of operations: a simulator all of a schedule's, hw/executor.h one
// rank's. Whoever has the core is its Host. It tells the core what was issued and what is done,
// asks its lanes who is next, and offers
//   double now_s();                       the time at hand, which goes into OpTimes
//   double moment();                      the moment at hand: machine/run/lanes.h
//   bool is_gone(op);                     its rank has failed, and does nothing any more
//   double post_delay_s(op);              how long a delay plan keeps it from its lane
//   void hold_back(op, wait_s);           call offer(op) after that time
//   bool takes_lane(op);
//   void at_once(node);                   in this very event: issue an operation that takes no
//                                         lane, or enter() a region
//   void come_again(region, wait_s);      enter() it after that time, which may be 0
//   void attempt_begins(op);              it comes again, and nothing of the time before holds
//   void room_made(op);                   it is done; before others learn of it
//   bool succeeded(op);                   Operands::succeeded, of one whose result is there
//   void all_ended();                     nothing is left to be done
// where operations go by their place in the range, and nodes are those of sched::RegionTree.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "machine/run/graph.h"
#include "machine/run/lanes.h"
#include "machine/run/regions.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// What is told of an operation before anything has happened to it. In a schedule with regions it
/// may run any number of times, and in one without just once.
inline sched::OpTimes nothing_yet(bool has_regions) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  return {kNever, kNever, kNever, kNever, has_regions ? 0u : 1u, sched::OpId::none()};
}

template <class Host>
class RunCore {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `times` has one entry for each operation of the graph's range. IssueOrder::sends_in_flight
  /// counts messages of more than `small_bytes`; `seed` is that of what sampled regions draw. All
  /// references must outlive this. reset() comes before anything else.
  RunCore(Host& host, const RunGraph& graph, std::span<sched::OpTimes> times,
          const IssueOrder& order, std::uint64_t small_bytes, std::uint64_t seed)
      : host_(host),
        graph_(graph),
        tree_(graph.tree()),
        schedule_(graph.schedule()),
        range_(graph.range()),
        times_(times),
        has_regions_(!tree_.empty()),
        regions_(schedule_, tree_, seed),
        lanes_(schedule_, range_, graph_.several_lanes(), order, small_bytes) {}

  /// Nothing has happened yet.
  void reset() {
    clear_times();
    nodes_.assign(graph_.nodes().begin(), graph_.nodes().end());
    clear_all_but_times();
  }
  /// The same in two parts, for the only run of a graph without regions: `nodes` are the graph's.
  /// Times that are nothing_yet() need no clearing.
  void clear_times() { std::fill(times_.begin(), times_.end(), nothing_yet(has_regions_)); }
  void reset_all_but_times(std::vector<RunGraph::Node>&& nodes) {
    nodes_ = std::move(nodes);
    clear_all_but_times();
  }

  /// Between reset() and start(): the operation never becomes ready of itself. Who posts it by
  /// other means says issued().
  void withdraw(std::uint32_t op) { nodes_[op].waits = std::numeric_limits<std::uint32_t>::max(); }

  /// As another run of the same graph is now, without regions; OpTimes are for the caller to copy.
  void resume(const RunCore& other) {
    nodes_ = other.nodes_;
    lanes_.resume(other.lanes_);
    left_ = other.left_;
  }
  /// Whether the same would follow as in another such run, if the same came from now on in both.
  bool goes_on_as(const RunCore& other) const {
    return lanes_.goes_on_as(other.lanes_) && nodes_ == other.nodes_;
  }

  /// Time zero: what waits for nothing is ready.
  void start() {
    if (left_ == 0) host_.all_ended();
    each_outside([&](std::uint32_t node) {
      if (nodes_[node].waits == 0) begin(node, sched::OpId::none());
    });
  }

  const sched::RegionTree& tree() const { return tree_; }
  bool has_regions() const { return has_regions_; }
  Lanes& lanes() { return lanes_; }
  const Lanes& lanes() const { return lanes_; }
  sched::OpTimes& times(std::uint32_t op) { return times_[op]; }
  const sched::OpTimes& times(std::uint32_t op) const { return times_[op]; }
  /// What is known of the operation's message and of what it is told, as the graph has it.
  const RunGraph::Node& node(std::uint32_t op) const { return nodes_[op]; }
  /// Whether anything here follows from what becomes of the operation.
  bool is_awaited(std::uint32_t op) const {
    return has_regions_ || nodes_[op].is_awaited || lanes_.is_bounded(op);
  }
  /// Has the processor load the operation's times and node. Inlined: see machine/run/look_ahead.h.
  [[gnu::always_inline]] void prefetch_op(std::uint32_t op) const {
    __builtin_prefetch(&times_[op], 1);
    __builtin_prefetch(&times_[op].cause, 1);  // it may stand in the next line
    __builtin_prefetch(&nodes_[op], 1);
  }
  /// …once these are there, where the node's arcs stand if they do not stand with it…
  [[gnu::always_inline]] void prefetch_arcs(std::uint32_t op) const {
    if (nodes_[op].at_issue == RunGraph::Node::kListed) {
      __builtin_prefetch(graph_.place_of_listed(nodes_[op]));
    }
  }
  /// …and then the nodes of those that wait for it, and what is looked at once they are ready.
  [[gnu::always_inline]] void prefetch_waiting(std::uint32_t op) const {
    const auto ask = [&](std::uint32_t to) __attribute__((always_inline)) {
      __builtin_prefetch(&nodes_[to], 1);
      if (tree_.is_region(to)) return;
      __builtin_prefetch(&schedule_.op(range_.id(to)));
      __builtin_prefetch(&times_[to], 1);
    };
    graph_.each_at_issue(op, nodes_[op], ask);
    graph_.each_at_done(op, nodes_[op], ask);
  }
  /// Nodes outside of all regions that have not ended.
  std::uint32_t left() const { return left_; }

  /// The operation, which is ready and not held back any more, comes to its lane.
  [[gnu::always_inline]] void offer(std::uint32_t op) {
    if (host_.takes_lane(op)) {
      lanes_.add(op, host_.moment());
    } else {
      host_.at_once(op);
    }
  }

  /// What has its turn on a lane, its cause set if it had to wait for it: Lanes::next().
  template <class IsStale>
  std::optional<Lanes::Waiting> next_turn(std::uint32_t lane, const IsStale& is_stale) {
    const std::optional<Lanes::Waiting> turn = lanes_.next(lane, is_stale);
    if (!turn || turn->bundle != 0) return turn;
    const std::uint32_t behind = lanes_.behind(lane, *turn);
    if (behind != Lanes::kNoOp) times_[turn->op].cause = range_.id(behind);
    return turn;
  }

  /// It is issued now.
  void issued(std::uint32_t op) {
    prefetch(op + kAhead);
    times_[op].issued_s = host_.now_s();
    graph_.each_at_issue(op, nodes_[op], [&](std::uint32_t to) { release(to, range_.id(op)); });
  }

  /// It is done now, after it had its turn on a lane if it takes one.
  void done(std::uint32_t op) {
    const std::uint32_t next = lanes_.done(op, host_.moment());
    if (next != Lanes::kNoOp) times_[next].cause = range_.id(op);
    host_.room_made(op);
    times_[op].done_s = host_.now_s();
    graph_.each_at_done(op, nodes_[op], [&](std::uint32_t to) { release(to, range_.id(op)); });
    if (has_regions_ && !host_.succeeded(op)) regions_.fail(range_.id(op));
    ended_within(op, range_.id(op));
  }

  /// The region begins, or another attempt of it does.
  void enter(std::uint32_t region) {
    if (host_.is_gone(place_of_entry(region))) return;
    const bool taken = regions_.is_taken(region, [&](sched::OpId id) {
      const std::uint32_t op = range_.place(id);
      return times_[op].attempts != 0 && host_.succeeded(op);
    });
    if (taken) return begin_attempt(region);
    pass_over(region);
    leave(region, regions_.cause(region));
  }

 private:
  static constexpr std::uint32_t kAhead = 4;  // operations: nearer ones are under way already

  void clear_all_but_times() {
    regions_.reset();
    lanes_.reset();
    left_ = has_regions_ ? 0 : range_.count;
    if (has_regions_) each_outside([&](std::uint32_t) { ++left_; });
  }

  template <class Visit>
  void each_outside(Visit&& visit) {
    for (std::uint32_t op = 0; op < range_.count; ++op) {
      if (tree_.around(op) == sched::RegionTree::kNone) visit(op);
    }
    if (!has_regions_) return;
    for (std::uint32_t r = 0; r < schedule_.regions().size(); ++r) {
      const bool own = range_.holds(schedule_.regions()[r].entry);
      if (own && tree_.around(tree_.node_of(r)) == sched::RegionTree::kNone) {
        visit(tree_.node_of(r));
      }
    }
  }
  std::uint32_t place_of_entry(std::uint32_t region) const {
    return range_.place(schedule_.regions()[region].entry);
  }

  // A rank mostly goes through its operations in program order, but between two of them all other
  // ranks have their turns, and the processor sees no order in that. So it is told what comes soon.
  // Inlined, since g++ takes calls of a function that only prefetches for superfluous.
  [[gnu::always_inline]] void prefetch(std::uint32_t op) const {
    if (op >= range_.count) return;
    __builtin_prefetch(&schedule_.op(range_.id(op)));
    prefetch_op(op);
  }

  // One of those that the node waits for is there.
  void release(std::uint32_t node, sched::OpId cause) {
    if (--nodes_[node].waits == 0) begin(node, cause);
  }

  // All that the node waits for is there.
  void begin(std::uint32_t node, sched::OpId cause) {
    if (tree_.is_region(node)) {
      regions_.release(tree_.region_of(node), cause);
      host_.at_once(node);
      return;
    }
    times_[node].cause = cause;
    make_ready(node);
  }

  void make_ready(std::uint32_t op) {
    if (host_.is_gone(op)) return;
    times_[op].ready_s = host_.now_s();
    if (has_regions_ && ++times_[op].attempts == 0) {
      throw Unsupported(fmt::format("{} runs 2^32 times or more; expected less",
                                    sched::describe(schedule_, range_.id(op))));
    }
    const double delay_s = host_.post_delay_s(op);
    if (delay_s > 0) {
      host_.hold_back(op, delay_s);
    } else {
      offer(op);
    }
  }

  void begin_attempt(std::uint32_t region) {
    regions_.begin_attempt(region);
    const sched::OpId cause = regions_.cause(region);
    const auto children = tree_.children(region);
    for (const std::uint32_t node : children) {
      nodes_[node].waits = graph_.nodes()[node].waits;
      if (tree_.is_region(node)) continue;
      sched::OpTimes& t = times_[node];
      t = {kNever, kNever, kNever, kNever, t.attempts, cause};
      host_.attempt_begins(node);
    }
    for (const std::uint32_t node : children) {
      if (graph_.nodes()[node].waits == 0) begin(node, cause);
    }
  }

  // The node has ended, `last` the latest operation of it: what that means for the region around
  // it.
  void ended_within(std::uint32_t node, sched::OpId last) {
    const std::uint32_t region = tree_.around(node);
    if (region == sched::RegionTree::kNone) {
      if (--left_ == 0) host_.all_ended();
      return;
    }
    if (!regions_.ended_within(region)) return;
    if (regions_.is_over(region)) return leave(region, last);
    regions_.set_cause(region, last);
    host_.come_again(region, sched::seconds(schedule_.regions()[region].backoff));
  }

  void leave(std::uint32_t region, sched::OpId last) {
    const std::uint32_t node = tree_.node_of(region);
    graph_.each_at_done(node, nodes_[node], [&](std::uint32_t to) { release(to, last); });
    ended_within(node, last);
  }

  // Its operations never run here; their times are the moment when that was known.
  void pass_over(std::uint32_t region) {
    const std::uint32_t first = place_of_entry(region);
    const double now_s = host_.now_s();
    for (std::uint32_t op = first; op < first + schedule_.regions()[region].count; ++op) {
      if (times_[op].attempts != 0) continue;
      times_[op] = {now_s, now_s, now_s, now_s, 0, regions_.cause(region)};
    }
  }

  Host& host_;
  const RunGraph& graph_;
  const sched::RegionTree& tree_;
  const sched::Schedule& schedule_;
  const sched::OpRange range_;
  const std::span<sched::OpTimes> times_;
  const bool has_regions_;
  std::vector<RunGraph::Node> nodes_;  // the graph's; they wait for the arcs that are still to come
  RegionRun regions_;
  Lanes lanes_;
  std::uint32_t left_ = 0;
};

}  // namespace slackline::machine
