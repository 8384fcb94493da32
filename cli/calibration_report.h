// A calibration as people, programs and platform files read it.
#pragma once

#include <string>
#include <vector>

#include "analysis/fit/calibrate.h"
#include "cli/answer.h"

namespace slackline::cli {

struct CalibrationRun {
  std::string file;  // the points'
  std::vector<analysis::MeasuredPoint> points;
  machine::Platform base;
  analysis::Calibration found;
};

/// The figures, how well each kind of point is met, and the outliers.
void answer_calibration(Answer& answer, const CalibrationRun& run);

/// The platform file, with where each figure is from.
std::string calibration_toml(const CalibrationRun& run);

/// One line per point: line,kind,bytes,messages,seconds,fitted_s,platform_s,residual,weight. The
/// residual is relative; where there is no equation, it and both times are empty.
std::string residual_csv(const CalibrationRun& run);

}  // namespace slackline::cli
