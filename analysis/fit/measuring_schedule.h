// The schedule that takes measured points: of two ranks, one measurement after the other, so that
// one run, on an engine or on a machine, answers all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/fit/calibration_points.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

inline constexpr std::uint64_t kMeasuringMemory = std::uint64_t{64} << 20;

/// A measurement to take.
struct Measurement {
  PointKind kind = PointKind::kPingpong;
  std::uint64_t bytes = 0;  // of each message or copy; an atomic's are kAtomicBytes
  std::uint64_t messages = 1;
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

struct MeasuringSchedule {
  /// Where a measurement stands in the schedule: its clock runs from ready(first) to done(last), or
  /// to issued(last) of those that end with a post.
  struct Place {
    Measurement measurement;
    sched::OpId first;
    sched::OpId last;
  };
  sched::Schedule schedule;
  std::vector<Place> places;
};

/// Each is as analysis/fit/calibration_points.h has it, and begins when the one before is over at
/// both ranks. Messages go through `memory_bytes` at each rank, or as much as the largest
/// measurement takes, one behind the other: how much of that a cache holds is part of what is
/// measured. The schedule can be proved. Throws InputError for more messages in a burst than a rank
/// has lanes, 65536, and for a measurement of none.
MeasuringSchedule measuring_schedule(std::span<const Measurement> measurements,
                                     std::uint64_t memory_bytes = kMeasuringMemory);

/// When a trace says that a post was issued: when it is over, as the machine model has it, or, as
/// the executor reads its clock (hw/executor.h), just before. Of m posts that one has timed m − 1.
enum class Issued : std::uint8_t { kAfterThePost, kBeforeThePost };

/// What a run came to, in the order of the measurements; 0 s where nothing took time. Of posts of
/// which the last was not timed, it is taken to be as long as the others. Throws InputError unless
/// the trace is a complete run of the schedule.
std::vector<MeasuredPoint> points_of(const MeasuringSchedule& measuring, const sched::Trace& trace,
                                     Issued issued = Issued::kAfterThePost);

}  // namespace slackline::analysis
