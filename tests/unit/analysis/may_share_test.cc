// Which link messages may ever share: by hand, and against runs that did share.
#include "analysis/slack/may_share.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::DelayPlan;
using machine::Platform;
using machine::Wiring;
using sched::Schedule;
using testing::Dice;
using testing::Program;

struct Flow {
  std::uint32_t src;
  std::uint32_t dst;
  std::uint64_t bytes = 10'000;
};

Schedule schedule_of(const std::vector<Flow>& flows) {
  Program program(8);
  for (const Flow& flow : flows) {
    const auto channel = program.channel(flow.src, flow.dst);
    program.recv(channel, flow.bytes);
    program.send(channel, flow.bytes);
  }
  return program.build();
}

// The link's name; empty if there is none.
std::string shared_link(const Schedule& schedule, const std::string& platform_text,
                        const DelayPlan& plan = {}) {
  const Platform platform = machine::load_platform(platform_text);
  const Wiring wiring(platform, schedule.rank_count());
  const machine::Paths paths(schedule, wiring, plan);
  const auto link = link_that_may_be_shared({schedule, platform, wiring}, paths);
  return link ? wiring.links()[link->value].name : "";
}

constexpr const char* kStar = "star:rate=8Gbps";
constexpr const char* kFairStar = "star:rate=8Gbps,nic=fair";
constexpr const char* kRacks = "two-level:racks=2,hosts=4,rate=8Gbps,oversubscription=4";

TEST(MayShare, NothingOnAStarOfSerialNics) {
  EXPECT_EQ(shared_link(schedule_of({{0, 1}, {0, 2}, {3, 1}}), kStar), "");
}

