// Regions in the executor, on a transport that can be looked into: what runs how often, and what is
// posted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "hw/run.h"
#include "sched/builder.h"
#include "sched/kept_memory.h"
#include "sched/text.h"
#include "tests/hw/loop_ranks.h"
#include "tests/hw/random_words.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using sched::OpId;
using sched::RankId;
using testing::Loop;
using testing::LoopRanks;

// As a session puts it together.
sched::Trace trace_of(const sched::Schedule& schedule, LoopRanks& ranks) {
  const sched::KeptMemory kept(schedule);
  std::vector<hw::RankRecord> records(schedule.rank_count());
  for (std::uint32_t r = 0; r < records.size(); ++r) {
    hw::Executor& executor = ranks.executor(r);
    records[r].times.assign(executor.times().begin(), executor.times().end());
    records[r].results.assign(executor.results().begin(), executor.results().end());
    for (std::uint32_t b = 0; b < schedule.buffers().size(); ++b) {
      const sched::Buffer& buffer = schedule.buffers()[b];
      if (buffer.rank != RankId(r) || !kept.keeps(sched::BufferId(b))) continue;
      const auto bytes = executor.memory().at({sched::BufferId(b), 0, buffer.bytes});
      records[r].memory.insert(records[r].memory.end(), bytes.begin(), bytes.end());
    }
  }
  return hw::assemble_trace(schedule, "loop", records);
}

struct Setting {
  std::uint64_t seed = 0;
  bool in_order = false;
  bool bitwise = true;
  std::size_t room = 1000;
};

// What the event engine gives, too. Fails the test where they differ.
sched::Trace run_as_simulated(const sched::Schedule& schedule, const Setting& setting) {
  Loop loop;
  LoopRanks ranks(schedule, loop);
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    testing::LoopTransport& transport = ranks.transport(r);
    transport.in_order = setting.in_order;
    transport.bitwise = setting.bitwise;
    transport.room = transport.room_per_poll = setting.room;
  }
  hw::ExecutorOptions options;
  options.seed = setting.seed;
  ranks.set_up_alike(options);
  ranks.begin();
  EXPECT_TRUE(ranks.finish());
  const sched::Trace run = trace_of(schedule, ranks);
  machine::DelayPlan plan;
  plan.seed = setting.seed;
  const sched::Trace simulated = analysis::run_events({schedule, machine::Platform{}, plan});
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    EXPECT_EQ(run.ops[i].attempts, simulated.ops[i].attempts) << describe(schedule, OpId(i));
    EXPECT_LT(run.ops[i].done_s, 1e3) << describe(schedule, OpId(i));
  }
  EXPECT_EQ(run.results, simulated.results);
  EXPECT_TRUE(run.memory == simulated.memory);
  return run;
}

