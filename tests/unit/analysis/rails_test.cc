// Hosts of several NICs, worked out by hand on round_platform() (a post takes 1 us, 1000 bytes take
// 1 us on the wire, the way 3 us, seeing a completion 2 us, a NIC serves an atomic in 5 us), and
// against ranks that have a host each.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/timed_slack.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/support/sanitized.h"
#include "tests/unit/analysis/message_case.h"
#include "tests/unit/analysis/rank_programs.h"

namespace slackline {
namespace {

using machine::Platform;
using machine::RailRule;
using sched::Trace;
using testing::ChannelId;
using testing::Dice;
using testing::MessageCase;
using testing::OpId;
using testing::Program;
using testing::RankId;
using testing::us;

Platform rails_of(std::uint32_t count, RailRule rule) {
  Platform p = testing::round_platform();
  p.node.rails.count = count;
  p.node.rails.rule = rule;
  return p;
}

void expect_case(const MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_flows, analysis::run_analytic);
}

TEST(Rails, EachChannelHasPortsOfItsOwn) {
  Program p(2);
  std::vector<OpId> puts;
  std::vector<ChannelId> channels;
  for (int c = 0; c < 3; ++c) channels.push_back(p.channel(0, 1));
  for (const ChannelId channel : channels) puts.push_back(p.put(channel, 10'000));
  const OpId small = p.put(channels[1], 1'000);
  const OpId get = p.get(channels[2], 10'000);
  const sched::Schedule schedule = p.build();
  // Posted at 1, 2, 3, … Of two NICs the third channel has the first one's again. The get's request
  // goes out on that NIC, and its answer comes back by the other side's, which is free.
  expect_case({"two rails",
               schedule,
               rails_of(2, RailRule::kChannel),
               {{puts[0], 1, 1, 19},
                {puts[1], 2, 2, 20},
                {puts[2], 3, 11, 29},
                {small, 4, 4, 13},
                {get, 5, 8, 23}}});
  expect_case({"three rails",
               schedule,
               rails_of(3, RailRule::kChannel),
               {{puts[0], 1, 1, 19}, {puts[1], 2, 2, 20}, {puts[2], 3, 3, 21}}});
  // A rank alone on its host has one NIC of its own: the others are nobody's.
  for (const RailRule rule : {RailRule::kRank, RailRule::kChannel}) {
    expect_case({"one rail",
                 schedule,
                 rails_of(rule == RailRule::kRank ? 8 : 1, rule),
                 {{puts[0], 1, 1, 19}, {puts[1], 2, 11, 29}, {puts[2], 3, 21, 39}}});
  }
}

TEST(Rails, RanksOfANodeHaveOneEach) {
  Program p(8);
  std::vector<OpId> puts;
  OpId across;
  for (std::uint32_t r = 0; r < 4; ++r) {
    puts.push_back(p.put(p.channel(r, 4 + r), 10'000));
    if (r == 1) across = p.put(p.channel(1, 4), 10'000);
  }
  Platform platform = rails_of(2, RailRule::kRank);
  platform.node.ranks = 4;
  // Ranks 0 and 2 share a NIC, and 1 and 3 the other. At the other host it is the same, so the last
  // waits for 1's NIC until 21, and then for none at the in-port of rank 4's.
  expect_case({"own",
               p.build(),
               platform,
               {{puts[0], 1, 1, 19},
                {puts[1], 1, 1, 19},
                {puts[2], 1, 11, 29},
                {puts[3], 1, 11, 29},
                {across, 2, 21, 39}}});
}

TEST(Rails, RivalsForAPortAreThoseOfItsRail) {
  Program p(4);
  const OpId first = p.put(p.channel(0, 3), 10'000);
  const OpId second = p.put(p.channel(1, 3), 10'000);
  const OpId third = p.put(p.channel(2, 3), 10'000);
  // Ranks' numbers added: 3, 4, 5. Of two rails the first and the third have the same.
  expect_case({"pair",
               p.build(),
               rails_of(2, RailRule::kPair),
               {{first, 1, 1, 19}, {second, 1, 1, 19}, {third, 1, 11, 29}}});
}

TEST(Rails, EachKeepsItsGap) {
  Program p(2);
  std::vector<testing::Seen> expected;
  std::vector<ChannelId> channels;
  for (int c = 0; c < 2; ++c) channels.push_back(p.channel(0, 1));
  for (int m = 0; m < 4; ++m) {
    const OpId put = p.put(channels[m % 2], 0);
    const double wire_us = m < 2 ? m + 1 : m + 5;
    expected.push_back({put, m + 1.0, wire_us, wire_us + 8});
  }
  Platform platform = rails_of(2, RailRule::kChannel);
  platform.gap = us(6);
  expect_case({"gap", p.build(), platform, expected});
}

TEST(Rails, FairNicsShareEachItsOwn) {
  Program p(2);
  std::vector<ChannelId> channels;
  for (int c = 0; c < 4; ++c) channels.push_back(p.channel(0, 1));
  for (const ChannelId channel : channels) p.put(channel, 100'000);
  const sched::Schedule schedule = p.build();
  Platform platform = rails_of(2, RailRule::kChannel);
  platform.nic = machine::NicDiscipline::kFair;
  platform.o_post = {};
  // Two messages on each NIC: 200 us, the way there and back, and the completion.
  EXPECT_NEAR(analysis::run_flows({schedule, platform}).makespan_s(), 208e-6, 1e-12);
  EXPECT_TRUE(analysis::run_events({schedule, platform}).contended);
  platform.node.rails.count = 4;
  EXPECT_NEAR(analysis::run_flows({schedule, platform}).makespan_s(), 108e-6, 1e-12);
  EXPECT_FALSE(analysis::run_events({schedule, platform}).contended);
}

TEST(Rails, ARateOfAPairHoldsOnEach) {
  Program p(2);
  std::vector<ChannelId> channels;
  for (int c = 0; c < 2; ++c) channels.push_back(p.channel(0, 1));
  const OpId first = p.put(channels[0], 10'000);
  const OpId second = p.put(channels[1], 10'000);
  machine::DelayPlan plan;
  plan.pairs.push_back({RankId(0), RankId(1), {4'000'000'000}});
  expect_case({"slow pair",
               p.build(),
               rails_of(2, RailRule::kChannel),
               {{first, 1, 1, 29}, {second, 2, 2, 30}},
               plan});
}

TEST(Rails, OneThatFailsTakesItsChannels) {
  Program p(2);
  std::vector<ChannelId> channels;
  for (int c = 0; c < 2; ++c) channels.push_back(p.channel(0, 1));
  const OpId first = p.put(channels[0], 10'000);
  const OpId second = p.put(channels[1], 10'000);
  machine::DelayPlan plan;
  machine::Failure failure;
  failure.link = "host-0.nic-1.out";
  failure.at = us(4);
  plan.failures.push_back(failure);
  const sched::Schedule schedule = p.build();
  const Platform platform = rails_of(2, RailRule::kChannel);
  const Trace trace = analysis::run_events({schedule, platform, plan});
  EXPECT_NEAR(trace.ops[first.value].done_s, 19e-6, 1e-15);
  EXPECT_FALSE(std::isfinite(trace.ops[second.value].done_s));
  // A host fails with all of its NICs.
  failure = {};
  failure.rank = RankId(0);
  failure.at = us(4);
  plan.failures = {failure};
  const Trace gone = analysis::run_events({schedule, platform, plan});
  EXPECT_FALSE(std::isfinite(gone.ops[first.value].done_s));
  EXPECT_FALSE(std::isfinite(gone.ops[second.value].done_s));
}

// Two ranks, `stripes` channels, `rounds` messages on each: the bandwidth is that of so many NICs.
TEST(Rails, BandwidthIsThatOfAllNics) {
  constexpr std::uint32_t kStripes = 8;
  constexpr std::uint32_t kRounds = 16;
  Program p(2);
  std::vector<ChannelId> channels;
  for (std::uint32_t c = 0; c < kStripes; ++c) channels.push_back(p.channel(0, 1));
  for (std::uint32_t k = 0; k < kRounds; ++k) {
    for (const ChannelId channel : channels) p.put(channel, 50'000);
  }
  const sched::Schedule schedule = p.build();
  Platform platform = rails_of(1, RailRule::kChannel);
  platform.o_post = {};
  for (const std::uint32_t rails : {1u, 2u, 4u, 8u}) {
    platform.node.rails.count = rails;
    const double us_of_all = 50.0 * kStripes * kRounds / rails + 8;
    EXPECT_NEAR(analysis::run_events({schedule, platform}).makespan_s(), us_of_all * 1e-6, 1e-12);
    EXPECT_NEAR(analysis::run_flows({schedule, platform}).makespan_s(), us_of_all * 1e-6, 1e-12);
    // No run is faster than the bytes of the busiest NIC.
    EXPECT_NEAR(analysis::makespan_floor_s({schedule, platform}), us_of_all * 1e-6, 1e-12);
    if (rails == 1) continue;
    EXPECT_EQ(analysis::longest_path({schedule, platform}), std::nullopt);
  }
}

// Where only bytes take time, messages in S stripes over S NICs take the S-th part of it: the
// ring's n − 1 steps of one rank's bytes each, and the steps of any multicast.
TEST(Rails, StripesDivideTheTimeOfLargeMessages) {
  Platform platform = rails_of(1, RailRule::kChannel);
  platform.o_post = platform.o_complete = platform.latency = {};
  const auto makespan_s = [&](const std::string& spec, std::uint32_t rails) {
    platform.node.rails.count = rails;
    const sched::Schedule schedule =
        compile(sched::parse_spec(spec + ",stripes=" + std::to_string(rails)));
    const double run_s = analysis::run_events({schedule, platform}).makespan_s();
    EXPECT_NEAR(analysis::run_flows({schedule, platform}).makespan_s(), run_s, 1e-9 * run_s)
        << spec;
    return run_s;
  };
  for (const std::uint32_t rails : {1u, 2u, 8u}) {
    // 5 ranks, 8 MB each, a byte a nanosecond.
    EXPECT_NEAR(makespan_s("allgather:ranks=5,bytes=8MB,block=8MB,by=ring", rails),
                4 * 8e-3 / rails, 1e-12);
  }
  for (const char* spec :
       {"chain:ranks=6,bytes=8MB,block=1MB", "binomial-pipeline:ranks=8,bytes=8MB,block=1MB",
        "binomial-pipeline:ranks=8,bytes=8MB,block=1MB,lower=put,window=2",
        "allreduce:ranks=4,bytes=8MB,block=1MB,by=ring"}) {
    platform.copy_rate = {8'000'000'000'000'000};  // sums are for nothing
    const double one_s = makespan_s(spec, 1);
    EXPECT_NEAR(makespan_s(spec, 8), one_s / 8, 1e-6 * one_s) << spec;
  }
}

// Two messages that meet at one NIC keep their order there, and slack has the arc; on NICs of their
// own the shorter one has float.
TEST(Rails, ThePortsOfTheFrozenOrderAreTheirs) {
  Program p(3);
  const OpId first = p.put(p.channel(0, 2), 10'000);
  p.put(p.channel(1, 2), 30'000);
  const sched::Schedule schedule = p.build();
  const auto float_us = [&](std::uint32_t rails) {
    const Platform platform = rails_of(rails, RailRule::kPair);
    const Trace trace = analysis::run_events({schedule, platform});
    return analysis::timed_slack({schedule, platform}, trace).total_float_s[first.value] * 1e6;
  };
  EXPECT_NEAR(float_us(1), 0, 1e-9);
  EXPECT_NEAR(float_us(2), 20, 1e-9);
}

// Ranks of one host with a NIC each are ranks on hosts of their own, and so are the channels of two
// hosts with a NIC each, as far as nobody speaks to its own host.
TEST(Rails, OfOwnNicsAreHostsOfOneNic) {
  int waited = 0;
  for (std::uint32_t seed = 0; seed < testing::cases(2'000u) && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t per_node = 2 + dice.below(3);
    const std::uint32_t ranks = per_node * (2 + dice.below(3));
    const bool lanes = dice.one_in(2);
    const testing::Parts parts = testing::random_parts(dice, ranks, [&](auto a, auto b) {
      return a / per_node != b / per_node && (!lanes || a % per_node == b % per_node);
    });
    const Platform plain = testing::random_platform(
        dice, dice.one_in(3) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial);
    Platform railed = plain;
    railed.node.rails.count = per_node;
    if (lanes) {
      railed.node.rails.rule = RailRule::kChannel;
    } else {
      railed.node.ranks = per_node;
    }
    waited += testing::expect_same_run(
        analysis::run_events({testing::written(parts, per_node, false), plain}),
        analysis::run_events({testing::written(parts, per_node, lanes, lanes), railed}),
        testing::sample_text(seed, railed));
  }
  EXPECT_GT(waited, testing::cases(500));
}

TEST(Rails, AreNoneOfTheStreamsBusiness) {
  const sched::Spec spec = sched::parse_spec("chain:ranks=4,bytes=1MiB,block=64KiB");
  Platform platform = machine::load_platform("fractus");
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), std::nullopt);
  platform.node.rails.count = 2;
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), "hosts have several NICs");
}

}  // namespace
}  // namespace slackline
