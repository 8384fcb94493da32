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
  static constexpr std::uint32_t kNoNode = 0xffffffffu;

  /// Of the operations of a range, which no arc may leave. Throws as sched::RegionTree does; the
  /// schedule must outlive this.
  RunGraph(const sched::Schedule& schedule, sched::OpRange range);

  const sched::Schedule& schedule() const { return schedule_; }
  const sched::OpRange& range() const { return tree_.range(); }
  const sched::RegionTree& tree() const { return tree_; }

  struct Arc {
    std::uint32_t to : 31;
    std::uint32_t on_done : 1;  // or the end of a region; if not: when the operation is issued
  };
  struct Node {
    std::uint32_t waits = 0;      // the arcs that come into it
    std::uint32_t first_out = 0;  // in arcs(), up to the first of the node after it
    // The operation of the channel whose issue waits for this one's, in the same region; kNoNode if
    // there is none. Receives have an order of their own.
    std::uint32_t next_on_channel = kNoNode;
    friend bool operator==(const Node&, const Node&) = default;
  };
  /// All nodes, and one more behind the last. A run counts down a copy of its own, so that what it
  /// needs of a node stands in one place.
  std::span<const Node> nodes() const { return nodes_; }
  /// The nodes themselves, for the only run of this graph: nodes() has none from then on.
  std::vector<Node> give_nodes() { return std::move(nodes_); }
  /// Whether some operation of the range is on another lane than 0.
  bool several_lanes() const { return several_lanes_; }
  /// Edges, and a channel's order where it goes into a region or out of one.
  std::span<const Arc> arcs() const { return arcs_; }

 private:
  struct Joined {
    std::uint32_t pred;
    std::uint32_t succ;
    bool on_done;
  };
  template <class Visit>
  void each_on_channel(std::uint32_t begin, std::uint32_t end, std::vector<sched::OpId>& last,
                       const Visit& visit);
  template <class ArcAt>
  void add_arcs(std::size_t first, std::size_t count, const ArcAt& arc_at);
  void join_by_rank(std::span<const sched::Edge> edges);
  void join_lifted(std::span<const sched::Edge> edges);

  const sched::Schedule& schedule_;
  sched::RegionTree tree_;
  std::vector<Node> nodes_;
  std::vector<Arc> arcs_;
  bool several_lanes_ = false;
};

}  // namespace slackline::machine
