// The NICs that the messages of a schedule take on a machine, for timelines.
#pragma once

#include "machine/node.h"
#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// By the rails and the scale-up network of hosts as `node` has them; none where each host has one
/// NIC and no such network.
sched::TimelineNics timeline_nics(const sched::Schedule& schedule, const Node& node);

}  // namespace slackline::machine
