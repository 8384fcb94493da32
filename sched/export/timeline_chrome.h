#pragma once

#include <span>
#include <string>

#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// Chrome's trace events (JSON), which Perfetto shows: a process per rank; a thread per CPU lane,
/// whose number is the lane's; further threads for the NIC's two directions and for what only
/// waits. Times are in µs.
///
/// What stands where, timeline_intervals.h says; rows of a track are threads of the same name, with
/// the NIC's number where hosts have several. An arrow leads from each message to its receive.
std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace,
                                  const TimelineNics& nics = {});

/// The same with the slack of every operation, in seconds, among its arguments: `total_float_us`
/// and `free_float_us`.
std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace,
                                  std::span<const double> total_float_s,
                                  std::span<const double> free_float_s,
                                  const TimelineNics& nics = {});

struct LabelledTrace {
  std::string label;  // for people
  const Trace& trace;
  TimelineNics nics = {};
};

/// Several runs of one schedule in one timeline, each with a process per rank, named "rank 3,
/// label"; those of a rank stand beside each other. Throws InputError if a trace is of another
/// schedule.
std::string write_chrome_overlay(const Schedule& schedule, std::span<const LabelledTrace> traces);

}  // namespace slackline::sched
