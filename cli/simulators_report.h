// What every simulator says of one schedule.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "cli/console.h"
#include "cli/schedule_source.h"
#include "machine/platform.h"

namespace slackline::cli {

struct SimulatorMakespan {
  std::string name;
  std::optional<double> makespan_s;  // none: it refuses the schedule, or the platform
  std::string remark;                // what it knows nothing of, or why it refuses
};

/// The engines, and simulators of others, of "flow,loggopsim"; of "all" those that are there.
/// Throws InputError for a name that is not known, or given twice; EnvironmentError for one that is
/// not installed.
std::vector<std::string> simulator_names(std::string_view list);

/// What each of them says. What one refuses is no error of the others.
std::vector<SimulatorMakespan> ask_simulators(const std::vector<std::string>& names,
                                              const LoadedSchedule& loaded,
                                              const machine::Platform& platform, Console& console);

/// Whether all that answered say the first one's makespan, but for such a share of it.
bool agree_within(const std::vector<SimulatorMakespan>& said, double share);

void answer_simulators(Answer& answer, const machine::Platform& platform,
                       const std::vector<SimulatorMakespan>& said,
                       const std::optional<double>& within);

}  // namespace slackline::cli
