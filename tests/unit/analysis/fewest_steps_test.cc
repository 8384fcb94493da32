// The search for the fewest steps: held against known optima, and on tiny networks against a search
// of everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/synthesis/exact.h"
#include "analysis/synthesis/greedy.h"
#include "analysis/synthesis/moved_collective.h"
#include "analysis/synthesis/named_moves.h"
#include "analysis/synthesis/step_bounds.h"
#include "analysis/synthesis/synthesize.h"
#include "analysis/synthesis/ways.h"
#include "base/error.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"

namespace slackline::analysis {
namespace {

using ::testing::HasSubstr;

// A unit has 1,000 bytes.
CollectiveTask task_of(Collective collective, std::uint32_t ranks, std::uint32_t units) {
  return {collective, ranks, std::uint64_t{1000} * units, 1000};
}

Ways ways_of(const std::string& platform, std::uint32_t ranks) {
  const machine::Platform loaded = machine::load_platform(platform);
  return Ways(loaded, machine::Wiring(loaded, ranks));
}

std::uint32_t ceil_log2(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::bit_width(n - 1));
}

// What is found spreads the task, takes the steps that are said, and is proved as a schedule.
void expect_sound(const CollectiveTask& task, const StepNetwork& network,
                  const FewestSteps& found) {
  const Spreading spreading = spreading_of(task);
  EXPECT_TRUE(spreads(spreading, found.moves));
  EXPECT_LE(packed_in_steps(spreading, network, found.moves).steps, found.steps);
  EXPECT_LE(found.at_least, found.steps);
  const CollectiveMoves moves = task.collective == Collective::kReduceScatter
                                    ? CollectiveMoves{found.moves, {}}
                                    : CollectiveMoves{{}, found.moves};
  for (const sched::Diagnostic& d : sched::verify(schedule_of(task, moves, ""))) {
    ADD_FAILURE() << d.message;
  }
}

FewestSteps proven_fewest(const CollectiveTask& task, const std::string& platform,
                          const std::vector<Moves>& known = {}) {
  const StepNetwork network(ways_of(platform, task.ranks));
  const FewestSteps found = fewest_steps(spreading_of(task), network, known);
  expect_sound(task, network, found);
  EXPECT_EQ(found.at_least, found.steps);
  return found;
}

TEST(FewestSteps, OfAMulticastAreKnown) {
  for (std::uint32_t ranks = 2; ranks <= 8; ++ranks) {
    for (std::uint32_t units = 1; units <= (ranks <= 4 ? 4u : 2u); ++units) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(units) + " units");
      EXPECT_EQ(proven_fewest(task_of(Collective::kMulticast, ranks, units), "star").steps,
                units - 1 + ceil_log2(ranks));
    }
  }
}

TEST(FewestSteps, OfAnAllgatherAreKnown) {
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    SCOPED_TRACE(ranks);
    EXPECT_EQ(proven_fewest(task_of(Collective::kAllgather, ranks, 1), "star").steps, ranks - 1);
    const std::string ring = "torus:dims=" + std::to_string(ranks);
    EXPECT_EQ(proven_fewest(task_of(Collective::kAllgather, ranks, 1), ring).steps, ranks - 1);
  }
}

TEST(FewestSteps, AreThoseOfAPatternThatIsKnownToBeBest) {
  for (const auto& [collective, name, ranks, units, steps] :
       {std::tuple(Collective::kMulticast, "binomial-pipeline", 8u, 8u, 10u),
        std::tuple(Collective::kMulticast, "circulant", 7u, 6u, 8u),
        std::tuple(Collective::kAllgather, "ring", 8u, 1u, 7u)}) {
    SCOPED_TRACE(name);
    const CollectiveTask task = task_of(collective, ranks, units);
    sched::MulticastOptions options;
    options.ranks = ranks;
    options.bytes = task.bytes;
    options.block_bytes = task.block_bytes;
    const auto moves = named_moves(task, options, name, 8192);
    ASSERT_TRUE(moves);
    const FewestSteps found = proven_fewest(task, "star", {moves->moves.spreading});
    EXPECT_EQ(found.steps, steps);
    EXPECT_EQ(found.nodes, 0u);  // there was nothing left to search
  }
}

