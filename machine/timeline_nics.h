// The NICs that the messages of a schedule take on a machine, for timelines.
#pragma once

#include <string>

#include "machine/node.h"
#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// By the rails and the scale-up network of hosts as `node` has them; none where each host has one
/// NIC and no such network.
sched::TimelineNics timeline_nics(const sched::Schedule& schedule, const Node& node);

/// What the engine of a real run's trace says of hosts with several NICs, behind the transport:
/// ",rails=2,rail=channel,ranks_per_node=1". Nothing where each host has one.
std::string rails_of_run(const Node& node);

/// The hosts that a trace tells of, by its platform or, of a real run, by its engine. Of no other
/// platform than one of several NICs, or of a network within its hosts, anything is read, since its
/// files may have gone: then hosts have one NIC each. Throws InputError for what is no platform.
Node node_of_trace(const sched::Trace& trace);

}  // namespace slackline::machine
