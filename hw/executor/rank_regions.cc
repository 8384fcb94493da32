#include "hw/executor/rank_regions.h"

namespace slackline::hw {

RankRegions::RankRegions(const sched::Schedule& schedule, sched::RankId rank)
    : tree_(schedule),
      first_(schedule.first_op(rank).value),
      size_(schedule.end_op(rank).value - first_),
      number_(schedule.regions().size(), kNoRegion) {
  for (std::uint32_t r = 0; r < number_.size(); ++r) {
    if (schedule.op(schedule.regions()[r].entry).rank != rank) continue;
    number_[r] = static_cast<std::uint32_t>(regions_.size());
    regions_.push_back(r);
  }
  if (empty()) return;
  around_.resize(nodes());
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    const std::uint32_t of_all = is_region(node) ? tree_.node_of(region(node)) : first_ + node;
    const std::uint32_t around = tree_.around(of_all);
    around_[node] = around == sched::RegionTree::kNone ? kNoRegion : size_ + number_[around];
  }
  child_begin_.push_back(0);
  for (const std::uint32_t region : regions_) {
    for (const std::uint32_t node : tree_.children(region)) children_.push_back(local(node));
    child_begin_.push_back(static_cast<std::uint32_t>(children_.size()));
  }
}

std::pair<std::uint32_t, std::uint32_t> RankRegions::lifted(std::uint32_t pred,
                                                            std::uint32_t succ) const {
  if (empty()) return {pred, succ};
  const auto [a, b] = tree_.lifted(sched::OpId(first_ + pred), sched::OpId(first_ + succ));
  return {local(a), local(b)};
}

}  // namespace slackline::hw