// Messages that are small alone, and large together.
TEST(MayShare, WhatGathers) {
  for (const auto bundle : {sched::Bundle::kNone, sched::Bundle::kTraditional}) {
    Program program(4);
    for (std::uint32_t r = 0; r < 2; ++r) {
      const auto channel = program.channel(r, r + 2);
      if (bundle != sched::Bundle::kNone) {
        program.builder().channel(channel).bundle = bundle;
        program.builder().channel(channel).bundle_bytes = 16'000;
      }
      for (int i = 0; i < 16; ++i) program.put(channel, 1'000);
    }
    EXPECT_EQ(
        shared_link(program.build(),
                    "two-level:racks=2,hosts=2,rate=8Gbps,oversubscription=2,interleave=4KiB"),
        bundle == sched::Bundle::kNone ? "" : "rack-0.up");
  }
}

TEST(MayShare, APortOfAFairNic) {
  EXPECT_EQ(shared_link(schedule_of({{0, 1}, {0, 2}}), kFairStar), "host-0.out");
  EXPECT_EQ(shared_link(schedule_of({{0, 1}, {2, 1}}), kFairStar), "host-1.in");
  EXPECT_EQ(shared_link(schedule_of({{0, 1}, {1, 0}, {2, 3}}), kFairStar), "");
  // Two of one channel can be under way at a time, two small ones share nothing.
  EXPECT_EQ(shared_link(schedule_of({{0, 1}, {0, 1}}), kFairStar), "host-0.out");
  EXPECT_EQ(shared_link(schedule_of({{0, 1, 100}, {0, 2, 4096}}), kFairStar), "");
}

TEST(MayShare, AnUplinkThatHasNotTheRateForAllWhoMaySendAtATime) {
  EXPECT_EQ(shared_link(schedule_of({{0, 4}, {1, 5}}), kRacks), "rack-0.up");
  // A serial NIC has one message at a time, out and in.
  EXPECT_EQ(shared_link(schedule_of({{0, 4}, {0, 5}}), kRacks), "");
  EXPECT_EQ(shared_link(schedule_of({{0, 4}, {1, 4}}), kRacks), "");
  // Other directions, or within a rack.
  EXPECT_EQ(shared_link(schedule_of({{0, 4}, {5, 1}}), kRacks), "");
  EXPECT_EQ(shared_link(schedule_of({{0, 1}, {2, 3}}), kRacks), "");
  // With the rate for all.
  const std::string full = "two-level:racks=2,hosts=4,rate=8Gbps,oversubscription=1";
  EXPECT_EQ(shared_link(schedule_of({{0, 4}, {1, 5}, {2, 6}, {3, 7}}), full), "");
  const std::string half = "two-level:racks=2,hosts=4,rate=8Gbps,oversubscription=2";
  EXPECT_EQ(shared_link(schedule_of({{0, 4}, {1, 5}}), half), "");
  EXPECT_EQ(shared_link(schedule_of({{0, 4}, {1, 5}, {2, 6}}), half), "rack-0.up");
}

TEST(MayShare, SlowPairsNeedLessAndSlowLinksHaveLess) {
  const std::string half = "two-level:racks=2,hosts=4,rate=8Gbps,oversubscription=2";
  const Schedule three = schedule_of({{0, 4}, {1, 5}, {2, 6}});
  DelayPlan slow;
  slow.pairs.push_back({sched::RankId(0), sched::RankId(4), {1'000'000}});
  EXPECT_EQ(shared_link(three, half, slow), "rack-0.up");  // more than two full rates by a bit
  slow.pairs.push_back({sched::RankId(1), sched::RankId(5), {1'000'000}});
  EXPECT_EQ(shared_link(three, half, slow), "");
  const Schedule two = schedule_of({{0, 4}, {1, 5}});
  DelayPlan slowed;
  slowed.link_rates.push_back({"rack-1.down", {12'000'000'000}, sched::Time{1'000'000}});
  EXPECT_EQ(shared_link(two, half), "");
  EXPECT_EQ(shared_link(two, half, slowed), "rack-1.down");
  EXPECT_EQ(shared_link(schedule_of({{0, 4}}), half, slowed), "");  // one alone
}

// No run in which messages shared a link is without one that they may share.
// A message that goes later may take longer, or be lost, with all links to itself.
TEST(MayShare, NoPromiseIsGivenWhereRatesChangeAtGivenTimes) {
  const Schedule schedule = schedule_of({{0, 1}});
  const Platform platform = machine::load_platform(kStar);
  const Wiring wiring(platform, schedule.rank_count());
  const auto why = [&](const DelayPlan& plan) {
    return why_no_promise({schedule, platform, wiring, plan}).value_or("");
  };
  EXPECT_EQ(why({}), "");
  const auto rate_of = [](const char* link, sched::Time at) {
    DelayPlan plan;
    plan.link_rates.push_back({link, {1'000'000'000}, at});
    return plan;
  };
  EXPECT_EQ(
      why(rate_of("host-0.out", testing::us(5))),
      "rates change, or ways are cut, at given times, and a delay changes what messages meet");
  // From the beginning on it is a rate like another, and a link without messages keeps none.
  EXPECT_EQ(why(rate_of("host-0.out", sched::Time{0})), "");
  EXPECT_EQ(why(rate_of("host-2.out", testing::us(5))), "");
  DelayPlan cut;
  cut.failures.push_back({"", sched::RankId(1), testing::us(50)});
  EXPECT_NE(why(cut), "");
}

TEST(MayShare, HoldsForRandomRuns) {
  int shared = 0;
  int never = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    Dice dice(seed);
    const sched::PatternEntry& pattern =
        sched::plan_patterns()[seed % sched::plan_patterns().size()];
    const std::string spec = testing::random_spec(dice, pattern.name, 16, 5);
    const Schedule schedule = compile(sched::parse_spec(spec));
    const std::string text =
        dice.pick<std::string>({"star:", "two-level:racks=4,hosts=4,placement=round-robin,",
                                "two-level:racks=2,hosts=8,", "fat-tree:arity=4,",
                                "two-level:racks=8,hosts=16,ranks_per_node=2,"}) +
        (dice.one_in(2) ? "nic=fair," : "nic=serial,") +
        "rate=40Gbps,latency=1us,o_post=" + dice.pick<std::string>({"0", "300ns"});
    Platform platform = machine::load_platform(text);
    if (dice.one_in(2)) {
      platform.interleave_bytes = 0;
    }
    const Wiring wiring(platform, schedule.rank_count());
    const DelayPlan plan = testing::random_delays(dice, schedule);
    const machine::Paths paths(schedule, wiring, plan);
    const bool may = link_that_may_be_shared({schedule, platform, wiring}, paths).has_value();
    const bool did = run_events({schedule, platform, plan}).contended;
    EXPECT_TRUE(may || !did) << spec << " on " << text << ", seed " << seed;
    if (did) ++shared;
    if (!may) ++never;
  }
  EXPECT_GT(shared, 60);
  EXPECT_GT(never, 60);
}

}  // namespace
}  // namespace slackline::analysis
