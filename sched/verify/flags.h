// Which polls share a flag.
#pragma once

#include <vector>

#include "sched/schedule.h"
#include "sched/verify/findings.h"
#include "sched/verify/segments.h"

namespace slackline::sched {

/// Reports `flag` for polls that look at some bytes of another's flag, but not at the same. Answers
/// which polls lower their flag, by operation: a later one looks at it. Empty if none does.
std::vector<bool> check_shared_flags(const Schedule& schedule, const SegmentTable& segments,
                                     Findings& findings);

}  // namespace slackline::sched
