#pragma once

#include <string>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// Columns op,rank,kind,step,ready_s,issued_s,wire_s,done_s,cause: a row per operation, in order.
/// Times are exact; "inf" is a time that never came. `cause` is empty where nothing was waited for.
std::string write_csv_timeline(const Schedule& schedule, const Trace& trace);

}  // namespace slackline::sched
