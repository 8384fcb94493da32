// What `group` says of a group whose member is killed, as tables and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/group/failure_run.h"
#include "cli/answer.h"

namespace slackline::cli {

struct SimulatedGroup {
  const analysis::GroupScenario& scenario;
  const std::vector<std::uint64_t>& sizes;  // that messages have by turns
  const analysis::GroupRun& run;
  const machine::Platform& platform;
  std::string delays;  // in words; empty if there are none
};

void answer_group(Answer& answer, const SimulatedGroup& group);

}  // namespace slackline::cli
