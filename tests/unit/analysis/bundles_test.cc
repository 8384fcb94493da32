// Bundles in closed form, on the event engine.
#include <gtest/gtest.h>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/program.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Trace;
using testing::us;

constexpr double kO = 1e-6;       // o_post
constexpr double kL = 10e-6;      // latency
constexpr double kC = 2e-6;       // o_complete
constexpr double kCopy = 0.5e-6;  // of a message of 500 bytes
constexpr double kWire = 1e-6;    // of one

Platform platform() {
  Platform p;
  p.rate = {4'000'000'000};       // 500 bytes: 1 us
  p.copy_rate = {8'000'000'000};  // 500 bytes: 0.5 us
  p.latency = us(10);
  p.o_post = us(1);
  p.o_complete = us(2);
  return p;
}

struct Puts {
  testing::Program program{2};
  sched::ChannelId channel;
  std::vector<sched::OpId> puts;

  Puts(sched::Bundle bundle, std::uint32_t count, std::uint64_t bundle_bytes)
      : channel(program.channel(0, 1)) {
    program.builder().channel(channel).bundle = bundle;
    program.builder().channel(channel).bundle_bytes = bundle_bytes;
    for (std::uint32_t i = 0; i < count; ++i) puts.push_back(program.put(channel, 500));
  }
  Trace run() { return analysis::run_events({program.build(), platform()}); }
};

TEST(Bundles, AFullOneIsPostedByWhoFillsIt) {
  Puts p(sched::Bundle::kTraditional, 4, 1'000);
  const Trace t = p.run();
  for (std::uint32_t i = 0; i < 4; ++i) {
    const double posted_s = i < 2 ? 2 * kCopy + kO : 4 * kCopy + 2 * kO;
    const double start_s = i < 2 ? posted_s : std::max(posted_s, 2 * kCopy + kO + 2 * kWire);
    EXPECT_NEAR(t.ops[i].issued_s, (i + 1) * kCopy + (i < 2 ? 0 : kO), 1e-15) << i;
    EXPECT_NEAR(t.ops[i].wire_s, start_s, 1e-15) << i;
    EXPECT_NEAR(t.ops[i].done_s, start_s + 2 * kWire + 2 * kL + kC, 1e-15) << i;
  }
}

TEST(Bundles, AFlushPostsTheRest) {
  Puts p(sched::Bundle::kTraditional, 3, 1'000'000);
  const sched::OpId flush = p.program.flush(p.channel);
  const sched::OpId empty = p.program.flush(p.channel);
  const Trace t = p.run();
  const double posted_s = 3 * kCopy + kO;
  EXPECT_NEAR(t.ops[flush.value].done_s, posted_s, 1e-15);
  EXPECT_NEAR(t.ops[empty.value].done_s, posted_s, 1e-15);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(t.ops[i].done_s, posted_s + 3 * kWire + 2 * kL + kC, 1e-15);
  }
}

TEST(Bundles, AgePostsOnTheLaneOfTheOldest) {
  Puts p(sched::Bundle::kTraditional, 2, 1'000'000);
  p.program.builder().channel(p.channel).bundle_delay = us(5);
  // The lane is busy when the time has come; the oldest goes before what waits there.
  const sched::OpId busy = p.program.calc(0, us(7));
  const sched::OpId next = p.program.calc(0, us(1));
  p.program.after({p.puts[1]}, busy, sched::On::kIssued);
  p.program.after({p.puts[1]}, next, sched::On::kIssued);
  const Trace t = p.run();
  const double posted_s = 2 * kCopy + 7e-6 + kO;
  EXPECT_NEAR(t.ops[next.value].issued_s, posted_s, 1e-15);
  EXPECT_NEAR(t.ops[0].done_s, posted_s + 2 * kWire + 2 * kL + kC, 1e-15);
  EXPECT_NEAR(t.ops[1].done_s, t.ops[0].done_s, 1e-15);
}

TEST(Bundles, AGetPostsThemFirst) {
  Puts p(sched::Bundle::kTraditional, 1, 1'000'000);
  const sched::OpId get = p.program.get(p.channel, 500);
  const Trace t = p.run();
  EXPECT_NEAR(t.ops[0].wire_s, kCopy + kO, 1e-15);
  EXPECT_NEAR(t.ops[get.value].issued_s, kCopy + 2 * kO, 1e-15);
}

// Copies take half as long again, and posts too, each 0.1 us more.
TEST(Bundles, AStragglerIsSlowAtCopiesAndAtPosts) {
  constexpr double kMore = 0.1e-6;
  const double copy_s = 1.5 * kCopy + kMore;
  const double post_s = 1.5 * kO + kMore;
  machine::DelayPlan plan;
  plan.stragglers.push_back({sched::RankId(0), 1.5, us(0.1)});

  Puts full(sched::Bundle::kTraditional, 2, 1'000);
  const Trace by_bytes = analysis::run_events({full.program.build(), platform(), plan});
  EXPECT_NEAR(by_bytes.ops[0].issued_s, copy_s, 1e-15);
  EXPECT_NEAR(by_bytes.ops[1].issued_s, 2 * copy_s, 1e-15);
  EXPECT_NEAR(by_bytes.ops[1].wire_s, 2 * copy_s + post_s, 1e-15);

  Puts flushed(sched::Bundle::kTraditional, 1, 1'000'000);
  const sched::OpId flush = flushed.program.flush(flushed.channel);
  const Trace by_flush = analysis::run_events({flushed.program.build(), platform(), plan});
  EXPECT_NEAR(by_flush.ops[flush.value].issued_s, copy_s + post_s, 1e-15);

  Puts before(sched::Bundle::kTraditional, 1, 1'000'000);
  const sched::OpId get = before.program.get(before.channel, 500);
  const Trace by_get = analysis::run_events({before.program.build(), platform(), plan});
  EXPECT_NEAR(by_get.ops[0].wire_s, copy_s + post_s, 1e-15);
  EXPECT_NEAR(by_get.ops[get.value].issued_s, copy_s + 2 * post_s, 1e-15);
}

TEST(Bundles, OverflowGathersWhatTheWindowKeepsBack) {
  Puts p(sched::Bundle::kOverflow, 4, 1'000'000);
  p.program.builder().channel(p.channel).window = 1;
  const Trace t = p.run();
  const double first_s = kO + kWire + 2 * kL + kC;
  EXPECT_NEAR(t.ops[0].done_s, first_s, 1e-15);
  for (std::uint32_t i = 1; i < 4; ++i) {
    EXPECT_NEAR(t.ops[i].issued_s, kO + i * kCopy, 1e-15);
    EXPECT_NEAR(t.ops[i].done_s, first_s + kO + 3 * kWire + 2 * kL + kC, 1e-15);
  }
}

TEST(Bundles, OverflowWithoutAWindowNeverGathers) {
  Puts p(sched::Bundle::kOverflow, 3, 1'000'000);
  const Trace gathered = p.run();
  const Trace plain = Puts(sched::Bundle::kNone, 3, 0).run();
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(gathered.ops[i].issued_s, plain.ops[i].issued_s);
    EXPECT_EQ(gathered.ops[i].done_s, plain.ops[i].done_s);
  }
}

TEST(Bundles, WhatNobodyFlushesIsNamed) {
  Puts p(sched::Bundle::kTraditional, 2, 1'000'000);
  EXPECT_EQ(testing::error_of([&] { p.run(); }),
            "op 0 (put, rank 0) never leaves the bundle of channel 0: expected a flush");
}

TEST(Bundles, TheAnalyticEngineLeavesThemToEvents) {
  Puts p(sched::Bundle::kTraditional, 4, 1'000);
  const sched::Schedule schedule = p.program.build();
  const Trace analytic = analysis::run_analytic({schedule, platform()});
  EXPECT_EQ(analytic.engine, "event");
  EXPECT_EQ(analytic.makespan_s(), analysis::run_events({schedule, platform()}).makespan_s());
}

}  // namespace
}  // namespace slackline
