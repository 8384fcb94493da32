// When a message gives its NIC's ports back: rules that the execution of schedules
// (machine/run/execution_messages.cc) and programs that decide as they run
// (analysis/stealing/steal_run.cc) share.
#pragma once

#include "machine/event_queue.h"
#include "machine/port_arbiter.h"

namespace slackline::machine {

/// Whether what comes at `time_s` is an event to come. Otherwise it belongs to the instant at hand,
/// which takes what comes less than kInstant_s after it: a sum of other durations may be a
/// rounding error later. (Where a double has no picoseconds, only what comes at the very time.)
inline bool is_later(double now_s, double time_s) {
  return time_s > now_s && time_s >= now_s + kInstant_s;
}

/// A message starts that holds no port to its end: one without bytes, or of a fair NIC. Its
/// in-port is free at once, its out-port after the gap. `later(free_s)` is told if that, or who is
/// next in the queue, is for an event; otherwise it is free now.
template <class Later>
void free_ports_at_start(PortArbiter& ports, const PortArbiter::Start& start, double now_s,
                         double gap_s, Later later) {
  ports.free_in(start.dst);
  const double free_s = now_s + gap_s;
  if (free_s > now_s || ports.has_queued(start.src)) {
    later(free_s);
  } else {
    ports.free_out(now_s, start.src);
  }
}

/// A message has left, or was lost, that held both ports since `start_s`: one with bytes, of a
/// serial NIC. Its in-port is free, and so is its out-port if the gap since its start is over;
/// otherwise `later(free_s)` is told.
template <class Later>
void free_ports_at_end(PortArbiter& ports, NicId src, NicId dst, double start_s, double now_s,
                       double gap_s, Later later) {
  ports.free_in(dst);
  const double free_s = start_s + gap_s;
  if (free_s < now_s + kInstant_s) {
    ports.free_out(now_s, src);
  } else {
    later(free_s);
  }
}

}  // namespace slackline::machine
