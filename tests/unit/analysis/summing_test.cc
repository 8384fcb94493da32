// Moves of partial sums: what they may do, and that what they may do is proved.
#include "analysis/synthesis/summing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analysis/synthesis/exchange.h"
#include "analysis/synthesis/moved_collective.h"
#include "analysis/synthesis/sum_changes.h"
#include "analysis/synthesis/sum_steps.h"
#include "analysis/synthesis/ways.h"
#include "sched/verify.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

SumMove add(std::uint32_t src, std::uint32_t dst, std::uint32_t behind = 0) {
  return {RankId(src), RankId(dst), {0}, true, behind};
}
SumMove put(std::uint32_t src, std::uint32_t dst) {
  return {RankId(src), RankId(dst), {0}, false, 0};
}

// Of one unit of eight bytes.
CollectiveTask allreduce(std::uint32_t ranks) {
  CollectiveTask task{Collective::kAllreduce, ranks, 8, 8};
  task.shares = 1;
  return task;
}
bool sums_up(std::uint32_t ranks, const SumMoves& moves) {
  return sums(summing_of(allreduce(ranks)), moves);
}
sched::Diagnostics verified(const CollectiveTask& task, const SumMoves& moves) {
  return sched::verify(schedule_of(task, {{}, {}, moves}, ""));
}

Ways ways_of(const std::string& platform, std::uint32_t ranks) {
  const machine::Platform loaded = machine::load_platform(platform);
  return Ways(loaded, machine::Wiring(loaded, ranks));
}

TEST(Sums, TwoRanksTellEachOther) {
  EXPECT_TRUE(sums_up(2, {add(0, 1, 1), add(1, 0)}));
  // Rank 1 has added what it was told before it tells: term 0 is in the sum of rank 0 twice.
  EXPECT_FALSE(sums_up(2, {add(0, 1), add(1, 0)}));
  EXPECT_TRUE(sums_up(2, {add(0, 1), put(1, 0)}));
  EXPECT_FALSE(sums_up(2, {add(0, 1, 1), put(1, 0)}));  // term 0 is lost
  EXPECT_FALSE(sums_up(2, {add(0, 1)}));
}

TEST(Sums, ThreeRanksTellEachOther) {
  const SumMoves all = {add(0, 1, 2), add(1, 2, 2), add(2, 0, 1),
                        add(0, 2, 1), add(1, 0),    add(2, 1)};
  EXPECT_TRUE(sums_up(3, all));
  // What a rank may do too early, each alone. The fourth comes behind the second all the same.
  for (std::size_t i = 0; i < 3; ++i) {
    SumMoves early = all;
    --early[i].behind;
    EXPECT_FALSE(sums_up(3, early)) << i;
  }
}

TEST(Sums, OperandsAreAddedInTheOrderInWhichTheyCome) {
  // Rank 0 waits with term 1 until it has told rank 3, and so with term 2, which came later.
  const SumMoves moves = {add(1, 0, 1), add(2, 0), add(0, 3), put(3, 0)};
  EXPECT_FALSE(sums_up(4, moves));
  std::vector<std::size_t> came;
  EXPECT_TRUE(for_each_event(
      4, moves, [](std::size_t) {}, [&](std::size_t i) { came.push_back(i); }));
  EXPECT_EQ(came, (std::vector<std::size_t>{0, 1, 2, 3}));
  const SumMoves apart = {add(1, 0, 1), add(2, 3), add(3, 0), add(0, 3, 0)};
  EXPECT_FALSE(sums_up(4, apart));
}

TEST(Sums, WhatIsAddedIsSentOnBeforeItsPlaceIsTaken) {
  EXPECT_TRUE(sums_up(3, {add(2, 1), add(1, 0), put(0, 1), put(0, 2)}));
  EXPECT_FALSE(sums_up(3, {add(2, 0, 1), add(0, 1), add(2, 1), put(1, 0), put(1, 2)}));
}