// By looking at all that every step can do.
std::uint32_t fewest_of_all(const Spreading& task, const StepNetwork& network) {
  const HoldingShape shape(task.ranks, task.units());
  Holding start = 0;
  for (std::uint32_t u = 0; u < task.units(); ++u) start |= shape.bit(task.owner[u].value, u);
  std::set<Holding> now = {start};
  for (std::uint32_t steps = 0;; ++steps) {
    if (now.contains(shape.all())) return steps;
    std::set<Holding> next;
    for (const Holding holding : now) {
      StepLoad load(network);
      const auto take = [&](const auto& self, std::uint32_t d, RankSet busy, Holding got) -> void {
        if (d == task.ranks) {
          next.insert(got);
          return;
        }
        self(self, d + 1, busy, got);
        for (std::uint32_t s = 0; s < task.ranks; ++s) {
          if (s == d || (busy >> s & 1) != 0 || !load.has_room(s, d)) continue;
          load.add(s, d);
          for (std::uint32_t u = 0; u < task.units(); ++u) {
            if ((holding & shape.bit(s, u)) == 0 || (holding & shape.bit(d, u)) != 0) continue;
            self(self, d + 1, busy | RankSet{1} << s, got | shape.bit(d, u));
          }
          load.remove(s, d);
        }
      };
      take(take, 0, 0, holding);
    }
    // What another state has as well need not be followed.
    std::vector<Holding> kept;
    for (auto it = next.rbegin(); it != next.rend(); ++it) {
      const Holding one = *it;
      if (std::none_of(kept.begin(), kept.end(),
                       [&](Holding other) { return (one & ~other) == 0; })) {
        kept.push_back(one);
      }
    }
    now = {kept.begin(), kept.end()};
  }
}

TEST(FewestSteps, AreAsFewAsASearchOfEverythingFinds) {
  struct Tiny {
    const char* platform;
    Collective collective;
    std::uint32_t ranks;
    std::uint32_t units;  // of the message, or of a share
  };
  std::uint32_t above_bound = 0;
  for (const Tiny& tiny :
       {Tiny{"star", Collective::kMulticast, 3, 4}, Tiny{"star", Collective::kMulticast, 4, 3},
        Tiny{"star", Collective::kMulticast, 5, 2}, Tiny{"star", Collective::kAllgather, 3, 2},
        Tiny{"star", Collective::kAllgather, 4, 1},
        Tiny{"torus:dims=4", Collective::kMulticast, 4, 3},
        Tiny{"torus:dims=5", Collective::kMulticast, 5, 2},
        Tiny{"torus:dims=4", Collective::kAllgather, 4, 1},
        Tiny{"torus:dims=6", Collective::kMulticast, 6, 1},
        Tiny{"two-level:racks=2,hosts=2,oversubscription=2", Collective::kMulticast, 4, 3},
        Tiny{"two-level:racks=2,hosts=2,oversubscription=2", Collective::kAllgather, 4, 1},
        Tiny{"two-level:racks=2,hosts=3,oversubscription=3", Collective::kMulticast, 5, 2},
        Tiny{"two-level:racks=3,hosts=2,oversubscription=2", Collective::kMulticast, 6, 1}}) {
    SCOPED_TRACE(std::string(tiny.platform) + ", " + std::string(name_of(tiny.collective)) +
                 " of " + std::to_string(tiny.ranks) + ", " + std::to_string(tiny.units));
    const CollectiveTask task = task_of(tiny.collective, tiny.ranks, tiny.units);
    const Spreading spreading = spreading_of(task);
    const Ways ways = ways_of(tiny.platform, tiny.ranks);
    for (const Ways& each : {ways, ways.backwards()}) {
      const StepNetwork network(each);
      const std::uint32_t fewest = fewest_of_all(spreading, network);
      const FewestSteps found = fewest_steps(spreading, network, {});
      EXPECT_EQ(found.steps, fewest);
      EXPECT_EQ(found.at_least, found.steps);
      EXPECT_TRUE(spreads(spreading, found.moves));
      EXPECT_LE(packed_in_steps(spreading, network, found.moves).steps, found.steps);
      Holding start = 0;
      const HoldingShape shape(tiny.ranks, spreading.units());
      for (std::uint32_t u = 0; u < spreading.units(); ++u) {
        start |= shape.bit(spreading.owner[u].value, u);
      }
      const std::uint32_t bound = fewest_steps_left(shape, network, start);
      EXPECT_LE(bound, fewest);
      if (bound < fewest) ++above_bound;
    }
  }
  RecordProperty("above_bound", static_cast<int>(above_bound));
}

TEST(FewestSteps, ASharedLinkCostsSteps) {
  // Two racks of two, whose uplink carries one unit a step: what each rack needs of the other comes
  // one after the other, and no rank can be told everything sooner.
  const std::string racks = "two-level:racks=2,hosts=2,oversubscription=2";
  const StepNetwork network(ways_of(racks, 4));
  EXPECT_FALSE(network.ports_only());
  EXPECT_EQ(network.inflow(0b0011), 1u);
  EXPECT_EQ(network.inflow(0b0101), 2u);
  EXPECT_TRUE(StepNetwork(ways_of("star", 4)).ports_only());
  // Ranks may change places within racks, and racks as a whole.
  EXPECT_EQ(network.symmetries().size(), 8u);
}

