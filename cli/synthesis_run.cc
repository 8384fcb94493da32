#include "cli/synthesis_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "analysis/synthesis/named_moves.h"
#include "analysis/synthesis/synthesize.h"
#include "base/error.h"
#include "engines/network.h"
#include "sched/verify.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kMostStarts = 12;
constexpr double kSame = 1e-9;  // of two times, less of a difference is rounding

std::vector<analysis::SynthesisStart> starts_of(const analysis::CollectiveTask& task,
                                                std::span<const analysis::Candidate* const> ranked,
                                                std::uint64_t most_moves) {
  std::vector<analysis::SynthesisStart> starts;
  for (const analysis::Candidate* const named : ranked) {
    if (starts.size() == kMostStarts) break;
    if (named->platform.placement != ranked.front()->platform.placement) continue;
    const sched::MulticastOptions& options = named->spec.multicast;
    analysis::CollectiveTask same = task;
    same.block_bytes = options.block_bytes;
    std::optional<analysis::NamedMoves> found =
        analysis::named_moves(same, options, named->name(), most_moves);
    if (!found) continue;
    starts.push_back({named->name(), options.block_bytes, std::move(found->moves), found->shares});
  }
  return starts;
}

// The sizes, none above `most`, each once.
std::vector<std::uint64_t> blocks_up_to(std::uint64_t most, std::vector<std::uint64_t> blocks) {
  for (std::uint64_t& block : blocks) {
    block = std::clamp<std::uint64_t>(block, 1, std::max<std::uint64_t>(1, most));
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

}  // namespace

SynthesisRun run_synthesis(const analysis::AdviceRequest& request,
                           std::span<const analysis::Candidate* const> ranked,
                           const SynthesisOptions& options, Console& console) {
  const analysis::Candidate& named = *ranked.front();
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
  synthesis.blocks = blocks_up_to(share, request.blocks);
  if (task.collective == analysis::Collective::kAllreduce) {
    synthesis.whole_blocks = blocks_up_to(request.bytes, request.blocks);
  }
  synthesis.starts = starts_of(task, ranked, synthesis.most_moves);
  synthesis.attempts = options.attempts;
  synthesis.improvements = options.improvements;
  synthesis.seed = options.seed;
  synthesis.jobs = options.jobs;
  synthesis.exact_nodes = options.exact_nodes;
  synthesis.descent_runs = options.descent_runs;

  const machine::Wiring wiring = engines::wiring_of_ranks(named.platform, request.ranks);
  analysis::Synthesized found =
      analysis::synthesize(synthesis, named.platform, wiring,
                           [&](std::string_view what, std::uint64_t done, std::uint64_t of) {
                             console.progress(what, done, of);
                           });
  sched::Schedule best = sched::compile(named.spec);
  const double named_s = analysis::run_flows({best, named.platform, wiring}).makespan_s();
  SynthesisReport report;
  // What it does in moves may take other turns, or too many moves. What is known is not lost.
  if (found.makespan_s > named_s * (1 + kSame)) {
    report.as_named = true;
    found.schedule = std::move(best);
    found.start = named.name();
    found.block_bytes = named.spec.multicast.block_bytes;
    found.makespan_s = named_s;
    found.improved = 0;
  }
  console.phase("proving");
  const sched::Diagnostics findings = sched::verify(found.schedule);
  if (has_errors(findings)) {  // a warning is that something comes twice
    throw InternalError(
        fmt::format("{}: it is not proved: {}", found.schedule.title(), findings.front().message));
  }
  report.title = found.schedule.title();
  report.digest = to_string(found.schedule.digest());
  report.start = found.start;
  report.block_bytes = found.block_bytes;
  report.makespan_s = found.makespan_s;
  report.greedy_s = found.greedy_s;
  report.named_s = named_s;
  report.attempts = found.attempts;
  report.improved = found.improved;
  report.sizes_left = found.sizes_left;
  report.exact = std::move(found.exact);
  report.descent = found.descent;
  if (options.exact_nodes) {
    // An allreduce of one block is searched beside those of these sizes.
    const bool in_halves = task.collective == analysis::Collective::kAllreduce;
    const auto searched =
        std::count_if(report.exact.begin(), report.exact.end(),
                      [&](const auto& size) { return size.halves == (in_halves ? 2u : 1u); });
    report.exact_left = synthesis.blocks.size() - static_cast<std::size_t>(searched);
  }
  return {std::move(found.schedule), std::move(report)};
}

}  // namespace slackline::cli
