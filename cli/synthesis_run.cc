#include "cli/synthesis_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "analysis/synthesis/synthesize.h"
#include "base/error.h"
#include "engines/network.h"
#include "sched/verify.h"

namespace slackline::cli {

SynthesisRun run_synthesis(const analysis::AdviceRequest& request, const analysis::Candidate& named,
                           const SynthesisOptions& options, Console& console) {
  analysis::SynthesisRequest synthesis;
  analysis::CollectiveTask& task = synthesis.task;
  if (!request.collective.empty()) {
    task.collective = analysis::collective_named(request.collective);
  }
  task.ranks = request.ranks;
  task.bytes = request.bytes;
  // Blocks above a share of what is summed come to the same.
  const std::uint64_t share = analysis::has_reducing(task.collective)
                                  ? (request.bytes - 1) / request.ranks + 1
                                  : request.bytes;
  for (const std::uint64_t block : request.blocks) {
    synthesis.blocks.push_back(
        std::clamp<std::uint64_t>(block, 1, std::max<std::uint64_t>(1, share)));
  }
  std::sort(synthesis.blocks.begin(), synthesis.blocks.end());
  synthesis.blocks.erase(std::unique(synthesis.blocks.begin(), synthesis.blocks.end()),
                         synthesis.blocks.end());
  synthesis.attempts = options.attempts;
  synthesis.improvements = options.improvements;
  synthesis.seed = options.seed;
  synthesis.jobs = options.jobs;

  const machine::Wiring wiring = engines::wiring_of_ranks(named.platform, request.ranks);
  analysis::Synthesized found =
      analysis::synthesize(synthesis, named.platform, wiring,
                           [&](std::string_view what, std::uint64_t done, std::uint64_t of) {
                             console.progress(what, done, of);
                           });
  console.phase("proving");
  const sched::Diagnostics findings = sched::verify(found.schedule);
  if (!findings.empty()) {
    throw InternalError(
        fmt::format("{}: it is not proved: {}", found.schedule.title(), findings.front().message));
  }
  const sched::Schedule best = sched::compile(named.spec);
  const double named_s = analysis::run_flows({best, named.platform, wiring}).makespan_s();
  SynthesisReport report{found.schedule.title(), to_string(found.schedule.digest()),
                         found.block_bytes,      found.makespan_s,
                         found.greedy_s,         named_s,
                         found.attempts,         found.improved,
                         found.sizes_left};
  return {std::move(found.schedule), std::move(report)};
}

}  // namespace slackline::cli
