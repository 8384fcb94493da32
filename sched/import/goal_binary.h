#pragma once

#include <string_view>

#include "sched/import/goal_program.h"

namespace slackline::sched {

/// The program of bytes, in the form that sched/export/goal_binary.h states. Throws InputError,
/// naming file and byte, on what is not in that form: bytes that end too early or are left over,
/// blocks out of order, numbers that do not agree with each other. LogGOPSim believes all of them.
/// Throws Unsupported on the wildcard −1.
GoalProgram parse_goal_binary(std::string_view bytes, std::string_view file);

/// Whether `bytes` begin as GOAL's binary form does.
bool looks_like_goal_binary(std::string_view bytes);

}  // namespace slackline::sched
