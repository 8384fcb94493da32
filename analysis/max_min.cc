#include "analysis/max_min.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace slackline::analysis {

void MaxMin::begin() {
  links_.clear();
  flows_.clear();
  passages_.clear();
}

std::uint32_t MaxMin::add_link(double capacity, std::uint32_t key) {
  links_.push_back({capacity, key});
  return static_cast<std::uint32_t>(links_.size() - 1);
}

std::uint32_t MaxMin::add_flow(double bound) {
  flows_.push_back({bound, 0, static_cast<std::uint32_t>(passages_.size()), 0});
  return static_cast<std::uint32_t>(flows_.size() - 1);
}

void MaxMin::pass(std::uint32_t link, std::uint32_t times) {
  passages_.push_back({link, times});
  ++flows_.back().count;
  links_[link].growing += times;
  ++links_[link].count;
}

void MaxMin::solve() {
  passing_.resize(passages_.size());
  std::uint32_t first = 0;
  for (Link& link : links_) {
    link.first = first;
    first += link.count;
    link.count = 0;
  }
  for (std::uint32_t f = 0; f < flows_.size(); ++f) {
    for (std::uint32_t p = flows_[f].first; p < flows_[f].first + flows_[f].count; ++p) {
      Link& link = links_[passages_[p].link];
      passing_[link.first + link.count++] = f;
    }
  }
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
    const Level least = levels_.pop();
    Link& link = links_[least.link];
    if (link.growing == 0) continue;
    const double now = level(link);
    if (now > least.rate) {
      levels_.push({now, least.key, least.link});
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
    if (stopped) {
      if (link.growing != 0) levels_.push({level(link), least.key, least.link});
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