TEST(Sums, OnlySoManyOperandsWait) {
  for (const std::uint32_t others : {kMostWaiting, kMostWaiting + 1}) {
    SumMoves moves;
    for (std::uint32_t r = 1; r <= others; ++r) moves.push_back(add(r, 0, 1));
    moves.push_back(add(0, others + 1));
    EXPECT_EQ(for_each_event(
                  others + 2, moves, [](std::size_t) {}, [](std::size_t) {}),
              others == kMostWaiting);
  }
}

TEST(Sums, AreInTheFewestStepsOfPairs) {
  for (const std::uint32_t levels : {1u, 2u, 3u, 4u}) {
    const std::uint32_t ranks = 1u << levels;
    const SumMoves moves = exchange_moves(1, 8, ways_of("star", ranks), {}, 0);
    EXPECT_EQ(moves.size(), levels * ranks);
    std::uint32_t steps = 0;
    for (const SumStep& at : sum_steps(ranks, 1, moves)) steps = std::max(steps, at.step + 1);
    EXPECT_EQ(steps, levels);
  }
}

TEST(Exchange, CarriesTheAllreduceOutWhateverTheTaste) {
  for (const char* platform :
       {"star:latency=1us", "torus:dims=4x4", "two-level:racks=4,hosts=4,oversubscription=4"}) {
    for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 7u, 12u, 16u}) {
      const Ways ways = ways_of(platform, ranks);
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CollectiveTask task{Collective::kAllreduce, ranks, 1 + seed * 11, 40};
        task.shares = 1;
        const Summing summing = summing_of(task);
        const SumMoves moves =
            exchange_moves(summing.units(), 40, ways, ExchangeTaste::drawn(seed), seed);
        EXPECT_TRUE(sums(summing, moves)) << platform << ", " << ranks << ", seed " << seed;
        for (const sched::Diagnostic& d : verified(task, moves)) ADD_FAILURE() << d.message;
      }
    }
  }
}

// What is right by the moves' own rules is proved; what has a term twice is refused by both.
TEST(Sums, AreRightOnlyIfTheyAreProved) {
  std::mt19937_64 random(7);
  std::uint32_t right = 0, twice = 0;
  for (std::uint32_t i = 0; i < 1500; ++i) {
    const std::uint32_t ranks = 2 + static_cast<std::uint32_t>(random() % 5);
    CollectiveTask task{Collective::kAllreduce, ranks, 24, 8};
    task.shares = 1;
    const Summing summing = summing_of(task);
    const std::uint64_t seed = random();
    SumMoves moves = exchange_moves(summing.units(), 8, ways_of("star", ranks),
                                    ExchangeTaste::drawn(seed), seed);
    for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
      change(ranks, moves, random() % moves.size(), static_cast<SumChange>(random() % 7), random());
    }
    if (!for_each_event(
            ranks, moves, [](std::size_t) {}, [](std::size_t) {}))
      continue;
    const bool fits = sums(summing, moves);
    const bool only_adds = std::all_of(moves.begin(), moves.end(), [](auto& m) { return m.adds; });
    if (!fits && !only_adds) continue;
    // What comes a second time is a warning.
    const sched::Diagnostics found = verified(task, moves);
    EXPECT_EQ(!sched::has_errors(found), fits)
        << i << (found.empty() ? "" : ": " + found.front().message);
    ++(fits ? right : twice);
  }
  EXPECT_GE(right, 300u);
  EXPECT_GE(twice, 50u);
}

// A seeded defect: of two ranks that tell each other, one adds before it tells.
TEST(Sums, AContributionThatIsCountedTwiceIsRefused) {
  std::mt19937_64 random(11);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::uint32_t ranks = 2u << (random() % 3);
    const CollectiveTask task = allreduce(ranks);
    SumMoves moves = exchange_moves(1, 8, ways_of("star", ranks), {}, 0);
    std::vector<std::size_t> later;
    for (std::size_t m = 0; m < moves.size(); ++m) {
      if (moves[m].behind != 0) later.push_back(m);
    }
    ASSERT_FALSE(later.empty());
    moves[later[random() % later.size()]].behind = 0;
    EXPECT_FALSE(sums_up(ranks, moves));
    const sched::Diagnostics found = verified(task, moves);
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const sched::Diagnostic& d) {
      return d.code == sched::Code::kPost;
    }));
  }
}

}  // namespace
}  // namespace slackline::analysis