TEST(Regions, RunAsTheySimulate) {
  std::uint64_t repeated = 0;
  std::uint64_t left_out = 0;
  std::uint64_t kept = 0;
  for (std::uint32_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    testing::Dice dice(seed);
    const std::uint32_t ranks = 1 + dice.below(4);
    const sched::Schedule schedule = testing::RandomWords(dice, ranks, 2 + dice.below(8)).build();
    const Setting setting{seed, seed % 2 == 0, seed % 3 != 0, seed % 5 == 0 ? 1u : 1000u};
    const sched::Trace trace = run_as_simulated(schedule, setting);
    kept += trace.memory.size();
    for (const sched::OpTimes& times : trace.ops) {
      repeated += times.attempts > 1 ? 1 : 0;
      left_out += times.attempts == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(repeated, 1000u);
  EXPECT_GT(left_out, 300u);
  EXPECT_GT(kept, 1000u);
}

TEST(Regions, AnythingThatIsSampledRunsAsItSimulates) {
  for (std::uint32_t seed = 0; seed < 100 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    testing::Dice dice(seed);
    const std::uint32_t ranks = 1 + dice.below(4);
    const sched::Schedule schedule =
        testing::RandomDynamic(dice, ranks, 1 + dice.below(8), false).build();
    run_as_simulated(schedule, {seed, seed % 2 == 0});
  }
}

TEST(Regions, IterationsDrawTheSameAgain) {
  testing::Dice dice(11);
  const sched::Schedule schedule = testing::RandomWords(dice, 3, 12).build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up();
  std::vector<std::uint64_t> results;
  std::vector<std::byte> memory;
  for (int iteration = 0; iteration < 3; ++iteration) {
    if (iteration > 0) {
      for (std::uint32_t r = 0; r < 3; ++r) ranks.executor(r).reset(true);
    }
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    const sched::Trace trace = trace_of(schedule, ranks);
    if (iteration == 0) results = trace.results;
    if (iteration == 0) memory = trace.memory;
    EXPECT_EQ(trace.results, results);
    EXPECT_TRUE(trace.memory == memory);
  }
}

// What one rank of a schedule comes to.
std::string error_of(const std::string& text, std::uint64_t seed = 0) {
  const sched::Schedule schedule = sched::read_text(text);
  Loop loop;
  LoopRanks ranks(schedule, loop);
  hw::ExecutorOptions options;
  options.seed = seed;
  try {
    ranks.set_up_alike(options);
    ranks.begin();
    return ranks.finish() ? "no error" : "no end";
  } catch (const Error& error) {
    std::string simulated = "nothing";
    try {
      machine::DelayPlan plan;
      plan.seed = seed;
      analysis::run_events({schedule, machine::Platform{}, plan});
    } catch (const Error& same) {
      simulated = same.what();
    }
    EXPECT_EQ(error.what(), simulated);
    return error.what();
  }
}

constexpr const char* kTwo =
    "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 16\nbuffer 1 rank 1 bytes 16\n"
    "channel 0 from 0 to 1\nrank 0\n";

TEST(Regions, WhatCannotGoOnIsReportedAsInSimulation) {
  const std::string two = kTwo;
  EXPECT_EQ(error_of(two + "  0 compare_swap on 0 reads 1[0+8] writes 1[0+8] operand 1 compare 5\n"
                           "region retry entry 0 count 1 attempts 7 outcome actual\n"),
            "region 0 (retry, from op 0 (compare_swap, rank 0)) has failed all of its 7 attempts");
  EXPECT_EQ(error_of(two + "  0 put on 0 reads 0[0+8] writes 1[0+8]\n"
                           "region retry entry 0 count 1 attempts 3\n"),
            "region 0 (retry, from op 0 (put, rank 0)) has failed all of its 3 attempts");
  EXPECT_EQ(
      error_of(two + "  0 fetch_add on 0 reads 1[0+8] writes 1[0+8] operand 1\n"
                     "  1 fetch_add on 0 reads 1[8+8] writes 1[8+8] operand result:0\n"
                     "region repeat entry 1 count 1 attempts 2\n"),
      "op 1 (fetch_add, rank 0) uses the result of op 0 (fetch_add, rank 0) when it is not there; "
      "expected an edge that waits for it");
  EXPECT_EQ(error_of(two + "  0 put on 0 reads 0[0+8] writes 1[0+8] offset attempt:0*8\n"
                           "region repeat entry 0 count 1 attempts 3\n"),
            "op 0 (put, rank 0) acts on 8 bytes at 0 + 16 of buffer 1, which has 16");
  EXPECT_THAT(error_of(two + "  0 put on 0 reads 0[0+8] writes 1[0+8]\n"
                             "region retry entry 0 count 1 attempts 3 outcome actual\n"),
              ::testing::HasSubstr("nothing decides it"));
}

TEST(Regions, AnAbandonedRankServesItsPeersOnly) {
  const sched::Schedule schedule =
      sched::read_text(std::string(kTwo) +
                       "  0 compare_swap on 0 reads 1[0+8] writes 1[0+8] operand 1 compare 5\n"
                       "  1 put on 0 reads 0[0+8] writes 1[0+8] after done:0\n"
                       "region retry entry 0 count 1 attempts 2 outcome actual\n");
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up();
  ranks.begin();
  EXPECT_THROW(ranks.finish(), InputError);
  ranks.executor(0).abandon();
  for (int i = 0; i < 10; ++i) ranks.round();
  EXPECT_FALSE(ranks.executor(0).finished());
  EXPECT_EQ(ranks.transport(0).posted.size(), 2u);
}

// A put that completes in silence, then an alt that is left out, or a put of nothing: what comes
// later speaks for the first all the same.
TEST(Regions, TheSilentAreNotForgotten) {
  for (const char* const between :
       {"  1 put on 0 reads 0[0+8] writes 1[0+8]\n  2 put on 0 reads 0[8+8] writes 1[8+8]\n"
        "region alt entry 1 count 1 p 0\n",
        "  1 put on 0\n  2 put on 0 reads 0[8+8] writes 1[8+8]\n"}) {
    const sched::Schedule schedule =
        sched::read_text(std::string(kTwo) + "  0 put on 0 reads 0[0+8] writes 1[0+8]\n" + between);
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ranks.transport(0).in_order = true;
    ranks.set_up();
    ranks.begin();
    EXPECT_TRUE(ranks.finish()) << between;
  }
}

// Without requests of their own, fetch_and, fetch_or and fetch_xor are swaps, and as many as it
// takes to find what is there.
TEST(Regions, BitwiseAtomicsAreMadeOfSwaps) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 8\n"
      "channel 0 from 0 to 1\nrank 0\n"
      "  0 fetch_or on 0 reads 1[0+8] writes 1[0+8] operand 12\n"
      "  1 fetch_add on 0 reads 1[0+8] writes 1[0+8] operand 3 after done:0\n"
      "  2 fetch_and on 0 reads 1[0+8] writes 1[0+8] operand 6 after done:1\n"
      "  3 fetch_xor on 0 reads 1[0+8] writes 1[0+8] operand 255 after done:2\n"
      "  4 fetch_xor on 0 reads 1[0+8] writes 1[0+8] operand 1 after done:3\n"
      "region repeat entry 4 count 1 attempts 3\n");
  for (const bool bitwise : {true, false}) {
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ranks.transport(0).bitwise = bitwise;
    ranks.set_up();
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    EXPECT_THAT(ranks.executor(0).results(), ::testing::ElementsAre(0, 12, 15, 6, 249));
    // The first guess is 0, and later ones are what was there after the last time.
    EXPECT_EQ(ranks.transport(0).posted.size(), bitwise ? 7u : 10u);
  }
}

TEST(Regions, FlagsAreLoweredBetweenTurnsAndStandInTheEnd) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 8\n"
      "channel 0 from 0 to 1\nchannel 1 from 1 to 0\n"
      "rank 0\n  0 put on 0 flag reads 0[0+8] writes 1[0+8]\n  1 recv on 1\n"
      "rank 1\n  2 poll reads 1[0+8] sees 0\n  3 send on 1 after done:2\n"
      "region repeat entry 0 count 2 attempts 5\nregion repeat entry 2 count 2 attempts 5\n"
      "pre 0[0+8] value 3\npost 1[0+8] value 3\n");
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up();
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  EXPECT_EQ(ranks.executor(1).times()[0].attempts, 5u);
  ranks.expect_proved();
}

}  // namespace
}  // namespace slackline
