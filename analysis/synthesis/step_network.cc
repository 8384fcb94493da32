#include "analysis/synthesis/step_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

constexpr double kEqual = 1e-9;  // rates that differ by less are equal
constexpr std::size_t kMostSymmetries = 128;

}  // namespace

StepNetwork::StepNetwork(const Ways& ways) : ranks_(ways.ranks()) {
  if (ranks_ > kMostStepRanks) {
    throw Unsupported(
        fmt::format("fewest steps: {} ranks; expected at most {}", ranks_, kMostStepRanks));
  }
  double rate = 0;
  std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> pairs(
      ways.link_bytes_per_s().size());
  for (std::uint32_t s = 0; s < ranks_; ++s) {
    for (std::uint32_t d = 0; d < ranks_; ++d) {
      if (s == d) continue;
      const Way& way = ways.of(RankId(s), RankId(d));
      if (way.local) {
        throw Unsupported(fmt::format(
            "fewest steps: ranks {} and {} are on one machine, whose memory has another rate than "
            "the network; expected a rank on each",
            s, d));
      }
      if (rate == 0) rate = way.bytes_per_s;
      if (way.bytes_per_s > rate * (1 + kEqual) || way.bytes_per_s < rate * (1 - kEqual)) {
        throw Unsupported(fmt::format(
            "fewest steps: from rank {} to {} there are {:.6g} Gb/s, from 0 to 1 {:.6g}; "
            "expected one rate, so that all units take one step",
            s, d, way.bytes_per_s * 8e-9, rate * 8e-9));
      }
      for (const std::uint32_t link : ways.links(way)) pairs[link].emplace(s, d);
    }
  }
  links_.resize(std::size_t{ranks_} * ranks_);
  for (std::uint32_t link = 0; link < pairs.size(); ++link) {
    std::uint32_t sources = 0;
    std::uint32_t targets = 0;
    for (const auto& [s, d] : pairs[link]) {
      sources |= RankSet{1} << s;
      targets |= RankSet{1} << d;
    }
    const double carries = ways.link_bytes_per_s()[link] / rate * (1 + kEqual);
    const auto most = static_cast<double>(
        std::min(std::popcount(sources), std::popcount(targets)));  // what ports let go there
    if (pairs[link].empty() || carries >= most) continue;
    for (const auto& [s, d] : pairs[link]) {
      links_[s * ranks_ + d].push_back(static_cast<std::uint32_t>(capacity_.size()));
    }
    capacity_.push_back(static_cast<std::uint32_t>(carries));
  }
  inflow_.resize(std::size_t{1} << ranks_, 0);
  for (RankSet into = 1; into < all(); ++into) inflow_[into] = most_into(into);
}

std::uint32_t StepNetwork::most_into(RankSet into) const {
  const auto inside = static_cast<std::uint32_t>(std::popcount(into));
  const std::uint32_t ports = std::min(inside, ranks_ - inside);
  if (ports_only()) return ports;
  // Each of the smaller side takes one of the other side, or none.
  const bool by_target = inside <= ranks_ - inside;
  const RankSet takers = by_target ? into : all() & ~into;
  StepLoad load(*this);
  std::uint32_t best = 0;
  const auto take = [&](const auto& self, RankSet left, RankSet others,
                        std::uint32_t made) -> void {
    best = std::max(best, made);
    if (left == 0 || best == ports ||
        made + static_cast<std::uint32_t>(std::popcount(left)) <= best) {
      return;
    }
    const auto one = static_cast<std::uint32_t>(std::countr_zero(left));
    const RankSet rest = left & (left - 1);
    for (RankSet free = others; free != 0; free &= free - 1) {
      const auto other = static_cast<std::uint32_t>(std::countr_zero(free));
      const std::uint32_t src = by_target ? other : one;
      const std::uint32_t dst = by_target ? one : other;
      if (!load.has_room(src, dst)) continue;
      load.add(src, dst);
      self(self, rest, others & ~(RankSet{1} << other), made + 1);
      load.remove(src, dst);
    }
    self(self, rest, others, made);
  };
  take(take, takers, all() & ~takers, 0);
  return best;
}

std::vector<RankPermutation> StepNetwork::symmetries() const {
  // A link is what it carries, and for whom: a bit for each pair.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> links(capacity_.size());
  for (std::uint32_t p = 0; p < links_.size(); ++p) {
    for (const std::uint32_t link : links_[p]) links[link].first |= std::uint64_t{1} << p;
  }
  for (std::size_t i = 0; i < links.size(); ++i) links[i].second = capacity_[i];
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  std::vector<RankPermutation> found;
  RankPermutation permutation{};
  std::iota(permutation.begin(), permutation.end(), std::uint8_t{0});
  const auto end = permutation.begin() + ranks_;
  do {
    const auto stays = [&](const std::pair<std::uint64_t, std::uint32_t>& link) {
      std::uint64_t moved = 0;
      for (std::uint64_t left = link.first; left != 0; left &= left - 1) {
        const auto p = static_cast<std::uint32_t>(std::countr_zero(left));
        moved |= std::uint64_t{1} << (permutation[p / ranks_] * ranks_ + permutation[p % ranks_]);
      }
      return std::binary_search(links.begin(), links.end(), std::pair(moved, link.second));
    };
    if (std::all_of(links.begin(), links.end(), stays)) found.push_back(permutation);
  } while (found.size() < kMostSymmetries && std::next_permutation(permutation.begin(), end));
  return found;
}

}  // namespace slackline::analysis
