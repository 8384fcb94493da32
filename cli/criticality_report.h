// What `slack --samples` says: how often each operation and each rank is on the critical path.
#pragma once

#include <optional>
#include <string>

#include "analysis/slack/criticality.h"
#include "cli/answer.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"

namespace slackline::cli {

/// `no_promise` is cli::why_no_promise() of the run.
void answer_criticality(Answer& answer, const LoadedSchedule& loaded, const RunSetting& setting,
                        const analysis::Criticality& found,
                        const std::optional<std::string>& no_promise);

}  // namespace slackline::cli
