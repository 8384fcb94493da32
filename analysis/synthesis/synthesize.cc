#include "analysis/synthesis/synthesize.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "analysis/in_threads.h"
#include "analysis/synthesis/descend.h"
#include "analysis/synthesis/exact.h"
#include "analysis/synthesis/exact_sums.h"
#include "analysis/synthesis/exchange.h"
#include "analysis/synthesis/greedy.h"
#include "analysis/synthesis/improve.h"
#include "analysis/synthesis/ways.h"
#include "base/error.h"
#include "base/mix.h"
#include "base/units.h"
#include "sched/pattern/pattern.h"

namespace slackline::analysis {
namespace {

constexpr std::string_view kGreedy = "greedy";
constexpr std::string_view kExact = "exact";
constexpr std::size_t kImproved = 4;

struct Attempt {
  std::uint64_t block_bytes = 1;
  std::uint64_t number = 0;  // of its size
  std::string_view start = kGreedy;
  CollectiveMoves moves = {};
  std::uint32_t shares = 0;
  double makespan_s = 0;
};

// The best first, the earlier of equals; those of equal makespans are taken for one.
std::vector<const Attempt*> best_of(const std::vector<Attempt>& attempts) {
  std::vector<const Attempt*> order;
  for (const Attempt& attempt : attempts) order.push_back(&attempt);
  std::stable_sort(order.begin(), order.end(), [](const Attempt* a, const Attempt* b) {
    return a->makespan_s < b->makespan_s;
  });
  const auto same = [](const Attempt* a, const Attempt* b) {
    return a->makespan_s == b->makespan_s;
  };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  order.resize(std::min(order.size(), kImproved));
  return order;
}

CollectiveMoves greedy_collective(const CollectiveTask& task, const Ways& ways,
                                  const Ways& backwards, std::uint64_t seed) {
  const Spreading spreading = spreading_of(task);
  const GreedyTaste taste = GreedyTaste::drawn(seed);
  CollectiveMoves moves;
  if (has_reducing(task.collective)) {
    moves.reducing = greedy_moves(spreading, backwards, taste, seed);
  }
  if (has_spreading(task.collective)) moves.spreading = greedy_moves(spreading, ways, taste, seed);
  return moves;
}

CollectiveMoves greedy_exchange(const CollectiveTask& task, const Ways& ways, std::uint64_t seed) {
  const std::uint32_t units = spreading_of(task).units();
  const std::uint64_t most = std::min(task.bytes, task.block_bytes);
  return {{}, {}, exchange_moves(units, most, ways, ExchangeTaste::drawn(seed), seed)};
}

// The fewest steps of an allreduce of one block.
Attempt exact_exchange(const SynthesisRequest& request, std::uint64_t block, const Ways& ways,
                       const std::vector<Attempt>& known, std::vector<SynthesizedSteps>& found) {
  std::vector<SumMoves> starts;
  for (const Attempt& one : known) {
    if (one.shares == 1 && one.block_bytes == block) starts.push_back(as_sums(one.moves));
  }
  FewestSumSteps steps = fewest_sum_steps(StepNetwork(ways), starts, *request.exact_nodes);
  found.push_back({.block_bytes = block,
                   .steps = steps.steps,
                   .at_least = steps.at_least,
                   .nodes = steps.nodes,
                   .one_sum = steps.at_least > sched::ceil_log2(request.task.ranks)});
  return {block, 0, kExact, {{}, {}, std::move(steps.moves)}, 1};
}

// The halves that a collective is made of, each searched on the network as its moves go.
struct Half {
  Moves CollectiveMoves::*moves;
  const StepNetwork* network;
};
// The fewest steps for each size that is small enough, beginning with what is known.
std::vector<Attempt> exact_attempts(const SynthesisRequest& request, const Ways& ways,
                                    const Ways& backwards, const std::vector<Attempt>& known,
                                    std::vector<SynthesizedSteps>& found) {
  const StepNetwork forth(ways);
  const StepNetwork back(backwards);
  std::vector<Half> halves;
  if (has_reducing(request.task.collective)) halves.push_back({&CollectiveMoves::reducing, &back});
  if (has_spreading(request.task.collective)) {
    halves.push_back({&CollectiveMoves::spreading, &forth});
  }
  std::vector<Attempt> made;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const std::uint64_t block : request.blocks) {
    CollectiveTask task = request.task;
    task.block_bytes = block;
    const Spreading spreading = spreading_of(task);
    const std::uint64_t places = std::uint64_t{spreading.ranks} * spreading.units();
    fewest = std::min(fewest, places);
    if (places > kMostSearchPlaces) continue;
    SynthesizedSteps all{.block_bytes = block, .halves = static_cast<std::uint32_t>(halves.size())};
    Attempt& attempt = made.emplace_back();
    attempt.block_bytes = block;
    attempt.start = kExact;
    for (const Half& half : halves) {
      std::vector<Moves> starts;
      for (const Attempt& one : known) {
        if (one.block_bytes == block && one.shares == 0 && one.moves.summing.empty()) {
          starts.push_back(one.moves.*half.moves);
        }
      }
      FewestSteps steps = fewest_steps(spreading, *half.network, starts, *request.exact_nodes);
      all.steps += steps.steps;
      all.at_least += steps.at_least;
      all.nodes += steps.nodes;
      attempt.moves.*half.moves = std::move(steps.moves);
    }
    found.push_back(all);
  }
  for (const std::uint64_t block : request.whole_blocks) {
    if (request.task.collective != Collective::kAllreduce || block < request.task.bytes) continue;
    made.push_back(exact_exchange(request, block, ways, known, found));
  }
  if (made.empty()) {
    throw InputError(fmt::format(
        "fewest steps: {} units of all ranks together with the largest blocks; expected "
        "at most {}: use larger blocks, or fewer ranks",
        fewest, kMostSearchPlaces));
  }
  return made;
}

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
  const auto task_of = [&](std::uint64_t block_bytes, std::uint32_t shares = 0) {
    CollectiveTask task = request.task;
    task.block_bytes = block_bytes;
    task.shares = shares;
    return task;
  };
  std::vector<Attempt> attempts;
  std::uint32_t sizes_left = 0;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const std::uint64_t block : request.blocks) {
    const std::uint64_t moves = most_moves(spreading_of(task_of(block)));
    fewest = std::min(fewest, moves);
    if (moves > request.most_moves) {
      ++sizes_left;
      continue;
    }
    for (std::uint32_t i = 0; i < request.attempts; ++i) attempts.push_back({block, i});
  }
  if (attempts.empty()) {
    throw InputError(fmt::format(
        "synthesis: {} moves with the largest blocks; expected at most {}: use larger blocks, or "
        "fewer ranks",
        fewest, request.most_moves));
  }
  for (const std::uint64_t block : request.whole_blocks) {
    if (request.task.collective != Collective::kAllreduce) break;
    const std::uint32_t units = spreading_of(task_of(block, 1)).units();
    // Each rank tells every level, and what is folded is told once more.
    if (units > kMostExchanged ||
        std::uint64_t{units} * request.task.ranks * 33 > request.most_moves) {
      continue;
    }
    for (std::uint32_t i = 0; i < request.attempts; ++i) {
      attempts.push_back({block, i, kGreedy, {}, 1});
    }
  }
  const std::size_t greedy_end = attempts.size();
  for (const SynthesisStart& start : request.starts) {
    if (start.moves.count() > request.most_moves) continue;
    attempts.push_back({start.block_bytes, 0, start.name, start.moves, start.shares});
  }
  in_threads(
      static_cast<std::uint32_t>(attempts.size()), request.jobs,
      [&](std::uint32_t i) {
        Attempt& attempt = attempts[i];
        const CollectiveTask task = task_of(attempt.block_bytes, attempt.shares);
        if (i < greedy_end) {
          const std::uint64_t seed =
              attempt.number == 0 ? 0 : sched::draw(request.seed, {attempt.number}) | 1;
          attempt.moves = attempt.shares == 0 ? greedy_collective(task, ways, backwards, seed)
                                              : greedy_exchange(task, ways, seed);
        }
        const sched::Schedule schedule = schedule_of(task, attempt.moves, "");
        attempt.makespan_s = run_flows({schedule, platform, wiring}).makespan_s();
      },
      [&](std::uint32_t done) {
        if (progress) progress("synthesizing", done, attempts.size());
      });
  std::vector<SynthesizedSteps> exact;
  if (request.exact_nodes) {
    if (progress) progress("searching", 0, request.blocks.size());
    std::vector<Attempt> made = exact_attempts(request, ways, backwards, attempts, exact);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const sched::Schedule schedule =
          schedule_of(task_of(made[i].block_bytes, made[i].shares), made[i].moves, "");
      made[i].makespan_s = run_flows({schedule, platform, wiring}).makespan_s();
      exact[i].makespan_s = made[i].makespan_s;
      attempts.push_back(std::move(made[i]));
    }
  }
  const std::vector<const Attempt*> best = best_of(attempts);
  std::vector<Improvement> improved(best.size());
  in_threads(
      static_cast<std::uint32_t>(best.size()), request.jobs,
      [&](std::uint32_t i) {
        improved[i] = improve(task_of(best[i]->block_bytes, best[i]->shares),
                              {best[i]->moves, best[i]->makespan_s, 0}, platform, wiring,
                              {request.improvements, request.seed});
      },
      [&](std::uint32_t done) {
        if (progress) progress("improving", done, best.size());
      });
  const auto least = [](const auto& a, const auto& b) { return a.makespan_s < b.makespan_s; };
  const auto chosen = std::min_element(improved.begin(), improved.end(), least);
  const Attempt& from = *best[static_cast<std::size_t>(chosen - improved.begin())];
  const CollectiveTask task = task_of(from.block_bytes, from.shares);
  Improvement last = std::move(*chosen);
  std::optional<SynthesizedDescent> descent;
  if (request.descent_runs != 0) {
    const double before_s = last.makespan_s;
    if (progress) progress("descending", 0, 1);
    Descent found =
        descend(task, std::move(last), platform, wiring, {request.descent_runs, request.jobs});
    descent = SynthesizedDescent{before_s, found.kept, found.runs, found.at_end};
    last = std::move(found.improvement);
  }
  const auto greedy_last = attempts.begin() + static_cast<std::ptrdiff_t>(greedy_end);
  return {schedule_of(task, last.moves, title_of(task, request.seed)),
          std::string(from.start),
          from.block_bytes,
          last.makespan_s,
          from.makespan_s,
          std::min_element(attempts.begin(), greedy_last, least)->makespan_s,
          last.kept,
          static_cast<std::uint32_t>(attempts.size()),
          sizes_left,
          std::move(exact),
          descent};
}

}  // namespace slackline::analysis
