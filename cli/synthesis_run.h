// Synthesizes beside named patterns, and proves what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/advice/advise.h"
#include "cli/console.h"
#include "cli/synthesis_report.h"
#include "sched/schedule.h"

namespace slackline::cli {

struct SynthesisOptions {
  std::uint32_t attempts = 100;       // of each block size
  std::uint32_t improvements = 1000;  // changes tried on each of the best
  std::uint64_t seed = 0;
  std::uint32_t jobs = 1;
  std::optional<std::uint64_t> exact_nodes;  // of a search for the fewest steps, if it is wanted
  std::uint64_t descent_runs = 0;            // 0: none
};

struct SynthesisRun {
  sched::Schedule schedule;
  SynthesisReport report;
};

/// On the platform of the best named pattern, the first of `ranked`, with the request's block
/// sizes, and beginning also with the first few that are on it. Throws what analysis::synthesize()
/// does.
SynthesisRun run_synthesis(const analysis::AdviceRequest& request,
                           std::span<const analysis::Candidate* const> ranked,
                           const SynthesisOptions& options, Console& console);

}  // namespace slackline::cli
