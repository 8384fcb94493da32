// How long a straggler's lanes are held where its channels gather, on a clock that stands still
// until nothing else is left to do. So every time is a sum of what lanes were held for, and of
// nothing else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "machine/delays.h"
#include "machine/platform.h"
#include "machine/run/bundle_delays.h"
#include "tests/hw/gathered.h"
#include "tests/hw/loop_ranks.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using namespace sched;  // NOLINT: as the draft does
using testing::Gathered;
using Clock = hw::Executor::Clock;

constexpr double kUs = 1e-6;

Clock::time_point& standing_clock() {
  static Clock::time_point now;
  return now;
}

machine::DelayPlan straggler(double slowdown, Time by = Time(0), std::uint32_t rank = 0) {
  machine::DelayPlan plan;
  machine::Straggler slow;
  slow.rank = RankId(rank);
  slow.slowdown = slowdown;
  slow.by = by;
  plan.stragglers.push_back(slow);
  return plan;
}

// Carries a schedule out; the times of rank 0.
class Held {
 public:
  Held(const Schedule& schedule, const machine::DelayPlan& plan, const machine::Platform& platform)
      : delays_(plan, schedule, platform),
        bundle_delays_(plan, schedule, platform),
        ranks_(schedule, loop_) {
    hw::ExecutorOptions options;
    options.delays = &delays_;
    options.bundle_delays = &bundle_delays_;
    options.now = [] { return standing_clock(); };
    ranks_.set_up_alike(options);
    ranks_.begin(standing_clock());
  }

  /// What rank 0 posted stays incomplete until nothing else is left to do.
  void hold_completions() { ranks_.transport(0).held = true; }

  void run() {
    while (!is_finished()) {
      if (ranks_.round()) continue;
      std::optional<Clock::time_point> next;
      for (const std::uint32_t r : {0u, 1u}) {
        const auto timer = ranks_.executor(r).next_timer();
        if (timer && (!next || *timer < *next)) next = timer;
      }
      if (next) {
        ASSERT_GT(*next, standing_clock());
        standing_clock() = *next;
      } else {
        ASSERT_TRUE(ranks_.transport(0).held) << "nothing is left to wait for";
        ranks_.transport(0).held = false;
      }
    }
    ranks_.expect_proved();
  }

  double issued_us(OpId op) { return times(op).issued_s / kUs; }
  /// A message's: when its bundle left.
  double left_us(OpId op) { return times(op).wire_s / kUs; }
  double done_us(OpId op) { return times(op).done_s / kUs; }
  const OpTimes& times(OpId op) { return ranks_.executor(0).times()[op.value]; }

 private:
  bool is_finished() { return ranks_.executor(0).finished() && ranks_.executor(1).finished(); }

  machine::Delays delays_;
  machine::BundleDelays bundle_delays_;
  testing::Loop loop_;
  testing::LoopRanks ranks_;
};

// A post takes 1 us, and so does the copy of 1000 bytes. Whoever is three times as slow takes 2 us
// more for a post, and 1 us more for the copy of 500 bytes.
machine::Platform platform() {
  return machine::parse_platform_spec("star:rate=8Gbps,latency=1us,o_post=1us,copy_rate=8Gbps");
}

// Rank 0 puts 500 bytes at a time to rank 1, which nobody waits for.
struct Puts {
  testing::Draft draft;
  ChannelId channel;
  BufferId here, there;
  std::uint64_t at = 0;

  explicit Puts(Bundle bundle = Bundle::kTraditional, std::uint32_t window = 0) {
    draft.ranks = 2;
    channel = draft.channel(0, 1, window);
    draft.channels[0].bundle = bundle;
    draft.channels[0].bundle_bytes = 1'000'000;
    here = draft.buffer(0, 5000);
    there = draft.buffer(1, 5000);
  }
  OpId put() {
    const OpId op = draft.put(channel, {here, at, 500}, {there, at, 500});
    at += 500;
    return op;
  }
  OpId flush() { return draft.add(OpKind::kFlush, 0, channel); }
  OpId calc(double us) {
    const OpId op = draft.add(OpKind::kCalc, 0);
    draft.ops.back().arguments.emplace().duration = Time(static_cast<std::int64_t>(us * 1e6));
    return op;
  }
};

TEST(StragglingBundles, WhoFillsOnePostsIt) {
  Puts puts;
  puts.draft.channels[0].bundle_bytes = 1500;
  const OpId first = puts.put(), second = puts.put(), third = puts.put();
  const OpId empty = puts.flush();
  const OpId next = puts.put();
  const OpId flush = puts.flush();
  const Schedule schedule = puts.draft.build();
  Held held(schedule, straggler(3), platform());
  held.run();
  EXPECT_DOUBLE_EQ(held.issued_us(first), 1);
  EXPECT_DOUBLE_EQ(held.issued_us(second), 2);
  EXPECT_DOUBLE_EQ(held.issued_us(third), 3);
  for (const OpId op : {first, second, third}) EXPECT_DOUBLE_EQ(held.left_us(op), 5);
  EXPECT_DOUBLE_EQ(held.done_us(empty), 5);  // there is nothing to post
  EXPECT_DOUBLE_EQ(held.issued_us(next), 6);
  EXPECT_DOUBLE_EQ(held.done_us(flush), 8);
  EXPECT_DOUBLE_EQ(held.left_us(next), 8);
}

