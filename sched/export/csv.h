#pragma once

#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// Columns step,src,dst,offset,bytes,block: a row per data message (sched/export/messages.h),
/// ordered by (step, src, dst, operation). Offsets and bytes are in the message; `block` is the
/// offset over the largest message. Static schedules only.
std::string write_csv(const Schedule& schedule);

}  // namespace slackline::sched
