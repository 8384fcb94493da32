// What `slack --suggest` says: delays that make the whole faster.
#pragma once

#include <optional>
#include <string>

#include "analysis/slack/helpful_delays.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// The run with what is suggested, and the run without, on another engine.
struct Confirmation {
  std::string engine;
  double without_s = 0;
  double with_s = 0;
};

struct Suggestion {
  const analysis::HelpfulDelays& found;
  std::optional<Confirmation> confirmed;  // nothing without that engine, or if nothing helps
};
std::string suggestion_report(const LoadedSchedule& loaded, const SlackRun& run,
                              const Suggestion& suggestion, bool all);
std::string suggestion_document(const LoadedSchedule& loaded, const SlackRun& run,
                                const Suggestion& suggestion);

}  // namespace slackline::cli
