#pragma once

#include "base/sink.h"
#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// A Paje trace, as SimGrid writes and ViTE and PajeNG read: a container per rank, and in it one
/// for each CPU lane, for the rows of the NIC's two directions and for what only waits. What stands
/// where, timeline_intervals.h says.
///
/// Times are seconds, with twelve places. States are of the kind of operation ("send", "post send")
/// and have the fields Op, Step and Bytes. A link leads from each message's first byte on the wire
/// to when its receive was done, with the message's operation as its key. Events stand in the order
/// of their times, so that all intervals are held at once.
void write_paje_timeline(const Schedule& schedule, const Trace& trace, const Sink& out,
                         const TimelineNics& nics = {});

}  // namespace slackline::sched
