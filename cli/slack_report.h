// What `slack` says of one run, as tables, as JSON and as pictures.
#pragma once

#include <string>

#include "analysis/slack/fixed_order.h"
#include "analysis/slack/step_slack.h"
#include "analysis/slack/timed_slack.h"
#include "cli/answer.h"
#include "cli/schedule_source.h"
#include "cli/slack_run.h"

namespace slackline::cli {

struct FoundSlack {
  analysis::StepSlack steps;
  analysis::TimedSlack timed;
  analysis::FixedOrder order;
};

void answer_slack(Answer& answer, const SlackRun& run, const FoundSlack& found);

/// Least total float over rank and step, as SVG; its title says so if floats are no promise. Throws
/// EnvironmentError without gnuplot.
std::string slack_heat_map(const LoadedSchedule& loaded, const analysis::TimedSlack& timed,
                           bool no_promise);

}  // namespace slackline::cli
