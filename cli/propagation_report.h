// What `slack --propagate` says: what a delay does to every rank, and what every delay costs.
#pragma once

#include <optional>

#include "analysis/slack/propagation.h"
#include "cli/answer.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// The run that was really delayed, beside the one that is foretold.
struct RealDelay {
  double makespan_later_s = 0;
  std::vector<double> rank_later_s;
  /// The largest difference of any operation's end from what was foretold.
  double largest_difference_s = 0;
  bool as_foretold = false;  // that difference is rounding
};

/// One delay of one operation.
struct Propagated {
  machine::OpDelay delay;
  analysis::DelayEffect effect;
  const analysis::Propagation& propagation;
  std::optional<RealDelay> really;  // nothing: the engine of this run is not known
};

/// Runs it with the delay too, if the engine is not null.
Propagated propagate(const LoadedSchedule& loaded, const SlackRun& before,
                     const analysis::Propagation& propagation, const machine::OpDelay& delay,
                     const machine::Engine* engine);
void answer_propagation(Answer& answer, const SlackRun& run, const Propagated& propagated);

/// What the same delay costs at each operation alone.
struct DelayCosts {
  sched::Time by{0};
  bool whole_lane = false;
  double makespan_s = 0;                   // without any
  std::vector<double> makespan_later_s;    // of every operation
  std::vector<std::uint64_t> ranks_later;  // how many finish later
  std::vector<double> rank_later_mean_s;   // over all ranks
};
DelayCosts delay_costs(const LoadedSchedule& loaded, const analysis::Propagation& propagation,
                       sched::Time by, bool whole_lane, std::uint32_t jobs, Console& console);
void answer_delay_costs(Answer& answer, const SlackRun& run, const DelayCosts& costs);

}  // namespace slackline::cli
