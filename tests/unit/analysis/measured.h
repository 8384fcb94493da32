// Measured points, from the event engine in the place of a machine.
#pragma once

#include "analysis/engines/event_engine.h"
#include "analysis/fit/calibrate.h"
#include "analysis/fit/calibration_points.h"
#include "analysis/fit/measuring_schedule.h"
#include "machine/platform.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

using analysis::MeasuredPoint;
using analysis::PointKind;

inline MeasuredPoint measured(PointKind kind, std::uint64_t bytes, std::uint64_t messages,
                              const machine::Platform& platform) {
  const analysis::Measurement one{kind, bytes, messages};
  const analysis::MeasuringSchedule measuring = analysis::measuring_schedule({&one, 1});
  return points_of(measuring, analysis::run_events({measuring.schedule, platform})).front();
}

/// What a calibration of such points should find, in the figure's unit; the start of a copy, which
/// platforms do not have, takes no time.
inline double truth_of(analysis::CalibratedFigure figure, const machine::Platform& p) {
  using Figure = analysis::CalibratedFigure;
  switch (figure) {
    case Figure::kPost:
      return sched::seconds(p.o_post);
    case Figure::kComplete:
      return sched::seconds(p.o_complete);
    case Figure::kGap:
      return sched::seconds(p.gap);
    case Figure::kLatency:
      return sched::seconds(p.latency);
    case Figure::kRate:
      return p.rate.bytes_per_second();
    case Figure::kAtomicService:
      return sched::seconds(p.atomic_service);
    case Figure::kCopyRate:
      return p.copy_rate.bytes_per_second();
    case Figure::kCopyStart:
      return 0;
    case Figure::kPostRecv:
      return sched::seconds(p.post_of_receive());
    case Figure::kSignal:
      return sched::seconds(p.o_signal);
    case Figure::kPoll:
      return sched::seconds(p.o_poll);
    case Figure::kMatch:
      return sched::seconds(p.o_match);
    case Figure::kInterleave:
      return static_cast<double>(p.interleave_bytes);
  }
  return 0;
}

}  // namespace slackline::testing
