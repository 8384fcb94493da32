#include "analysis/engines/max_min.h"

#include <algorithm>
#include <numeric>

namespace slackline::analysis {

void MaxMin::begin() {
  links_.clear();
  flows_.clear();
  passages_.clear();
}

void MaxMin::list_flows_of_links() {
  std::uint32_t first = 0;
  for (Link& link : links_) {
    link.first = first;
    first += link.count;
    link.count = 0;
  }
  passing_.resize(first);
  for (std::uint32_t f = 0; f < flows_.size(); ++f) {
    for (std::uint32_t p = flows_[f].first; p < flows_[f].first + flows_[f].count; ++p) {
      Link& link = links_[passages_[p].link];
      passing_[link.first + link.count++] = f;
    }
  }
}

void MaxMin::solve() {
  list_flows_of_links();
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
    const Rate now = level(link);
    if (now > least.rate) {
      levels_.replace_top({now, least.key, least.link});
      continue;
    }
    // Whoever is bounded below that has stopped before.
    bool stopped = false;
    while (next < by_bound_.size() && flows_[by_bound_[next]].bound <= now) {
      const std::uint32_t flow = by_bound_[next++];
      if (flows_[flow].rate != 0) continue;
      stop(flow, flows_[flow].bound, kNoLink);
      stopped = true;
    }
    // The link's own level may have risen.
    if (stopped) {
      if (link.growing != 0) levels_.replace_top({level(link), least.key, least.link});
      continue;
    }
    fill(least.link, std::max<Rate>(now, 1));
  }
  levels_.clear();
  for (; next < by_bound_.size(); ++next) {
    const std::uint32_t flow = by_bound_[next];
    if (flows_[flow].rate == 0) stop(flow, flows_[flow].bound, kNoLink);
  }
}

void MaxMin::fill(std::uint32_t link, Rate rate) {
  links_[link].held = links_[link].growing;
  const std::uint32_t end = links_[link].first + links_[link].count;
  for (std::uint32_t i = links_[link].first; i < end; ++i) {
    if (flows_[passing_[i]].rate == 0) stop(passing_[i], rate, link);
  }
}

void MaxMin::stop(std::uint32_t flow, Rate rate, std::uint32_t bottleneck) {
  Flow& f = flows_[flow];
  f.rate = rate;
  f.bottleneck = bottleneck;
  --growing_;
  for (std::uint32_t p = f.first; p < f.first + f.count; ++p) {
    Link& link = links_[passages_[p].link];
    link.left -= rate * passages_[p].times;
    link.growing -= passages_[p].times;
    link.most = rate;  // rates come in order
  }
}

}  // namespace slackline::analysis
