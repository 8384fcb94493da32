// `validate --on run`: slack held against runs of this machine that were really delayed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/slack/measured_trials.h"
#include "cli/console.h"
#include "cli/joining.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/validation_report.h"

namespace slackline::cli {

struct MeasuredValidation {
  std::string on;  // "run:shm"
  std::vector<DelayPrediction> predictions;
  analysis::MeasuredTrials trials;
  double waited_s = 0;       // RealRepeats::waited_s
  double clock_error_s = 0;  // RealRepeats::clock_error_s
};

struct MeasuredValidationOptions {
  std::uint32_t repeats = 5;
  /// Also predict by running it on the setting's platform and engine.
  bool by_platform = false;
  hw::Waiting waiting = hw::Waiting::kPolling;
  /// Which operations to delay by how much, from the predicted floats and the undelayed makespan.
  std::function<std::vector<machine::OpDelay>(std::span<const double> float_s, double makespan_s)>
      choose;
};

/// What rank 0 does when the ranks have joined; the others hw::follow(). The first prediction is
/// the median, over undelayed runs, of each one's observed_slack().
MeasuredValidation validate_here(const LoadedSchedule& loaded, const RunSetting& setting,
                                 const MeasuredValidationOptions& options, const JoinedRank& joined,
                                 Console& console);

}  // namespace slackline::cli
