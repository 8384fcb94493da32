#include "sched/pattern/switch_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/split.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kMostRanks = 1u << 24;
constexpr std::size_t kMostLevels = 8;

std::uint32_t divided(std::uint32_t count, std::uint32_t by) { return (count - 1) / by + 1; }

// The members and, level by level, the switches above them.
std::vector<std::uint32_t> counts(std::uint32_t members,
                                  const std::vector<std::uint32_t>& fan_out) {
  std::vector<std::uint32_t> all{members};
  for (const std::uint32_t below : fan_out) all.push_back(divided(all.back(), below));
  return all;
}

std::uint64_t sum(const std::vector<std::uint32_t>& all) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : all) total += count;
  return total;
}

// The most members that need no more ranks with their switches, at least 1.
std::uint32_t most_members(std::uint32_t ranks, const std::vector<std::uint32_t>& fan_out) {
  std::uint32_t low = 1;
  std::uint32_t high = std::max(ranks, 1u);
  while (low < high) {
    const std::uint32_t middle = low + (high - low + 1) / 2;
    if (sum(counts(middle, fan_out)) <= ranks) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

SwitchRanks::SwitchRanks(std::uint32_t ranks, const SwitchOptions& options) : ranks_(ranks) {
  if (ranks == 1) {
    all_ = {{0, 1, 1}};
    return;
  }
  const std::vector<std::uint32_t> fan_out =
      options.fan_out.empty() ? std::vector<std::uint32_t>{ranks - 1} : options.fan_out;
  members_ = most_members(ranks, fan_out);
  const std::vector<std::uint32_t> all = counts(members_, fan_out);
  if (all.back() != 1) {
    throw InputError(
        fmt::format("fan-out: {} has {} switches at its last level for {} members; expected one",
                    fmt::join(fan_out, "x"), all.back(), members_));
  }
  if (sum(all) != ranks) {
    const std::vector<std::uint32_t> next = counts(members_ + 1, fan_out);
    const std::string otherwise =
        next.back() == 1 ? fmt::format("{} for {}", sum(next), members_ + 1) : "a larger fan-out";
    throw InputError(
        fmt::format("ranks: {} are no members with the switches of fan-out={}; expected {} for {} "
                    "members, or {}",
                    ranks, fmt::join(fan_out, "x"), sum(all), members_, otherwise));
  }
  std::uint32_t first = 0;
  for (std::size_t l = 0; l < all.size(); ++l) {
    all_.push_back({first, all[l], l == 0 ? 1 : fan_out[l - 1]});
    first += all[l];
  }
  if (members_ == 1) return;
  while (all_[levels_].count > 1) ++levels_;
}

std::uint32_t SwitchRanks::level_of(RankId rank) const {
  std::uint32_t level = 0;
  while (rank.value >= all_[level].first + all_[level].count) ++level;
  return level;
}

std::optional<RankId> SwitchRanks::above(RankId rank) const {
  const std::uint32_t level = level_of(rank);
  if (level >= levels_) return std::nullopt;
  const Level& next = all_[level + 1];
  return RankId(next.first + (rank.value - all_[level].first) / next.below);
}

std::vector<RankId> SwitchRanks::below(RankId rank) const {
  const std::uint32_t level = level_of(rank);
  std::vector<RankId> ranks;
  if (level == 0 || level > levels_) return ranks;
  const Level& under = all_[level - 1];
  const std::uint32_t begin = (rank.value - all_[level].first) * all_[level].below;
  const std::uint32_t end = std::min(begin + all_[level].below, under.count);
  for (std::uint32_t i = begin; i < end; ++i) ranks.emplace_back(under.first + i);
  return ranks;
}

std::uint32_t SwitchRanks::most_below() const {
  std::uint32_t most = 0;
  for (std::uint32_t l = 1; l <= levels_; ++l) {
    most = std::max(most, std::min(all_[l].below, all_[l - 1].count));
  }
  return most;
}

void SwitchRanks::require_member(RankId root) const {
  if (is_member(root)) return;
  throw InputError(fmt::format("root: {} is a switch; expected 0 to {}", root.value, members_ - 1));
}

void read_fan_out(const Option& option, std::string_view text, Spec& spec) {
  std::vector<std::uint32_t> fan_out;
  for (const std::string_view item : base::split(text, 'x')) {
    fan_out.push_back(static_cast<std::uint32_t>(parse_count(item, option.key, 1, kMostRanks)));
  }
  if (fan_out.size() > kMostLevels) {
    throw InputError(
        fmt::format("{}: {} levels; expected at most {}", option.key, fan_out.size(), kMostLevels));
  }
  spec.edit_own<SwitchOptions>().fan_out = std::move(fan_out);
}

std::string write_fan_out(const Option&, const Spec& spec) {
  return fmt::format("{}", fmt::join(spec.own<SwitchOptions>().fan_out, "x"));
}

}  // namespace slackline::sched
