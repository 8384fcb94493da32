#include "analysis/synthesis/sum_sizes.h"

#include <algorithm>

namespace slackline::analysis {
namespace {

constexpr std::uint32_t kNobody = 0xffffffffu;

std::uint64_t bit(std::uint32_t place) { return std::uint64_t{1} << place; }

}  // namespace

bool may_have_all(std::uint32_t ranks, std::uint32_t has, std::uint32_t largest,
                  std::uint32_t left) {
  if (has == ranks) return true;
  return left != 0 && (has + largest * (bit(left) - 1) >= ranks ||
                       std::uint64_t{largest} << (left - 1) >= ranks);
}

bool SumSizes::may_end(std::vector<SumSize> ranks, std::uint32_t steps) {
  std::ranges::sort(ranks);
  if (ranks.front().has == ranks_) return true;
  // Every number of steps is enough that lets all tell the first, and it all others.
  if (steps >= 2 * (ranks_ - 1)) return true;
  if (!may_have_all(ranks_, ranks.front().has, ranks.back().has, steps)) return false;
  const auto [place, is_new] = known_.try_emplace({ranks, steps}, false);
  if (!is_new) return place->second;
  Step step{ranks, ranks, steps, std::vector<std::uint32_t>(ranks.size()),
            std::vector<std::uint32_t>(ranks.size(), kNobody)};
  place->second = choose(step, 0);
  return place->second;
}

// What the receivers from that on are told. Of ranks that are alike, the later one is told no less.
bool SumSizes::choose(Step& step, std::uint32_t receiver) {
  if (receiver == step.before.size()) return may_end(step.after, step.left - 1);
  const SumSize& before = step.before[receiver];
  const bool is_alike = receiver != 0 && step.before[receiver - 1] == before;
  for (std::uint32_t told = is_alike ? step.told[receiver - 1] : 0; told <= ranks_; ++told) {
    const std::vector<std::uint32_t> tells = step.tells;
    step.told[receiver] = told;
    std::uint64_t tried = 0;
    if (told != 0 && !find_sender(step, receiver, tried)) continue;
    // It is added, or it has all terms that the rank has, and takes the place of its sum.
    if (becomes(step, receiver, before.has + told)) return true;
    if (told > before.has && becomes(step, receiver, told)) return true;
    step.tells = tells;
  }
  return false;
}

bool SumSizes::becomes(Step& step, std::uint32_t receiver, std::uint32_t has) {
  const std::uint32_t largest = std::min(2 * step.before.back().has, ranks_);
  if (has > ranks_ || !may_have_all(ranks_, has, largest, step.left - 1)) return false;
  step.after[receiver] = {has, step.before[receiver].tells | bit(has)};
  return choose(step, receiver + 1);
}

// A sender of its own for each receiver: augmenting paths, as for any bipartite matching.
bool SumSizes::find_sender(Step& step, std::uint32_t receiver, std::uint64_t& tried) {
  for (std::uint32_t s = 0; s < step.before.size(); ++s) {
    if (s == receiver || (tried & bit(s)) != 0) continue;
    if ((step.before[s].tells & bit(step.told[receiver])) == 0) continue;
    tried |= bit(s);
    if (step.tells[s] != kNobody && !find_sender(step, step.tells[s], tried)) continue;
    step.tells[s] = receiver;
    return true;
  }
  return false;
}

}  // namespace slackline::analysis
