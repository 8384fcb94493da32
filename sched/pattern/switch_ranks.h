// The ranks of a pattern that has switches among them: members, and the tree of switches above
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sched/pattern/option.h"

namespace slackline::sched {

struct SwitchOptions {
  /// How many are below a switch of each level, from the leaf switches on; empty: one switch above
  /// all members.
  std::vector<std::uint32_t> fan_out;
};

/// Members come first, in the order of their leaf switches, then the switches, level by level. A
/// machine::Platform says with its figure `switches` which switch each of them is.
class SwitchRanks {
 public:
  /// Of so many ranks in all. One rank alone is a member without switches. Throws InputError if no
  /// number of members makes as many ranks with its switches, or if the tree is too small.
  SwitchRanks(std::uint32_t ranks, const SwitchOptions& options);

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t members() const { return members_; }
  bool is_member(RankId rank) const { return rank.value < members_; }
  /// The switch above a rank; nothing above the top, which is the lowest switch that all members
  /// are below, or of a switch above that.
  std::optional<RankId> above(RankId rank) const;
  /// The ranks below a switch, in order.
  std::vector<RankId> below(RankId rank) const;
  /// How many levels of switches the members need: 0 if there is one member.
  std::uint32_t levels() const { return levels_; }
  /// The most that are below any switch.
  std::uint32_t most_below() const;
  /// Throws InputError if the root is a switch.
  void require_member(RankId root) const;

 private:
  struct Level {
    std::uint32_t first = 0;  // rank
    std::uint32_t count = 0;
    std::uint32_t below = 1;  // each but the last, which has what is left
  };
  std::uint32_t level_of(RankId rank) const;

  std::uint32_t ranks_;
  std::uint32_t members_ = 1;
  std::uint32_t levels_ = 0;
  std::vector<Level> all_;  // the first is the members'
};

/// Whole numbers from 1 on, joined by x. Throws InputError.
void read_fan_out(const Option& option, std::string_view text, Spec& spec);
std::string write_fan_out(const Option& option, const Spec& spec);

inline constexpr Option kFanOutOption =
    Option{"fan-out", "numbers such as 4x2",
           "switches: how many are below one of each level, leaves first", read_fan_out,
           write_fan_out}
        .or_else("one switch");

}  // namespace slackline::sched
