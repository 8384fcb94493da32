// What `slack --suggest` says: delays that make the whole faster.
#pragma once

#include <optional>
#include <string>

#include "analysis/slack/helpful_delays.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// The run with what is suggested, and the run without, on another engine.
struct Confirmation {
  std::string engine;
  double without_s = 0;
  double with_s = 0;
};

/// `confirmed` is nothing without that engine, and if nothing helps.
void answer_suggestion(Answer& answer, const SlackRun& run, const analysis::HelpfulDelays& found,
                       const std::optional<Confirmation>& confirmed);

}  // namespace slackline::cli
