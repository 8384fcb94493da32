// The grammar of GOAL as text.
#pragma once

#include <string_view>

#include "sched/import/goal_program.h"

namespace slackline::sched {

/// The program of a text. Labels are views of it. Throws InputError and Unsupported as read_goal()
/// says for what shows without looking across statements.
GoalProgram parse_goal(std::string_view text, std::string_view file);

}  // namespace slackline::sched
