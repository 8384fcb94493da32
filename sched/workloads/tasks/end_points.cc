#include "sched/workloads/tasks/end_points.h"

#include <algorithm>
#include <vector>

namespace slackline::sched {

std::uint32_t Hierarchy::next(std::uint32_t at, std::uint32_t to) const {
  const std::uint32_t here = at / cores_;
  const std::uint32_t there = to / cores_;
  if (here == there) return to;
  // The level at which the two part: their clusters of that size are the same, those below differ.
  std::uint64_t below = 1;
  while (here / (below * group_) != there / (below * group_)) below *= group_;
  std::uint64_t node;
  if (here % below == 0) {
    node = there / below * below;  // a router of that level: across, or down
  } else {
    std::uint64_t up = 1;  // to the router of its own cluster, one level after the other
    while (here % (up * group_) == 0) up *= group_;
    node = here / (up * group_) * (up * group_);
  }
  // The last node may have fewer cores.
  const std::uint64_t rank = node * cores_ + at % cores_;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(rank, std::min<std::uint64_t>((node + 1) * cores_, ranks_) - 1));
}

std::uint32_t Hierarchy::hops(std::uint32_t from, std::uint32_t to) const {
  std::uint32_t count = 0;
  for (; from != to; ++count) from = next(from, to);
  return count;
}

// A message for another node goes the same way for each of its cores.
std::uint64_t Hierarchy::queues() const {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> nexts;
  for (std::uint32_t at = 0; at < ranks_; ++at) {
    nexts.clear();
    const std::uint32_t first = at / cores_ * cores_;
    count += std::min(first + cores_, ranks_) - first - 1;
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      if (node != at / cores_) nexts.push_back(next(at, node * cores_));
    }
    std::sort(nexts.begin(), nexts.end());
    count += static_cast<std::uint64_t>(std::unique(nexts.begin(), nexts.end()) - nexts.begin());
  }
  return count;
}

std::uint32_t Hierarchy::most_hops() const {
  std::uint32_t most = 0;
  const std::uint32_t last_core = std::min(cores_, ranks_) - 1;
  for (std::uint32_t from = 0; from < nodes(); ++from) {
    for (std::uint32_t to = 0; to < nodes(); ++to) {
      const std::uint32_t end = std::min(to * cores_ + last_core, ranks_ - 1);
      most = std::max(most, hops(from * cores_, end));
    }
  }
  return most;
}

}  // namespace slackline::sched