TEST(FewestSteps, ALimitIsSaid) {
  const CollectiveTask task = task_of(Collective::kMulticast, 8, 4);
  const StepNetwork network(ways_of("star", 8));
  const FewestSteps found = fewest_steps(spreading_of(task), network, {}, 1);
  expect_sound(task, network, found);
  EXPECT_EQ(found.steps, 28u);  // one unit after the other, from the root
  EXPECT_EQ(found.at_least, 6u);
  EXPECT_EQ(found.nodes, 1u);
  // What the greedy makes is better, and taken.
  const std::vector<Moves> known = {
      greedy_moves(spreading_of(task), ways_of("star", 8), GreedyTaste{}, 0)};
  EXPECT_LT(fewest_steps(spreading_of(task), network, known, 1).steps, 12u);
}

std::string step_refusal(const std::string& platform, std::uint32_t ranks) {
  return testing::error_of<Unsupported>([&] { StepNetwork{ways_of(platform, ranks)}; });
}

TEST(FewestSteps, NetworksWithoutStepsAreRefused) {
  EXPECT_EQ(step_refusal("star", 8), "");
  EXPECT_EQ(step_refusal("star", 9), "fewest steps: 9 ranks; expected at most 8");
  EXPECT_THAT(step_refusal("star:ranks_per_node=2", 4),
              HasSubstr("fewest steps: ranks 0 and 1 are on one machine"));
  EXPECT_THAT(step_refusal("two-level:racks=2,hosts=2,oversubscription=4", 4),
              HasSubstr("expected one rate, so that all units take one step"));
  const CollectiveTask task = task_of(Collective::kMulticast, 8, 9);
  const StepNetwork network(ways_of("star", 8));
  EXPECT_THROW(fewest_steps(spreading_of(task), network, {}), Unsupported);
}

TEST(FewestSteps, AreFoundBesideTheGreedy) {
  const machine::Platform platform =
      machine::load_platform("two-level:racks=2,hosts=3,oversubscription=3");
  const machine::Wiring wiring(platform, 6);
  for (const Collective collective :
       {Collective::kMulticast, Collective::kAllgather, Collective::kReduceScatter}) {
    SynthesisRequest request;
    request.task = {collective, 6, collective == Collective::kAllgather ? 10'000u : 60'000u, 1};
    request.blocks = {10'000, 500};  // the latter has too many units for a search
    request.attempts = 4;
    request.improvements = 10;
    request.exact_nodes = 20'000;
    const Synthesized found = synthesize(request, platform, wiring);
    for (const sched::Diagnostic& d : sched::verify(found.schedule)) ADD_FAILURE() << d.message;
    ASSERT_EQ(found.exact.size(), 1u);
    EXPECT_EQ(found.exact[0].block_bytes, 10'000u);
    EXPECT_LE(found.exact[0].at_least, found.exact[0].steps);
    EXPECT_LE(found.makespan_s, found.exact[0].makespan_s);
    request.jobs = 2;
    EXPECT_EQ(synthesize(request, platform, wiring).schedule.digest(), found.schedule.digest());
  }
  SynthesisRequest request;
  request.task = {Collective::kMulticast, 6, 60'000, 1};
  request.exact_nodes = 10;
  request.blocks = {100};
  EXPECT_THROW(synthesize(request, platform, wiring), InputError);
}

// On a star each half of an allreduce of one unit a rank takes as many steps as a rank has shares
// to receive: 2 (n - 1), the ring's. On a torus the halves' steps are added as well.
TEST(FewestSteps, OfAnAllreduceAreThoseOfItsHalves) {
  for (const char* const spec : {"star", "torus:dims=6"}) {
    const machine::Platform platform = machine::load_platform(spec);
    const machine::Wiring wiring(platform, 6);
    const auto fewest = [&](Collective collective, std::uint64_t bytes) {
      SynthesisRequest request;
      request.task = {collective, 6, bytes, 1};
      request.blocks = {10'000};
      request.attempts = 4;
      request.improvements = 10;
      request.exact_nodes = 20'000;
      const Synthesized found = synthesize(request, platform, wiring);
      for (const sched::Diagnostic& d : sched::verify(found.schedule)) ADD_FAILURE() << d.message;
      EXPECT_EQ(found.exact.size(), 1u);
      EXPECT_EQ(found.exact[0].halves, collective == Collective::kAllreduce ? 2u : 1u);
      EXPECT_EQ(found.exact[0].steps, found.exact[0].at_least);
      return found.exact[0].steps;
    };
    const std::uint32_t halves =
        fewest(Collective::kReduceScatter, 60'000) + fewest(Collective::kAllgather, 10'000);
    EXPECT_EQ(fewest(Collective::kAllreduce, 60'000), halves) << spec;
    if (std::string(spec) == "star") {
      EXPECT_EQ(halves, 10u);
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
