#include "analysis/engines/max_min.h"

#include <algorithm>
#include <numeric>

namespace slackline::analysis {

void MaxMin::begin() {
  links_.clear();
  flows_.clear();
  ascending_ = true;
  passage_count_ = 0;
}

bool MaxMin::may_fill(const Link& link) const {
  if (link.last == kNoLink) return false;
  const Passage& last = passages_[link.last];
  return last.before != kNoLink || link.given < last.times * flows_[last.flow].bound;
}

// As it was told.
void MaxMin::restart() {
  for (std::uint32_t l = 0; l < links_.size(); ++l) {
    Link& link = links_[l];
    link.left = link.given;
    link.growing = link.times;
    link.most = 0;
    link.held = 0;
    if (may_fill(link)) levels_.push({level(link), link.key, l});
  }
  for (Flow& flow : flows_) flow.rate = 0;
  if (ascending_) return;
  by_bound_.resize(flows_.size());
  std::iota(by_bound_.begin(), by_bound_.end(), 0u);
  std::sort(by_bound_.begin(), by_bound_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return flows_[a].bound < flows_[b].bound; });
}

void MaxMin::solve() {
  restart();
  const auto by_bound = [&](std::size_t n) {
    return ascending_ ? static_cast<std::uint32_t>(n) : by_bound_[n];
  };
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
    while (next < flows_.size() && flows_[by_bound(next)].bound <= now) {
      const std::uint32_t flow = by_bound(next++);
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
  for (; next < flows_.size(); ++next) {
    const std::uint32_t flow = by_bound(next);
    if (flows_[flow].rate == 0) stop(flow, flows_[flow].bound, kNoLink);
  }
}

void MaxMin::fill(std::uint32_t number, Rate rate) {
  const Link& link = links_[number];
  links_[number].held = link.growing;
  for (std::uint32_t p = link.last; p != kNoLink; p = passages_[p].before) {
    const std::uint32_t flow = passages_[p].flow;
    if (flows_[flow].rate == 0) stop(flow, rate, number);
  }
}

void MaxMin::stop(std::uint32_t flow, Rate rate, std::uint32_t bottleneck) {
  Flow& f = flows_[flow];
  f.rate = rate;
  f.bottleneck = bottleneck;
  --growing_;
  const std::uint32_t end = flow + 1 < flows_.size() ? flows_[flow + 1].first : passage_count_;
  for (std::uint32_t p = f.first; p < end; ++p) {
    const Passage& passage = passages_[p];
    Link& link = links_[passage.link];
    link.left -= passage.times * rate;
    link.growing -= passage.times;
    link.most = rate;  // rates come in order
  }
}

}  // namespace slackline::analysis
