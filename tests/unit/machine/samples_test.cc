// What is kept of the runs of a sample, by a source whose traces are made up.
#include "machine/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/one_by_one.h"
#include "tests/unit/analysis/program.h"

namespace slackline::machine {
namespace {

using ::testing::ElementsAre;
using testing::Program;

// Two operations of rank 0, none of rank 1, one of rank 2.
sched::Schedule three_ranks() {
  Program program(3);
  program.calc(0, testing::us(1));
  program.calc(0, testing::us(1));
  program.calc(2, testing::us(1));
  return program.build();
}

// With seed s they are done at s + 5, s + 3 and 2s.
sched::Trace made_up(const DelayPlan& plan) {
  const auto seed = static_cast<double>(plan.seed);
  sched::Trace trace;
  trace.ops.resize(3);
  trace.ops[0].done_s = seed + 5;
  trace.ops[1].done_s = seed + 3;
  trace.ops[2].done_s = 2 * seed;
  return trace;
}

TEST(Samples, KeepsEveryMakespanAndRank) {
  const sched::Schedule schedule = three_ranks();
  DelayPlan plan;
  plan.seed = 4;
  std::vector<std::uint32_t> told;
  SampleRuns runs;
  runs.samples = 3;
  runs.progress = [&](std::uint32_t done) { told.push_back(done); };
  const Samples samples = samples_of(testing::one_by_one(made_up), schedule, plan, runs);
  EXPECT_EQ(samples.ranks, 3u);
  EXPECT_THAT(samples.makespan_s, ElementsAre(9, 10, 12));
  EXPECT_THAT(samples.rank_finish_s, ElementsAre(9, 0, 8, 10, 0, 10, 11, 0, 12));
  EXPECT_THAT(samples.finish_s(1), ElementsAre(10, 0, 10));
  EXPECT_THAT(samples.finish_s(2), ElementsAre(11, 0, 12));
  EXPECT_THAT(told, ElementsAre(1, 2, 3));
}

TEST(Samples, TellsTheSourceWhatToRun) {
  const sched::Schedule schedule = three_ranks();
  DelayPlan plan;
  plan.seed = 7;
  SampleRuns runs;
  runs.samples = 2;
  runs.jobs = 5;
  const auto source = [&](const PlanRuns& asked, const TraceReading& reading) {
    EXPECT_EQ(asked.count, 2u);
    EXPECT_EQ(asked.jobs, 5u);
    EXPECT_EQ(asked.plan(1).seed, 8u);
    EXPECT_EQ(asked.plan(0).seed, 7u);
    EXPECT_EQ(reading.width, 4u);
    return std::vector<double>(asked.count * reading.width, 1);
  };
  EXPECT_THAT(samples_of(source, schedule, plan, runs).makespan_s, ElementsAre(1, 1));
}

TEST(Samples, ARankIsDoneWithItsLastOperation) {
  const sched::Schedule schedule = three_ranks();
  EXPECT_THAT(rank_finish_s(schedule, made_up({}).ops), ElementsAre(5, 0, 0));
}

}  // namespace
}  // namespace slackline::machine
