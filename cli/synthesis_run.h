// Synthesizes beside named patterns, and proves what came of it.
#pragma once

#include <cstdint>

#include "analysis/advice/advise.h"
#include "cli/console.h"
#include "cli/synthesis_report.h"
#include "sched/schedule.h"

namespace slackline::cli {

struct SynthesisOptions {
  std::uint32_t attempts = 24;       // of each block size
  std::uint32_t improvements = 200;  // changes tried on the best
  std::uint64_t seed = 0;
  std::uint32_t jobs = 1;
};

struct SynthesisRun {
  sched::Schedule schedule;
  SynthesisReport report;
};

/// On the platform of `named`, the best named pattern, with the request's block sizes. Throws what
/// analysis::synthesize() does.
SynthesisRun run_synthesis(const analysis::AdviceRequest& request, const analysis::Candidate& named,
                           const SynthesisOptions& options, Console& console);

}  // namespace slackline::cli
