#include "sched/region_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::sched {

RegionTree::RegionTree(const Schedule& schedule, OpRange range)
    : schedule_(schedule),
      range_(range),
      regions_(static_cast<std::uint32_t>(schedule.regions().size())) {
  const auto regions = schedule.regions();
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < regions_; ++r) {
    if (range.holds(regions[r].entry)) order.push_back(r);
  }
  if (order.empty()) return;
  parent_.assign(regions.size(), kNone);
  depth_.assign(regions.size(), 0);
  of_op_.assign(range.count, kNone);
  const auto end = [&](std::uint32_t r) { return regions[r].entry.value + regions[r].count; };
  const auto outer_first = [&](std::uint32_t a, std::uint32_t b) {
    if (regions[a].entry != regions[b].entry) return regions[a].entry < regions[b].entry;
    return end(a) > end(b);
  };
  // Those that a pattern makes by the million are in order.
  if (!std::is_sorted(order.begin(), order.end(), outer_first)) {
    std::stable_sort(order.begin(), order.end(), outer_first);
  }
  std::vector<std::uint32_t> open;  // those around the one at hand, the innermost last
  for (const std::uint32_t r : order) {
    while (!open.empty() && end(open.back()) <= regions[r].entry.value) open.pop_back();
    if (!open.empty()) {
      if (end(r) > end(open.back())) {
        throw InputError(
            fmt::format("{} begins within {} and ends after it; expected one inside "
                        "the other, or neither",
                        describe(r), describe(open.back())));
      }
      parent_[r] = open.back();
      depth_[r] = depth_[open.back()] + 1;
    }
    open.push_back(r);
    const std::uint32_t first = range.place(regions[r].entry);
    std::fill_n(of_op_.begin() + first, regions[r].count, r);
  }
  children_ = base::Grouped<std::uint32_t>(regions.size(), [&](auto&& take) {
    for (std::uint32_t i = 0; i < range_.count; ++i) {
      if (of_op_[i] != kNone) take(of_op_[i], i);
    }
    for (std::uint32_t r = 0; r < parent_.size(); ++r) {
      if (parent_[r] != kNone) take(parent_[r], node_of(r));
    }
  });
}

std::pair<std::uint32_t, std::uint32_t> RegionTree::lifted_nodes(std::uint32_t a,
                                                                 std::uint32_t b) const {
  const auto depth = [&](std::uint32_t node) {  // of what is around it, counted from 1
    const std::uint32_t region = around(node);
    return region == kNone ? 0 : depth_[region] + 1;
  };
  while (around(a) != around(b)) {
    const std::uint32_t da = depth(a);
    const std::uint32_t db = depth(b);
    if (da >= db) a = node_of(around(a));
    if (db >= da) b = node_of(around(b));
  }
  return {a, b};
}

std::string RegionTree::describe(std::uint32_t region) const {
  const Region& r = schedule_.regions()[region];
  return fmt::format("region {} ({}, from {})", region, name(r.kind),
                     sched::describe(schedule_, r.entry));
}

}  // namespace slackline::sched
