// Measured points, from the event engine in the place of a machine.
#pragma once

#include "analysis/engines/event_engine.h"
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

}  // namespace slackline::testing
