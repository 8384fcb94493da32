#include "analysis/engines/max_min.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace slackline::analysis {

void MaxMin::begin() {
  links_.clear();
  flows_.clear();
  passages_.clear();
  passing_.clear();
}

void MaxMin::solve() {
  by_bound_.resize(flows_.size());
  std::iota(by_bound_.begin(), by_bound_.end(), 0u);
  const auto less_bound = [&](std::uint32_t a, std::uint32_t b) {
    return flows_[a].bound < flows_[b].bound;
  };
  if (!std::is_sorted(by_bound_.begin(), by_bound_.end(), less_bound)) {
    std::sort(by_bound_.begin(), by_bound_.end(), less_bound);
  }
  for (std::uint32_t l = 0; l < links_.size(); ++l) {
    if (links_[l].growing != 0) levels_.push({level(links_[l]), links_[l].key, l});
  }
  std::size_t next = 0;
  growing_ = flows_.size();
  while (growing_ != 0 && !levels_.empty()) {
    const Level least = levels_.top();
    Link& link = links_[least.link];
    if (link.growing == 0) {
      levels_.pop();
      continue;
    }
    const double now = level(link);
    if (now > least.rate) {
      levels_.replace_top({now, least.key, least.link});
      continue;
    }
    // Whoever is bounded below that has stopped before.
    bool stopped = false;
    while (next < by_bound_.size() && flows_[by_bound_[next]].bound <= now) {
      const std::uint32_t flow = by_bound_[next++];
      if (flows_[flow].rate != 0) continue;
      stop(flow, flows_[flow].bound);
      stopped = true;
    }
    // The link's own level may have risen.
    if (stopped) {
      if (link.growing != 0) levels_.replace_top({level(link), least.key, least.link});
      continue;
    }
    fill(least.link, now);
  }
  levels_.clear();
  for (Flow& flow : flows_) {
    if (flow.rate == 0) flow.rate = flow.bound;
  }
}

void MaxMin::fill(std::uint32_t link, double rate) {
  const std::uint32_t end = links_[link].first + links_[link].count;
  for (std::uint32_t i = links_[link].first; i < end; ++i) {
    if (flows_[passing_[i]].rate == 0) stop(passing_[i], rate);
  }
}

void MaxMin::stop(std::uint32_t flow, double rate) {
  // Rounding may leave a link with less than nothing.
  flows_[flow].rate = std::max(rate, std::numeric_limits<double>::min());
  --growing_;
  const Flow& f = flows_[flow];
  for (std::uint32_t p = f.first; p < f.first + f.count; ++p) {
    Link& link = links_[passages_[p].link];
    link.left -= rate * passages_[p].times;
    link.growing -= passages_[p].times;
  }
}

}  // namespace slackline::analysis
