// Which bytes a poll looks at: the part of the rule on flags (sched/op.h) that needs no order of
// operations. The verifier, the simulators and the executor all go by it.
#pragma once

#include <optional>
#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// What is wrong with the bytes that a poll looks at, in one line that names it; nothing if they
/// are the last ones that its put writes. A poll without a put is not judged by where they are.
std::optional<std::string> flag_fault(const Schedule& schedule, OpId poll);

/// What is wrong with the flags of two polls that share bytes, in one line; nothing if they are the
/// same bytes. flag_fault() must find nothing in either.
std::optional<std::string> overlap_fault(const Schedule& schedule, OpId before, OpId poll);

}  // namespace slackline::sched
