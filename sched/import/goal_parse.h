// The grammar of GOAL, without its meaning.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sched/op.h"

namespace slackline::sched {

struct GoalStatement {
  OpKind kind = OpKind::kCalc;  // send, recv or calc
  std::uint16_t cpu = 0;
  std::uint32_t line = 0;
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

/// The ranks of a program, in order, all of them. Labels are views of `text`. Throws InputError and
/// Unsupported as read_goal() says for what shows without looking across statements.
std::vector<GoalRank> parse_goal(std::string_view text, std::string_view file);

}  // namespace slackline::sched
