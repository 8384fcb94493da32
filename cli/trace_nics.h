// The NICs that a run's messages took, for timelines.
#pragma once

#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::cli {

/// By the hosts that the trace tells of (machine::node_of_trace()): none where they have one NIC
/// each.
sched::TimelineNics nics_of(const sched::Schedule& schedule, const sched::Trace& trace);

}  // namespace slackline::cli
