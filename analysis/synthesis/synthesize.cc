#include "analysis/synthesis/synthesize.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/engines/flow_engine.h"
#include "analysis/in_threads.h"
#include "analysis/synthesis/greedy.h"
#include "analysis/synthesis/improve.h"
#include "analysis/synthesis/ways.h"
#include "base/error.h"
#include "base/mix.h"
#include "base/units.h"

namespace slackline::analysis {
namespace {

struct Attempt {
  std::uint64_t block_bytes = 1;
  std::uint64_t number = 0;  // of its size
  CollectiveMoves moves;
  double makespan_s = 0;
};

std::string title_of(const CollectiveTask& task, std::uint64_t seed) {
  return fmt::format("synthesized:{},ranks={},bytes={},block={},seed={}", name_of(task.collective),
                     task.ranks, sched::format_bytes(task.bytes),
                     sched::format_bytes(task.block_bytes), seed);
}

}  // namespace

Synthesized synthesize(const SynthesisRequest& request, const machine::Platform& platform,
                       const machine::Wiring& wiring, const SynthesisProgress& progress) {
  const Ways ways(platform, wiring);
  const Ways backwards = ways.backwards();
  const auto task_of = [&](std::uint64_t block_bytes) {
    CollectiveTask task = request.task;
    task.block_bytes = block_bytes;
    return task;
  };
  std::vector<Attempt> attempts;
  std::uint32_t sizes_left = 0;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const std::uint64_t block : request.blocks) {
    const std::uint64_t moves = move_count(spreading_of(task_of(block)));
    fewest = std::min(fewest, moves);
    if (moves > request.most_moves) {
      ++sizes_left;
      continue;
    }
    for (std::uint32_t i = 0; i < request.attempts; ++i) attempts.push_back({block, i, {}, 0});
  }
  if (attempts.empty()) {
    throw InputError(fmt::format(
        "synthesis: {} moves with the largest blocks; expected at most {}: use larger blocks, or "
        "fewer ranks",
        fewest, request.most_moves));
  }
  in_threads(
      static_cast<std::uint32_t>(attempts.size()), request.jobs,
      [&](std::uint32_t i) {
        Attempt& attempt = attempts[i];
        const CollectiveTask task = task_of(attempt.block_bytes);
        const Spreading spreading = spreading_of(task);
        const std::uint64_t seed =
            attempt.number == 0 ? 0 : sched::draw(request.seed, {attempt.number}) | 1;
        const GreedyTaste taste = GreedyTaste::drawn(seed);
        if (has_reducing(task.collective)) {
          attempt.moves.reducing = greedy_moves(spreading, backwards, taste, seed);
        }
        if (has_spreading(task.collective)) {
          attempt.moves.spreading = greedy_moves(spreading, ways, taste, seed);
        }
        const sched::Schedule schedule = schedule_of(task, attempt.moves, "");
        attempt.makespan_s = run_flows({schedule, platform, wiring}).makespan_s();
      },
      [&](std::uint32_t done) {
        if (progress) progress("synthesizing", done, attempts.size());
      });
  Attempt& best = *std::min_element(
      attempts.begin(), attempts.end(),
      [](const Attempt& a, const Attempt& b) { return a.makespan_s < b.makespan_s; });
  const CollectiveTask task = task_of(best.block_bytes);
  const Improvement improved = improve(task, {std::move(best.moves), best.makespan_s, 0}, platform,
                                       wiring, {request.improvements, request.seed}, progress);
  return {schedule_of(task, improved.moves, title_of(task, request.seed)),
          best.block_bytes,
          improved.makespan_s,
          best.makespan_s,
          improved.kept,
          static_cast<std::uint32_t>(attempts.size()),
          sizes_left};
}

}  // namespace slackline::analysis
