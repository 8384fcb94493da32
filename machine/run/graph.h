// Who waits for whom in a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sched/op_range.h"
#include "sched/region_tree.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Over the nodes of a sched::RegionTree: operations, and regions as if each were one operation. An
/// arc that leaves a region or comes into one is the region's: a region begins when everything that
/// any of its operations waits for outside is there, and what waits for one of its operations waits
/// for its end. The same in every run.
class RunGraph {
 public:
  /// Of the operations of a range, which no arc may leave. Throws as sched::RegionTree does; the
  /// schedule must outlive this.
  RunGraph(const sched::Schedule& schedule, sched::OpRange range);

  const sched::Schedule& schedule() const { return schedule_; }
  const sched::OpRange& range() const { return tree_.range(); }
  const sched::RegionTree& tree() const { return tree_; }

  /// What a run needs of a node. Four stand in one line of a cache: a run goes from rank to rank,
  /// so that it finds little of what it needs where it has just been, and each table that it looks
  /// into is one more line, and one more page, of each rank.
  struct Node {
    static constexpr std::uint8_t kNear = 4;        // arcs that may stand here
    static constexpr std::uint8_t kListed = 0xff;   // at_issue: they stand in the graph's table
    static constexpr std::uint8_t kAnySize = 0xff;  // size: the schedule has it

    std::uint32_t waits = 0;    // the arcs that come into it
    std::uint8_t at_issue = 0;  // how many arcs lead out of it as it is issued, or kListed…
    std::uint8_t at_done = 0;   // …and how many when it is done
    std::uint8_t size = kAnySize;
    bool is_awaited : 1 = false;    // another arc than its channel's order leads out of it
    bool has_operands : 1 = false;  // an initiator that has arguments, or is an atomic
    // How far behind this one the node of each stands, those of its issue first: 16 bits each,
    // from the lowest on. If they are listed: the first of them in the table (the low half), and
    // how many there are.
    std::uint64_t arcs = 0;
    friend bool operator==(const Node&, const Node&) = default;
  };
  static_assert(sizeof(Node) == 16);

  /// All nodes. A run counts down a copy of its own.
  std::span<const Node> nodes() const { return nodes_; }
  /// The nodes themselves, for the only run of this graph: nodes() has none from then on.
  std::vector<Node> give_nodes() { return std::move(nodes_); }

  /// Calls visit(to) for each arc that leads out of a node when its operation is issued; `node` is
  /// it, or a run's copy of it. First comes the operation of the same channel whose issue waits for
  /// this one's, if it is in the same region (receives have an order of their own); then edges, and
  /// a channel's order where it goes into a region. Inlined: see machine/run/look_ahead.h.
  template <class Visit>
  [[gnu::always_inline]] void each_at_issue(std::uint32_t place, const Node& node,
                                            const Visit& visit) const {
    if (node.at_issue == Node::kListed) return each_listed(node, false, visit);
    each_near(place, node.arcs, node.at_issue, visit);
  }
  /// The same when it is done, or when the region ends.
  template <class Visit>
  [[gnu::always_inline]] void each_at_done(std::uint32_t place, const Node& node,
                                           const Visit& visit) const {
    if (node.at_issue == Node::kListed) return each_listed(node, true, visit);
    if (node.at_done != 0) {
      each_near(place, node.arcs >> kNearBits * node.at_issue, node.at_done, visit);
    }
  }
  /// Where the node's arcs stand if they are listed, of which it may be the end of the table.
  const void* place_of_listed(const Node& node) const {
    return listed_.data() + static_cast<std::uint32_t>(node.arcs);
  }

  /// As Schedule::payload_bytes(), of an initiator, whose node this is.
  std::uint64_t payload_bytes(const Node& node, sched::OpId op) const {
    return node.size != Node::kAnySize ? sizes_[node.size]
                                       : schedule_.payload_bytes(schedule_.op(op));
  }

  /// Whether some operation of the range is on another lane than 0.
  bool several_lanes() const { return several_lanes_; }

 private:
  static constexpr unsigned kNearBits = 16;
  struct Arc {
    std::uint32_t to : 31;
    std::uint32_t on_done : 1;
  };
  template <class Visit>
  [[gnu::always_inline]] static void each_near(std::uint32_t place, std::uint64_t arcs,
                                               unsigned count, const Visit& visit) {
    for (; count != 0; --count, arcs >>= kNearBits) {
      visit(place + static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(arcs)}));
    }
  }
  template <class Visit>
  [[gnu::always_inline]] void each_listed(const Node& node, bool on_done,
                                          const Visit& visit) const {
    for (const Arc arc : listed(node)) {
      if ((arc.on_done != 0) == on_done) visit(std::uint32_t{arc.to});
    }
  }
  std::span<const Arc> listed(const Node& node) const {
    return std::span(listed_).subspan(static_cast<std::uint32_t>(node.arcs), node.arcs >> 32);
  }

  template <class Visit>
  void each_on_channel(std::uint32_t begin, std::uint32_t end, std::vector<sched::OpId>& last,
                       const Visit& visit);
  void join(std::uint32_t pred, std::uint32_t succ, bool on_done);
  void list(std::uint32_t pred, Arc arc);
  std::uint8_t size_of(std::uint64_t bytes);
  void join_by_rank();
  void join_lifted();

  const sched::Schedule& schedule_;
  sched::RegionTree tree_;
  std::vector<Node> nodes_;
  std::vector<Arc> listed_;
  std::vector<std::uint64_t> sizes_;  // that most messages have
  bool several_lanes_ = false;
};

}  // namespace slackline::machine
