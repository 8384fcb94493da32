// Runs that are taken up where another one stands, against the run that goes on.
#include "analysis/engines/flow_run.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sched/compile.h"
#include "sched/text.h"
#include "tests/property/random_runs.h"
#include "tests/support/sanitized.h"

namespace slackline::analysis {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using sched::Schedule;
using testing::Dice;

void finish(FlowRun& run) {
  while (run.step()) continue;
}

// The run is taken up at every `every`-th instant, by a new run or by one that has ended.
void expect_taken_up(const Schedule& schedule, const Platform& platform,
                     const machine::DelayPlan& plan, std::uint32_t every, const std::string& what) {
  const machine::Setting setting(schedule, platform, plan);
  const machine::RunGraph graph(schedule, sched::OpRange::of_all(schedule));
  const machine::Paths paths(setting);
  const machine::Delays delays(setting);
  const FlowRun::Common common{graph, setting, paths};
  FlowRun whole(common, delays);
  finish(whole);
  FlowRun front(common, delays);
  FlowRun ended(common, delays);
  finish(ended);
  std::uint32_t instants = 0;
  do {
    if (++instants % every != 0) continue;
    front.settle();
    FlowRun fresh(common, delays);
    FlowRun& taken_up = instants % (2 * every) == 0 ? ended : fresh;
    taken_up.resume(front);
    // It is given up while atomics wait for a word.
    const bool has_words = !front.trace().results.empty();
    ASSERT_TRUE(taken_up.goes_on_as(front) || has_words) << what << instants;
    finish(taken_up);
    ASSERT_EQ(digest_of(taken_up.trace()), digest_of(whole.trace())) << what << instants;
    ASSERT_EQ(taken_up.trace().results, whole.trace().results) << what << instants;
    ASSERT_EQ(taken_up.trace().memory, whole.trace().memory) << what << instants;
  } while (front.step());
  ASSERT_EQ(digest_of(front.trace()), digest_of(whole.trace())) << what;
}

TEST(FlowRun, IsTheSameWhereverItIsTakenUp) {
  for (std::uint32_t seed = 0; seed < testing::cases(60u); ++seed) {
    Dice dice(seed);
    const auto patterns = sched::plan_patterns();
    const sched::PatternEntry& pattern = patterns[seed % patterns.size()];
    const Schedule schedule =
        compile(sched::parse_spec(testing::random_spec(dice, pattern.name, 8, 4)));
    Platform platform = testing::random_platform(
        dice, dice.one_in(2) ? NicDiscipline::kFair : NicDiscipline::kSerial);
    platform.topology = testing::random_topology(dice);
    testing::vary_routing(platform.topology, seed);
    if (dice.one_in(4)) testing::random_node(dice, platform);
    const machine::DelayPlan plan = testing::random_delays(dice, schedule);
    expect_taken_up(schedule, platform, plan, 1 + dice.below(9),
                    "seed " + std::to_string(seed) + ", instant ");
  }
}

// What was added to a word, and where to, is kept too.
TEST(FlowRun, KeepsWhatOperationsWereToldAndFetched) {
  const Schedule schedule = sched::read_text(R"(slackline schedule 1
title "ticket"
ranks 3
buffer 0 rank 0 bytes 64
buffer 1 rank 1 bytes 1KiB
buffer 2 rank 2 bytes 64
channel 0 from 0 to 1
channel 1 from 2 to 1
rank 0
  0 fetch_add on 0 reads 1[0+8] writes 1[0+8] 0[0+8] operand 5
  1 put on 0 reads 0[16+8] writes 1[64+8] offset result:0*8 after done:0
  2 fetch_add on 0 reads 1[0+8] writes 1[0+8] 0[8+8] operand 7 after done:1
rank 2
  3 fetch_add on 1 reads 1[0+8] writes 1[0+8] 2[0+8] operand 11
  4 fetch_add on 1 reads 1[0+8] writes 1[0+8] 2[8+8] operand 13 after done:3
pre 0[16+8] value 1
)");
  const Platform platform = machine::load_platform(
      "star:rate=1Gbps,latency=1us,atomic_service=3us,o_post=100ns,nic=serial");
  expect_taken_up(schedule, platform, {}, 1, "instant ");
  Platform node = platform;
  node.node.ranks = 3;
  node.node.cpu_atomic = sched::Time{400'000};
  node.node.cpu_atomic_sharer = sched::Time{300'000};
  expect_taken_up(schedule, node, {}, 1, "on one node, instant ");
}

}  // namespace
}  // namespace slackline::analysis
