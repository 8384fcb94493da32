// The regions of one rank, in the numbers of its program.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sched/region_tree.h"
#include "sched/schedule.h"

namespace slackline::hw {

/// A *node* is an operation, by its number within the rank, or a region, as the number of the
/// rank's operations plus its own among the rank's regions.
class RankRegions {
 public:
  /// Throws as sched::RegionTree does. The schedule must outlive this.
  RankRegions(const sched::Schedule& schedule, sched::RankId rank);

  const sched::RegionTree& tree() const { return tree_; }
  /// Of this rank.
  bool empty() const { return regions_.empty(); }
  std::uint32_t nodes() const { return size_ + static_cast<std::uint32_t>(regions_.size()); }
  bool is_region(std::uint32_t node) const { return node >= size_; }

  /// The region's place in the schedule's table.
  std::uint32_t region(std::uint32_t node) const { return regions_[node - size_]; }
  /// The node of the innermost region around it; kNoRegion if there is none.
  static constexpr std::uint32_t kNoRegion = 0xffffffffu;
  std::uint32_t around(std::uint32_t node) const {
    return around_.empty() ? kNoRegion : around_[node];
  }
  /// What stands in a region and in no region inside it.
  std::span<const std::uint32_t> children(std::uint32_t node) const {
    const std::uint32_t region = node - size_;
    return std::span(children_).subspan(child_begin_[region],
                                        child_begin_[region + 1] - child_begin_[region]);
  }
  /// The nodes that an arc between two operations joins: sched::RegionTree::lifted().
  std::pair<std::uint32_t, std::uint32_t> lifted(std::uint32_t pred, std::uint32_t succ) const;

 private:
  std::uint32_t local(std::uint32_t node) const {
    return tree_.is_region(node) ? size_ + number_[tree_.region_of(node)] : node - first_;
  }

  sched::RegionTree tree_;
  std::uint32_t first_ = 0;
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> regions_;
  std::vector<std::uint32_t> number_;  // of every region of the schedule, among its rank's
  std::vector<std::uint32_t> around_;  // of every node; empty without regions
  std::vector<std::uint32_t> child_begin_;
  std::vector<std::uint32_t> children_;
};

}  // namespace slackline::hw
