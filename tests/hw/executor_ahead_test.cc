// What an executor posts before its run begins.
#include <gtest/gtest.h>

#include <algorithm>

#include "machine/delays.h"
#include "tests/hw/loop_ranks.h"

namespace slackline {
namespace {

using testing::compiled;
using testing::Loop;
using testing::LoopRanks;

// Messages that came before their receives.
std::size_t early_messages(const Loop& loop) {
  std::size_t count = 0;
  for (const auto& [number, channel] : loop.channels) count += channel.sends.size();
  return count;
}

// All ranks but the root begin before it, and go as far as they can.
std::size_t early_where_the_root_is_late(LoopRanks& ranks, const Loop& loop, std::uint32_t count) {
  for (std::uint32_t r = 1; r < count; ++r) ranks.executor(r).begin();
  for (std::uint32_t r = 1; r < count; ++r) {
    while (ranks.executor(r).progress()) continue;
  }
  const std::size_t early = early_messages(loop);
  ranks.executor(0).begin();
  EXPECT_TRUE(ranks.finish());
  ranks.expect_proved();
  return early;
}

TEST(ExecutorAhead, FirstCreditsMeetTheirReceivesHoweverLateARankBegins) {
  for (const char* spec : {"binomial-pipeline:ranks=4,bytes=64,block=8",
                           "sequential:ranks=4,bytes=64,block=8,window=3",
                           "binomial-pipeline:ranks=4,bytes=64,block=8,order=lockstep"}) {
    SCOPED_TRACE(spec);
    const sched::Schedule schedule = compiled(spec);
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ranks.set_up();
    for (int iteration = 0; iteration < 3; ++iteration) {
      for (std::uint32_t r = 0; r < 4; ++r) {
        if (iteration != 0) ranks.executor(r).reset(true);
        // The last time nobody posts ahead.
        if (iteration < 2) ranks.executor(r).post_ahead();
      }
      const std::size_t early = early_where_the_root_is_late(ranks, loop, 4);
      EXPECT_EQ(early == 0, iteration < 2) << early << " in iteration " << iteration;
    }
  }
}

TEST(ExecutorAhead, CountsAsIssuedAtTimeZero) {
  const sched::Schedule schedule = compiled("chain:ranks=2,bytes=64,block=8");
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up();
  ranks.executor(0).post_ahead();
  ranks.executor(1).post_ahead();
  // Of the first two credits; those of data have memory.
  EXPECT_EQ(ranks.transport(0).posted.size(), 2u);
  EXPECT_EQ(ranks.transport(1).posted.size(), 0u);
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  std::uint32_t at_zero = 0;
  for (std::uint32_t i = 0; i < ranks.executor(0).times().size(); ++i) {
    const sched::OpTimes& times = ranks.executor(0).times()[i];
    EXPECT_LE(times.ready_s, times.issued_s) << i;
    EXPECT_LE(times.issued_s, times.done_s) << i;
    if (times.issued_s == 0) ++at_zero;
  }
  EXPECT_EQ(at_zero, 2u);
}

// A transport without room takes them later, as it takes anything.
TEST(ExecutorAhead, WaitsForRoom) {
  const sched::Schedule schedule = compiled("sequential:ranks=4,bytes=64,block=8");
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up();
  ranks.transport(0).room = 1;
  ranks.transport(0).room_per_poll = 1;
  for (std::uint32_t r = 0; r < 4; ++r) ranks.executor(r).post_ahead();
  EXPECT_EQ(ranks.transport(0).posted.size(), 1u);
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  ranks.expect_proved();
}

// What is delayed is delayed.
TEST(ExecutorAhead, NothingWhereThereAreDelays) {
  const sched::Schedule schedule = compiled("chain:ranks=2,bytes=64,block=8");
  const machine::Delays delays;
  Loop loop;
  LoopRanks ranks(schedule, loop);
  hw::ExecutorOptions options;
  options.delays = &delays;
  ranks.set_up_alike(options);
  ranks.executor(0).post_ahead();
  EXPECT_TRUE(ranks.transport(0).posted.empty());
}

}  // namespace
}  // namespace slackline
