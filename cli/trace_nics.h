// The NICs that a run's messages took, for timelines.
#pragma once

#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::cli {

/// By the platform that the trace names: none where its hosts have one NIC each, or it names no
/// platform, as those of real runs.
sched::TimelineNics nics_of(const sched::Schedule& schedule, const sched::Trace& trace);

}  // namespace slackline::cli
