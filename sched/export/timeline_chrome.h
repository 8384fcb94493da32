#pragma once

#include <span>
#include <string>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// Chrome's trace events (JSON), which Perfetto shows: a process per rank; a thread per CPU lane,
/// whose number is the lane's; further threads for the NIC's two directions and for what only
/// waits. Times are in µs.
///
/// On a lane stand posts (from when the operation was ready and its lane free until it was issued)
/// and calc, copy and reduce (from issued to done). On "nic out" stand messages from the first byte
/// on the wire until the operation is done, which for a send is its acknowledgement; on "nic in"
/// receives, from the first byte on the wire or the receive's post, whichever is later, until done.
/// Where these overlap they go on further threads of the same name. An arrow leads from each
/// message to its receive. What never happened is left out.
std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace);

/// The same with the slack of every operation, in seconds, among its arguments: `total_float_us`
/// and `free_float_us`.
std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace,
                                  std::span<const double> total_float_s,
                                  std::span<const double> free_float_s);

struct LabelledTrace {
  std::string label;  // for people
  const Trace& trace;
};

/// Several runs of one schedule in one timeline, each with a process per rank, named "rank 3,
/// label"; those of a rank stand beside each other. Throws InputError if a trace is of another
/// schedule.
std::string write_chrome_overlay(const Schedule& schedule, std::span<const LabelledTrace> traces);

}  // namespace slackline::sched
