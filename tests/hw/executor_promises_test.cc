// What an executor rests on, and what it does where it is told otherwise.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/error.h"
#include "hw/executor.h"
#include "sched/builder.h"
#include "tests/hw/gathered.h"
#include "tests/hw/loop_ranks.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using testing::compiled;
using testing::Loop;
using testing::LoopRanks;

// Sends for whose end nobody waits; the bound does, even where requests complete in order and so
// the others need not say that they are done.
TEST(ExecutorPromises, ABoundHearsOfSendsThatNobodyElseWaitsFor) {
  constexpr std::uint32_t kMessages = 5;
  sched::ScheduleBuilder builder(2);
  sched::Channel channel;
  channel.src = sched::RankId(0);
  channel.dst = sched::RankId(1);
  const sched::ChannelId there = builder.add_channel(channel);
  for (std::uint32_t r = 0; r < 2; ++r) {
    const sched::BufferId buffer = builder.add_buffer(sched::RankId(r), kMessages * 9000);
    for (std::uint64_t k = 0; k < kMessages; ++k) {
      const sched::SliceRange slice = builder.add_slice({buffer, 9000 * k, 9000});
      sched::Op op;
      op.rank = sched::RankId(r);
      op.channel = there;
      op.kind = r == 0 ? sched::OpKind::kSend : sched::OpKind::kRecv;
      (r == 0 ? op.reads : op.writes) = slice;
      builder.add(op);
    }
  }
  const sched::Schedule schedule = builder.build();
  for (std::uint32_t bound = 0; bound <= kMessages; ++bound) {
    Loop loop;
    LoopRanks ranks(schedule, loop);
    for (std::uint32_t r = 0; r < 2; ++r) ranks.transport(r).in_order = true;
    hw::ExecutorOptions options;
    options.order.sends_in_flight = bound;
    ranks.set_up_alike(options);
    ranks.transport(0).held = true;
    ranks.begin();
    for (int i = 0; i < 100; ++i) ranks.round();
    const auto& posted = ranks.transport(0).posted;
    EXPECT_EQ(posted.size(), bound == 0 ? kMessages : bound);
    for (const hw::WorkRequest& request : posted) {
      EXPECT_TRUE(request.signalled || bound == 0) << bound;
    }
    ranks.transport(0).held = false;
    EXPECT_TRUE(ranks.finish()) << bound;
  }
}

// The k-th message of a channel meets its k-th receive: each says its number, and another one is
// not taken.
TEST(ExecutorPromises, AMessageOutOfItsOrderIsNotTaken) {
  for (const char* lowered : {"", ",lower=put"}) {
    for (const bool changed : {false, true}) {
      const sched::Schedule schedule =
          compiled(std::string("chain:ranks=2,bytes=100,block=100,ready=none") + lowered);
      Loop loop;
      LoopRanks ranks(schedule, loop);
      ranks.set_up(testing::plain);
      ranks.executor(0).begin();
      ranks.executor(0).progress();
      std::uint32_t waiting = 0;
      for (auto& [number, channel] : loop.channels) {
        for (auto& send : channel.sends) {
          send.request.immediate += changed ? 1 : 0;
          ++waiting;
        }
        for (auto& immediate : channel.writes) {
          immediate += changed ? 1 : 0;
          ++waiting;
        }
      }
      ASSERT_EQ(waiting, 1u);
      ranks.executor(1).begin();
      if (changed) {
        EXPECT_THROW(ranks.finish(), InternalError) << lowered;
      } else {
        ASSERT_TRUE(ranks.finish());
        ranks.expect_proved();
      }
    }
  }
}

// Whoever drives ranks may sleep after a round in which nothing happened, and only then.
TEST(ExecutorPromises, ARoundSaysWhetherAnythingHappened) {
  testing::Draft draft;
  draft.ranks = 2;
  const sched::ChannelId there = draft.channel(0, 1);
  const sched::Slice from{draft.buffer(0, 8), 0, 8};
  const sched::Slice to{draft.buffer(1, 8), 0, 8};
  const sched::OpId put = draft.put(there, from, to, sched::Notify::kFlag);
  const sched::OpId after = draft.add(sched::OpKind::kDelay, 0);
  draft.ops.back().arguments = sched::OpArguments{};
  draft.ops.back().arguments->duration = sched::Time{5'000'000'000};  // 5 ms
  draft.edge(put, after);
  draft.flag(put, draft.poll(1, {to}));
  draft.pre.push_back({from, sched::ValueId(0), 0});
  const sched::Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up(testing::plain);
  hw::Executor& source = ranks.executor(0);
  hw::Executor& target = ranks.executor(1);
  ranks.transport(0).held = true;
  ranks.begin();
  EXPECT_FALSE(source.next_timer());
  EXPECT_TRUE(target.progress());  // the poll begins
  EXPECT_FALSE(target.progress());
  EXPECT_TRUE(source.progress());  // the put is posted
  EXPECT_FALSE(source.progress());
  EXPECT_TRUE(target.progress());  // its flag is seen
  EXPECT_TRUE(target.finished());
  EXPECT_FALSE(target.progress());
  ranks.transport(0).held = false;
  EXPECT_TRUE(source.progress());  // it is complete, and the delay begins
  while (!source.finished()) {
    ASSERT_TRUE(source.next_timer());
    const bool due = *source.next_timer() <= std::chrono::steady_clock::now();
    const bool moved = source.progress();
    EXPECT_TRUE(moved || !due);
    EXPECT_EQ(moved, source.finished());
  }
  EXPECT_FALSE(source.next_timer());
  EXPECT_FALSE(source.progress());
}

// As many bundles are under way as the window says, and the rest gathers until one is done.
TEST(BundleWindow, HoldsExactlySoManyBundles) {
  for (std::uint32_t window = 1; window <= 3; ++window) {
    testing::Gathered gathered(sched::Bundle::kOverflow, "pppppppp", 0);
    gathered.draft.channels[0].window = window;
    gathered.draft.channels[0].bundle_bytes = 1'000'000;
    const sched::Schedule schedule = gathered.draft.build();
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ranks.set_up(testing::plain);
    ranks.transport(0).held = true;
    ranks.begin();
    for (int i = 0; i < 100; ++i) ranks.round();
    // One message each: what comes while there is room leaves alone.
    EXPECT_EQ(ranks.transport(0).posted.size(), window);
    ranks.transport(0).held = false;
    ASSERT_TRUE(ranks.finish()) << window;
    ranks.expect_proved();
  }
}

}  // namespace
}  // namespace slackline
