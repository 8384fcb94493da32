// What passes ask that renumber operations.
#pragma once

#include <string_view>

#include "sched/schedule.h"

namespace slackline::sched {

/// Throws Unsupported, naming `pass` and the operation, if one takes another's result: operands
/// name operations, whose numbers change. None of the lowered patterns has any.
void require_no_results(const Schedule& schedule, std::string_view pass);

}  // namespace slackline::sched