// First the bundle leaves, and then what is behind it has its own post.
TEST(StragglingBundles, OneLeavesBeforeAGet) {
  Puts puts;
  const OpId put = puts.put();
  const OpId get = puts.draft.get(puts.channel, {puts.there, 4000, 8}, {puts.here, 4000, 8});
  const Schedule schedule = puts.draft.build();
  Held held(schedule, straggler(3), platform());
  held.run();
  EXPECT_DOUBLE_EQ(held.issued_us(put), 1);
  EXPECT_DOUBLE_EQ(held.left_us(put), 3);
  EXPECT_DOUBLE_EQ(held.issued_us(get), 5);
}

// It waits for its lane when it is old enough. A calculation is slower, too.
TEST(StragglingBundles, AnOldOneHasItsTurnOnTheLane) {
  for (const double busy_us : {0, 20}) {
    Puts puts;
    puts.draft.channels[0].bundle_delay = Time(10'000'000);
    const OpId put = puts.put();
    if (busy_us > 0) puts.calc(busy_us);
    const Schedule schedule = puts.draft.build();
    Held held(schedule, straggler(3), platform());
    held.run();
    EXPECT_DOUBLE_EQ(held.issued_us(put), 1);
    EXPECT_DOUBLE_EQ(held.left_us(put), busy_us > 0 ? 1 + 60 + 2 : 1 + 10 + 2);
  }
}

// What finds room in the window goes alone, with the post of a message. What does not is copied,
// and leaves when there is room: behind what has the lane by then.
TEST(StragglingBundles, OverflowsCopyWhatFindsNoRoom) {
  Puts puts(Bundle::kOverflow, 1);
  const OpId alone = puts.put(), second = puts.put(), third = puts.put();
  const Schedule schedule = puts.draft.build();
  Held held(schedule, straggler(3), platform());
  held.hold_completions();
  held.run();
  EXPECT_DOUBLE_EQ(held.issued_us(alone), 2);
  EXPECT_DOUBLE_EQ(held.left_us(alone), 2);
  EXPECT_DOUBLE_EQ(held.issued_us(second), 3);
  EXPECT_DOUBLE_EQ(held.issued_us(third), 4);
  EXPECT_DOUBLE_EQ(held.left_us(second), 6);
  EXPECT_DOUBLE_EQ(held.left_us(third), 6);
}

TEST(StragglingBundles, WhatComesOnTopIsOfEachCopyAndEachPost) {
  Puts puts;
  const OpId first = puts.put(), second = puts.put();
  const OpId flush = puts.flush();
  const Schedule schedule = puts.draft.build();
  Held held(schedule, straggler(1, Time(7'000'000)), platform());
  held.run();
  EXPECT_DOUBLE_EQ(held.issued_us(first), 7);
  EXPECT_DOUBLE_EQ(held.issued_us(second), 14);
  EXPECT_DOUBLE_EQ(held.done_us(flush), 21);
  EXPECT_DOUBLE_EQ(held.left_us(first), 21);
}

// Delays of other kinds are held for as they are, with bundles too.
TEST(StragglingBundles, OthersBundlesTakeNoLonger) {
  Puts puts;
  const OpId first = puts.put(), second = puts.put();
  puts.flush();
  const Schedule schedule = puts.draft.build();
  machine::DelayPlan plan = straggler(3, Time(0), 1);
  plan.ops.push_back({second, Time(9'000'000), true, RankId::none()});
  Held held(schedule, plan, platform());
  held.run();
  EXPECT_DOUBLE_EQ(held.issued_us(first), 0);
  EXPECT_DOUBLE_EQ(held.issued_us(second), 9);
  EXPECT_DOUBLE_EQ(held.left_us(first), 9);
}

// A machine on which nothing takes time but what a straggler is slower for: a simulation has the
// same times there.
TEST(StragglingBundles, TakeTheTimesOfASimulation) {
  // A post takes 1 ms, and the copy of a byte 10 us; the clock of a run counts nanoseconds.
  constexpr double kSlowdown = 1e8;
  constexpr double kRounding_s = 50e-9;
  const machine::Platform platform = machine::parse_platform_spec(
      "star:rate=1000Tbps,latency=0,o_post=10ps,o_complete=0,gap=0,copy_rate=80Tbps");
  std::mt19937 random(1);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  for (int i = 0; i < 300; ++i) {
    std::string kinds(1 + below(12), 'p');
    // One of both: what is written, and what the target takes apart.
    const std::string of = below(2) == 0 ? "pf" : "spfi";
    for (char& kind : kinds) kind = of[below(of.size())];
    Gathered gathered(Bundle::kTraditional, kinds, below(2) * 8, true, 1 + below(60));
    gathered.draft.channels[0].bundle_bytes = 1 + below(150);
    machine::DelayPlan plan = straggler(kSlowdown, Time(below(2) * 500'000'000));
    for (std::uint32_t op = 0; op < kinds.size(); ++op) {
      if (below(4) != 0) continue;
      plan.ops.push_back({OpId(op), Time(static_cast<std::int64_t>(1 + below(3000)) * 1'000'000),
                          true, RankId::none()});
    }
    const Schedule schedule = gathered.draft.build();
    SCOPED_TRACE(
        fmt::format("{} in bundles of {}", kinds, gathered.draft.channels[0].bundle_bytes));
    const Trace simulated = analysis::run_events({schedule, platform, plan});
    Held held(schedule, plan, platform);
    held.run();
    for (std::uint32_t op = 0; op <= kinds.size(); ++op) {
      EXPECT_NEAR(held.times(OpId(op)).issued_s, simulated.ops[op].issued_s, kRounding_s) << op;
      EXPECT_NEAR(held.times(OpId(op)).wire_s, simulated.ops[op].wire_s, kRounding_s) << op;
    }
  }
}

}  // namespace
}  // namespace slackline
