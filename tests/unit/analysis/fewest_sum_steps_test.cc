// The search for the fewest steps of an allreduce of one unit: held against a search of everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/synthesis/exact_sums.h"
#include "analysis/synthesis/exchange.h"
#include "analysis/synthesis/moved_collective.h"
#include "analysis/synthesis/sum_steps.h"
#include "analysis/synthesis/ways.h"
#include "sched/verify.h"

namespace slackline::analysis {
namespace {

Ways ways_of(const std::string& platform, std::uint32_t ranks) {
  const machine::Platform loaded = machine::load_platform(platform);
  return Ways(loaded, machine::Wiring(loaded, ranks));
}

std::uint32_t steps_of(std::uint32_t ranks, const SumMoves& moves) {
  std::uint32_t steps = 0;
  for (const SumStep& at : sum_steps(ranks, 1, moves)) steps = std::max(steps, at.step + 1);
  return steps;
}

// By all that every step can do: a rank has a sum, and operands in the order in which they came,
// and may add the first few before it sends.
std::uint32_t fewest_of_all(const StepNetwork& network) {
  using Rank = std::vector<RankSet>;  // its sum, and then its operands
  using State = std::vector<Rank>;
  const std::uint32_t n = network.ranks();
  State start;
  for (std::uint32_t r = 0; r < n; ++r) start.push_back({RankSet{1} << r});
  std::set<State> now = {start};
  for (std::uint32_t steps = 0;; ++steps) {
    const auto whole = [](const Rank& rank) {
      RankSet all = 0;
      for (const RankSet part : rank) all |= part;
      return all;
    };
    const auto is_done = [&](const State& state) {
      return std::all_of(state.begin(), state.end(),
                         [&](const Rank& rank) { return whole(rank) == network.all(); });
    };
    if (std::any_of(now.begin(), now.end(), is_done)) return steps;
    std::set<State> next;
    for (const State& state : now) {
      StepLoad load(network);
      // Sources in turn: what they add, and whom they tell.
      const auto tell = [&](const auto& self, std::uint32_t s, RankSet told, State at,
                            std::vector<std::pair<std::uint32_t, RankSet>> sent) -> void {
        if (s == n) {
          for (const auto& [d, set] : sent) {
            const RankSet has = whole(at[d]);
            if ((has & set) == 0) {
              at[d].push_back(set);
            } else if ((has & ~set) == 0) {
              at[d] = {set};
            } else {
              return;
            }
          }
          next.insert(std::move(at));
          return;
        }
        self(self, s + 1, told, at, sent);
        State merged = at;
        for (std::size_t first = 0; first < at[s].size(); ++first) {
          if (first != 0) {
            merged[s][0] |= merged[s][1];
            merged[s].erase(merged[s].begin() + 1);
          }
          for (std::uint32_t d = 0; d < n; ++d) {
            if (d == s || (told >> d & 1) != 0 || !load.has_room(s, d)) continue;
            load.add(s, d);
            auto more = sent;
            more.emplace_back(d, merged[s][0]);
            self(self, s + 1, told | RankSet{1} << d, merged, more);
            load.remove(s, d);
          }
        }
      };
      tell(tell, 0, 0, state, {});
    }
    now = std::move(next);
  }
}

TEST(FewestSumSteps, AreAsFewAsASearchOfEverythingFinds) {
  for (const auto& [platform, ranks] :
       {std::pair("star", 2u), std::pair("star", 3u), std::pair("star", 4u),
        std::pair("two-level:racks=2,hosts=2,oversubscription=2", 3u)}) {
    SCOPED_TRACE(std::string(platform) + ", " + std::to_string(ranks));
    const Ways ways = ways_of(platform, ranks);
    const StepNetwork network(ways);
    const FewestSumSteps found = fewest_sum_steps(network, {}, 500'000);
    EXPECT_EQ(found.steps, fewest_of_all(network));
    EXPECT_EQ(found.at_least, found.steps);
    // Those of the greedy are never fewer.
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const SumMoves moves = exchange_moves(1, 8, ways, ExchangeTaste::drawn(seed), seed);
      if (network.ports_only()) {
        EXPECT_GE(steps_of(ranks, moves), found.steps);
      }
    }
  }
}

TEST(FewestSumSteps, AreProvedAndKnown) {
  // Of 2^k ranks k; of three two, of five and six three, and of seven four: with none folded.
  for (const auto& [ranks, steps] :
       {std::pair(2u, 1u), std::pair(3u, 2u), std::pair(4u, 2u), std::pair(5u, 3u),
        std::pair(6u, 3u), std::pair(7u, 4u), std::pair(8u, 3u)}) {
    SCOPED_TRACE(ranks);
    const Ways ways = ways_of("star", ranks);
    const StepNetwork network(ways);
    const std::vector<SumMoves> known = {exchange_moves(1, 8, ways, {}, 0)};
    const FewestSumSteps found = fewest_sum_steps(network, known, 500'000);
    EXPECT_EQ(found.steps, steps);
    EXPECT_EQ(found.at_least, steps);
    EXPECT_EQ(steps_of(ranks, found.moves), steps);
    CollectiveTask task{Collective::kAllreduce, ranks, 8, 8};
    task.shares = 1;
    EXPECT_TRUE(sums(summing_of(task), found.moves));
    for (const sched::Diagnostic& d : sched::verify(schedule_of(task, {{}, {}, found.moves}, ""))) {
      ADD_FAILURE() << d.message;
    }
    EXPECT_EQ(found.nodes == 0, ranks != 5 && ranks != 7);
  }
}

TEST(FewestSumSteps, ALimitIsSaid) {
  const StepNetwork network(ways_of("star", 5));
  const FewestSumSteps found = fewest_sum_steps(network, {}, 1);
  EXPECT_EQ(found.steps, 8u);  // to the first rank and back, one after the other
  EXPECT_EQ(found.at_least, 3u);
  EXPECT_EQ(found.nodes, 1u);
}

}  // namespace
}  // namespace slackline::analysis
