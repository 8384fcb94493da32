// A GOAL program as it stands in its file, text or bytes, without its meaning.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "sched/op.h"

namespace slackline::sched {

struct GoalStatement {
  OpKind kind = OpKind::kCalc;  // send, recv or calc
  std::uint16_t cpu = 0;
  std::uint8_t nic = 0;      // send, recv
  std::uint32_t at = 0;      // its line, or where its bytes begin
  std::uint32_t peer = 0;    // send, recv
  std::uint32_t tag = 0;     // send, recv
  std::uint64_t amount = 0;  // bytes, or nanoseconds
  std::string_view label;    // empty if it has none
};

/// succ requires (done) or irequires (issued) pred, as indices of statements of one rank.
struct GoalDependency {
  std::uint32_t pred = 0;
  std::uint32_t succ = 0;
  On on = On::kDone;
};

struct GoalRank {
  std::vector<GoalStatement> statements;  // as they stand
  std::vector<GoalDependency> dependencies;
};

struct GoalProgram {
  std::vector<GoalRank> ranks;  // in order, all of them
  bool binary = false;          // `at` counts bytes
};

inline constexpr std::uint32_t kMostGoalRanks = 1u << 24;
inline constexpr std::uint64_t kMostGoalBytes = std::numeric_limits<std::int64_t>::max();
/// What a schedule's times hold.
inline constexpr std::uint64_t kMostGoalNanoseconds =
    std::numeric_limits<std::int64_t>::max() / 1000;

}  // namespace slackline::sched
