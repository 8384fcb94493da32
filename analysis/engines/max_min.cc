#include "analysis/engines/max_min.h"

#include <algorithm>
#include <numeric>

namespace slackline::analysis {

void MaxMin::begin() {
  links_.clear();
  told_.clear();
  flows_.clear();
  flow_count_ = 0;
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
    if (told_[l].expected && may_fill(link)) levels_.push({level(link), told_[l].key, l});
  }
  for (Flow& flow : flows_) flow.rate = 0;
  if (ascending_) return;
  by_bound_.resize(flow_count_);
  std::iota(by_bound_.begin(), by_bound_.end(), 0u);
  std::sort(by_bound_.begin(), by_bound_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return flows_[a].bound < flows_[b].bound; });
}

void MaxMin::solve() {
  do {
    restart();
    fill_all();
  } while (expects_more());
}

// Whether a link may have filled that was not expected to.
bool MaxMin::expects_more() {
  bool more = false;
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const Link& link = links_[l];
    if (told_[l].expected || link.left >= link.times || !may_fill(link)) continue;
    told_[l].expected = true;
    more = true;
  }
  return more;
}

void MaxMin::fill_all() {
  const auto by_bound = [&](std::size_t n) {
    return ascending_ ? static_cast<std::uint32_t>(n) : by_bound_[n];
  };
  std::size_t next = 0;
  growing_ = flow_count_;
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
    while (next < flow_count_ && flows_[by_bound(next)].bound <= now) {
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
  for (; next < flow_count_; ++next) {
    const std::uint32_t flow = by_bound(next);
    if (flows_[flow].rate == 0) stop(flow, flows_[flow].bound, kNoLink);
  }
}

void MaxMin::fill(std::uint32_t number, Rate rate) {
  links_[number].held = links_[number].growing;
  const Passage* const passages = passages_.data();
  for (std::uint32_t p = links_[number].last; p != kNoLink; p = passages[p].before) {
    const std::uint32_t flow = passages[p].flow;
    if (flows_[flow].rate == 0) stop(flow, rate, number);
  }
}

void MaxMin::stop(std::uint32_t flow, Rate rate, std::uint32_t bottleneck) {
  Flow& f = flows_[flow];
  f.rate = rate;
  f.bottleneck = bottleneck;
  --growing_;
  const Passage* passage = passages_.data() + f.first;
  const Passage* const end =
      passages_.data() + (flow + 1 < flow_count_ ? flows_[flow + 1].first : passage_count_);
  Link* const links = links_.data();
  for (; passage != end; ++passage) {
    Link& link = links[passage->link];
    link.left -= passage->times * rate;
    link.growing -= passage->times;
    link.most = rate;  // rates come in order
  }
}

}  // namespace slackline::analysis
