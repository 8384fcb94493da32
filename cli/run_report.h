// What `run` says of a real run, as a table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/link_use.h"
#include "cli/run_figures.h"
#include "hw/rank_facts.h"
#include "hw/run.h"
#include "machine/delays.h"

namespace slackline::cli {

struct RealRun {
  std::string transport;  // as the transport calls itself
  const hw::RunOptions& options;
  const hw::RunResult& result;
  RunFigures figures;
  const std::vector<hw::RankFacts>& facts;
  LinkUse use;
  std::optional<std::string> trace_file;
  std::vector<machine::IdleEntry> without_effect;  // of the options' delays
};

/// Of people who do not want all, one row per rank up to a few; of others also where each ran.
void answer_run(Answer& answer, const RealRun& run);

}  // namespace slackline::cli
