// Who waits for whom in a run.
#pragma once

#include <cstdint>
#include <span>
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

  /// How many arcs come into each node.
  std::span<const std::uint32_t> waits() const { return waits_; }

  struct Arc {
    std::uint32_t to : 31;
    std::uint32_t on_done : 1;  // or the end of a region; if not: when the operation is issued
  };
  /// Edges, and a channel's order where it goes into a region or out of one.
  std::span<const Arc> out(std::uint32_t node) const {
    const std::uint32_t first = nodes_[node].first_out;
    return std::span(out_).subspan(first, nodes_[node + 1].first_out - first);
  }
  /// The operation of the channel whose issue waits for this one's, in the same region; kNoNode if
  /// there is none. Receives have an order of their own.
  std::uint32_t next_on_channel(std::uint32_t op) const { return nodes_[op].next_on_channel; }

  /// Has the processor load where the node's arcs stand. Inlined: see machine/run/look_ahead.h.
  [[gnu::always_inline]] void prefetch_node(std::uint32_t node) const {
    __builtin_prefetch(&nodes_[node]);
  }
  /// …and, once that is there, the arcs.
  [[gnu::always_inline]] void prefetch_arcs(std::uint32_t node) const {
    __builtin_prefetch(out_.data() + nodes_[node].first_out);  // which may be their end
  }

 private:
  struct Node {
    std::uint32_t first_out = 0;
    std::uint32_t next_on_channel = kNoNode;
  };

  const sched::Schedule& schedule_;
  sched::RegionTree tree_;
  std::vector<std::uint32_t> waits_;
  std::vector<Node> nodes_;  // and two more, at the end
  std::vector<Arc> out_;
};

}  // namespace slackline::machine
