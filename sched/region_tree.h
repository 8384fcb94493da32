// The regions of a schedule as a tree: which stand inside which, and what each of them holds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/grouped.h"
#include "sched/op_range.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// The regions of a range of operations: of all, or of one rank's. A *node* is an operation, by its
/// place in the range, or a region, as the range's count + its number in the schedule's table.
/// Regions of the same operations stand inside each other in the order of that table.
class RegionTree {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// Throws InputError, naming both, if two regions overlap and neither holds the other. Keeps a
  /// reference.
  RegionTree(const Schedule& schedule, OpRange range);
  explicit RegionTree(const Schedule& schedule) : RegionTree(schedule, OpRange::of_all(schedule)) {}

  const OpRange& range() const { return range_; }
  /// Whether the range has no region.
  bool empty() const { return parent_.empty(); }
  std::uint32_t node_of(std::uint32_t region) const { return range_.count + region; }
  /// Of all that may be one: operations, and regions of the whole schedule.
  std::uint32_t nodes() const { return range_.count + regions_; }
  bool is_region(std::uint32_t node) const { return node >= range_.count; }
  std::uint32_t region_of(std::uint32_t node) const { return node - range_.count; }

  /// The innermost region around a node, kNone if there is none.
  std::uint32_t around(std::uint32_t node) const {
    if (parent_.empty()) return kNone;
    return is_region(node) ? parent_[region_of(node)] : of_op_[node];
  }
  std::uint32_t around(OpId op) const { return around(range_.place(op)); }
  /// The nodes that stand in the region and in no region inside it, in order.
  std::span<const std::uint32_t> children(std::uint32_t region) const { return children_[region]; }
  /// What an arc between two operations joins: each of them, or the outermost region around it
  /// that is not around the other.
  std::pair<std::uint32_t, std::uint32_t> lifted(OpId pred, OpId succ) const {
    if (parent_.empty()) return {range_.place(pred), range_.place(succ)};
    return lifted_nodes(range_.place(pred), range_.place(succ));
  }

  /// How the region is named to people: "region 0 (retry, from op 2 (compare_swap, rank 0))".
  std::string describe(std::uint32_t region) const;

 private:
  std::pair<std::uint32_t, std::uint32_t> lifted_nodes(std::uint32_t a, std::uint32_t b) const;

  const Schedule& schedule_;
  OpRange range_;
  std::uint32_t regions_;
  std::vector<std::uint32_t> of_op_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> depth_;
  base::Grouped<std::uint32_t> children_;
};

}  // namespace slackline::sched
