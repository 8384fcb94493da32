#pragma once

#include "base/sink.h"
#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// Perfetto's own trace, a sequence of TracePackets (protocol buffers), for ui.perfetto.dev and its
/// trace processor: a process per rank, a thread per CPU lane, and tracks of the process for the
/// NIC's two directions and for what only waits. What stands where, timeline_intervals.h says.
///
/// Times are whole ns, rounded, up to 292 years. Slices have the kind as their name ("send", "post
/// send") and `op`, `step` and `bytes` as arguments; posts have `op` alone. A flow leads from each
/// message to its receive; its number is the message's operation plus one. Names are interned.
/// Beside the schedule and the trace, it holds the intervals of one rank at a time.
void write_perfetto_timeline(const Schedule& schedule, const Trace& trace, const Sink& out,
                             const TimelineNics& nics = {});

}  // namespace slackline::sched
