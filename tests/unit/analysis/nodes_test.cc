// Machines of several ranks, worked out by hand on round_platform() (a post takes 1 us, 1000 bytes
// take 1 us between machines and 0.5 us in memory, the way 3 us between machines, seeing a
// completion 2 us, a NIC serves an atomic in 5 us), and against ranks of several lanes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "tests/property/random_runs.h"
#include "tests/support/error_of.h"
#include "tests/support/sanitized.h"
#include "tests/unit/analysis/message_case.h"
#include "tests/unit/analysis/rank_programs.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Trace;
using testing::ChannelId;
using testing::Dice;
using testing::kAny;
using testing::MessageCase;
using testing::OpId;
using testing::Program;
using testing::RankId;
using testing::us;

// Half a microsecond within a zone, a quarter more to the other; a CPU's atomic takes 1.
Platform nodes_of(std::uint32_t ranks) {
  Platform p = testing::round_platform();
  p.node.ranks = ranks;
  p.node.memory_latency = us(0.5);
  p.node.zone_latency = us(0.25);
  p.node.cpu_atomic = us(1);
  return p;
}

void expect_case(const MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_analytic);
}

TEST(Nodes, MessagesWithinOneGoThroughItsMemory) {
  Program p(4);
  const OpId put = p.put(p.channel(0, 1), 10'000);
  const ChannelId c = p.channel(1, 0);
  const OpId get = p.get(c, 2'000);
  const OpId far = p.put(p.channel(1, 3), 10'000);
  const ChannelId across = p.channel(1, 2);
  const OpId send = p.send(across, 0);
  const OpId recv = p.recv(across, 0);
  Platform platform = nodes_of(4);
  platform.node.zones = 2;
  // 1 + 5 + 0.5 + 0.5 + 2. The get asks at 1, is asked at 1.5, and has its bytes at 3. To the other
  // zone it is 0.75 each way, and there is no gap, although the platform has one.
  platform.gap = us(50);
  expect_case({"within a node",
               p.build(),
               platform,
               {{put, 1, 1, 9},
                {get, 1, 1.5, 5},
                {far, 2, 2, 10.5},
                {send, 3, 3, 6.5},
                {recv, 1, kAny, 5.75}}});
}

TEST(Nodes, WhatARankSendsItselfStaysInMemoryIfTheNodeIsShared) {
  Program p(1);
  const OpId put = p.put(p.channel(0, 0), 10'000);
  const sched::Schedule schedule = p.build();
  expect_case({"alone", schedule, nodes_of(1), {{put, 1, 1, 19}}});
  expect_case({"with room for others", schedule, nodes_of(2), {{put, 1, 1, 9}}});
}

TEST(Nodes, RanksShareTheirNicsPorts) {
  Program p(6);
  const OpId first = p.put(p.channel(0, 2), 10'000);
  const OpId near = p.put(p.channel(0, 1), 10'000);
  const OpId second = p.put(p.channel(1, 3), 10'000);
  const OpId small = p.put(p.channel(1, 3), 1'000);
  const OpId rival = p.put(p.channel(4, 2), 10'000);
  // All are issued at 1 (the neighbours' at 2). The out-port of ranks 0 and 1 serves one after the
  // other, and so does the in-port of ranks 2 and 3, where rank 4's comes before the second of the
  // first node: it heads its queue since 1. Small ones have ports of their own; memory has none.
  expect_case({"shared ports",
               p.build(),
               nodes_of(2),
               {{first, 1, 1, 19},
                {near, 2, 2, 10},
                {second, 1, 21, 39},
                {small, 2, 2, 11},
                {rival, 1, 11, 29}}});
}

TEST(Nodes, RanksShareTheGap) {
  Program p(4);
  std::vector<testing::Seen> expected;
  for (std::uint32_t r = 0; r < 3; ++r) {
    const OpId put = p.put(p.channel(r, 3), 0);
    const double wire_us = 1 + 4 * r;
    expected.push_back({put, 1, wire_us, wire_us + 8});
  }
  Platform platform = nodes_of(3);
  platform.gap = us(4);
  expect_case({"shared gap", p.build(), platform, expected});
}

TEST(Nodes, ThreadsOfAQueuePairMakeItsPostsLonger) {
  const auto made = [](double far_us) {
    Program p(6);
    const OpId far = p.put(p.channel(0, 3), 10'000);
    const OpId near = p.put(p.channel(0, 1), 10'000);
    const OpId get = p.get(p.channel(1, 4), 2'000);
    const ChannelId c = p.channel(2, 5);
    const OpId send = p.send(c, 0);
    const OpId recv = p.recv(c, 0);
    // The first post takes o_post and half a microsecond for each other thread of the pair; that of
    // a message in memory takes o_post alone, and so does that of a receive. The get asks for 3 us,
    // its answer takes 2 and 3 more; the message without bytes takes no time of its own.
    return MessageCase{"threads of a pair",
                       p.build(),
                       nodes_of(3),
                       {{far, far_us, far_us, far_us + 18},
                        {near, far_us + 1, far_us + 1, far_us + 9},
                        {get, far_us, far_us + 3, far_us + 10},
                        {send, far_us, far_us, far_us + 8},
                        {recv, 1, kAny, far_us + 5}}};
  };
  MessageCase all = made(2);
  all.platform.node.threads = all.platform.node.threads_per_qp = 3;
  all.platform.node.qp_sharer = us(0.5);
  expect_case(all);
  // Threads that have queue pairs of their own.
  MessageCase none = made(1);
  none.platform.node.threads = 3;
  none.platform.node.qp_sharer = us(0.5);
  expect_case(none);
}

TEST(Nodes, ThreadsOfAQueuePairShareItForABundleOnce) {
  Program p(4);
  const ChannelId c = p.channel(0, 2);
  sched::Channel& channel = p.builder().channel(c);
  channel.bundle = sched::Bundle::kTraditional;
  channel.bundle_bytes = 3'000;
  const OpId first = p.put(c, 1'000);
  const OpId last = p.put(c, 2'000);
  Platform platform = nodes_of(2);
  platform.node.threads = platform.node.threads_per_qp = 2;
  platform.node.qp_sharer = us(0.5);
  // Gathered at 0.5 and at 1.5, whose turn posts the bundle until 3.
  expect_case({"a bundle on a shared pair",
               p.build(),
               platform,
               {{first, 0.5, 3, 14}, {last, 1.5, 3, 14}}});
}

TEST(Nodes, ThreadsMakeUpdatesLonger) {
  Program p(3);
  const OpId word = p.reduce(0, 8);
  const OpId line = p.reduce(1, 64);
  const OpId more = p.reduce(2, 100);
  const sched::Schedule schedule = p.build();
  Platform platform = nodes_of(3);
  platform.node.threads = 3;
  platform.node.update_sharer = us(0.25);
  // Both operands are read at 2000 bytes a microsecond; what is no more than a line waits for it.
  expect_case({"threads of a process",
               schedule,
               platform,
               {{word, 0, 0, 0.508}, {line, 0, 0, 0.564}, {more, 0, 0, 0.1}}});
  platform.node.threads = 1;
  expect_case({"processes of one thread",
               schedule,
               platform,
               {{word, 0, 0, 0.008}, {line, 0, 0, 0.064}, {more, 0, 0, 0.1}}});
}

TEST(Nodes, RanksAwayFromTheNicPayForTheHop) {
  Program p(4);
  const OpId get = p.get(p.channel(0, 3), 2'000);
  const OpId one = p.put(p.channel(1, 2), 10'000);
  const OpId memory = p.put(p.channel(2, 3), 10'000);
  const OpId both = p.put(p.channel(3, 1), 10'000);
  const sched::Schedule schedule = p.build();
  Platform platform = nodes_of(2);
  platform.node.zones = 2;
  platform.node.numa_hop = us(0.5);
  // The NICs are in zone 0, where ranks 0 and 2 are. 3.5 or 4 us each way. The get asks rank 3,
  // which is away, and its answer comes from there. Memory has no NIC: 0.75 between the zones.
  expect_case({"one NIC",
               schedule,
               platform,
               {{get, 1, 4.5, 12}, {one, 1, 1, 20}, {memory, 1, 1, 9.5}, {both, 1, 1, 21}}});
  // Each rank its own NIC, in its zone.
  platform.node.rails.count = 2;
  expect_case({"a NIC in each zone",
               schedule,
               platform,
               {{get, 1, 4, 11}, {one, 1, 1, 19}, {memory, 1, 1, 9.5}, {both, 1, 1, 19}}});
}

TEST(Nodes, HopsThatTakeForEverAreRefused) {
  Platform platform = nodes_of(2);
  platform.node.zones = 2;
  platform.node.numa_hop = sched::kForever - sched::Time{1};
  Program p(4);
  p.put(p.channel(1, 3), 0);
  const sched::Schedule schedule = p.build();
  EXPECT_EQ(testing::error_of([&] {
              analysis::run_events({schedule, platform});
            }),
            "numa_hop: a way takes 106 days or more with it; expected less");
}

TEST(Nodes, SlowPairsAreSlowInMemoryToo) {
  Program p(2);
  const OpId there = p.put(p.channel(0, 1), 10'000);
  const OpId back = p.put(p.channel(1, 0), 10'000);
  machine::DelayPlan plan;
  plan.pairs.push_back({RankId(0), RankId(1), {4'000'000'000}});
  expect_case({"slow pair", p.build(), nodes_of(2), {{there, 1, 1, 24}, {back, 1, 1, 9}}, plan});
}

TEST(Nodes, FailWithAllTheirRanks) {
  Program p(6);
  p.put(p.channel(0, 2), 10'000);
  p.put(p.channel(0, 1), 10'000);
  p.put(p.channel(1, 3), 10'000);
  const OpId near = p.put(p.channel(2, 3), 10'000);
  const OpId left = p.put(p.channel(4, 2), 10'000);
  machine::DelayPlan plan;
  machine::Failure failure;
  failure.rank = RankId(0);
  failure.at = us(4);
  plan.failures.push_back(failure);
  const sched::Schedule schedule = p.build();
  const Trace trace = analysis::run_events({schedule, nodes_of(2), plan});
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(std::isfinite(trace.ops[i].done_s)) << i;
  // The port of the second node, which rank 0 held until then, is free again.
  EXPECT_NEAR(trace.ops[left.value].wire_s, 4e-6, 1e-15);
  EXPECT_NEAR(trace.ops[left.value].done_s, 22e-6, 1e-15);
  EXPECT_NEAR(trace.ops[near.value].done_s, 9e-6, 1e-15);
}

TEST(Nodes, AtomicsOfTheCpuAreDearerTheMoreRanksShareTheirLine) {
  Program p(5);
  std::vector<testing::Seen> expected;
  // Posted at 1, at the word at 1.5; served for 1, 1.5, 2 and 2.5, one after the other; then 8
  // bytes take 0.004, and 2.5 until they are seen.
  const double served_us[] = {2.5, 4, 6, 8.5};
  for (std::uint32_t r = 0; r < 4; ++r) {
    const ChannelId c = p.channel(r, 0);
    const OpId op = p.fetch_add(c, 0);
    expected.push_back({op, 1, served_us[r], served_us[r] + 2.504});
    const OpId again = p.fetch_add(c, 7);  // another word of the same line
    p.after({op}, again);
  }
  // In another line nobody else has been.
  const OpId alone = p.fetch_add(p.channel(4, 0), 8);
  expected.push_back({alone, 1, 2.5, 5.004});
  Platform platform = nodes_of(5);
  platform.node.cpu_atomic_sharer = us(0.5);
  const sched::Schedule schedule = p.build();
  expect_case({"contended", schedule, platform, expected});
  // The second time rank 0 comes to the line three others have used it.
  const Trace trace = analysis::run_events({schedule, platform});
  EXPECT_NEAR(trace.ops[1].wire_s - trace.ops[1].issued_s, 0.5e-6 + 2.5e-6, 1e-15);
}

TEST(Nodes, AtomicsFromOtherMachinesAreTheNics) {
  Program p(4);
  const OpId near = p.fetch_add(p.channel(0, 1), 0);
  const OpId far = p.fetch_add(p.channel(2, 1), 0);
  const OpId later = p.fetch_add(p.channel(3, 1), 0);
  Platform platform = nodes_of(2);
  platform.node.cpu_atomic_sharer = us(0.5);
  platform.node.cpu_atomic = us(4);
  // The NIC's wait for the CPU's at the word, from 4 to 5.5.
  expect_case({"near and far",
               p.build(),
               platform,
               {{near, 1, 5.5, 8.004}, {far, 1, 10.5, 15.508}, {later, 1, 15.5, 20.508}}});
}

TEST(Nodes, AnAtomicThatHadToWaitMayTakeLonger) {
  Program p(4);
  const OpId first = p.fetch_add(p.channel(0, 1), 7);
  const OpId second = p.fetch_add(p.channel(2, 1), 7);
  const OpId other = p.fetch_add(p.channel(3, 1), 8);
  Platform platform = testing::round_platform();
  platform.atomic_service_shared = us(10);
  const sched::Schedule schedule = p.build();
  expect_case({"waited",
               schedule,
               platform,
               {{first, 1, 9, 14.008}, {second, 1, 24, 29.008}, {other, 1, 9.008, 14.016}}});
  // Whoever comes in the instant in which the word is free has not waited.
  machine::DelayPlan plan;
  plan.ops.push_back({second, us(5), false, RankId::none()});
  expect_case({"did not wait", schedule, platform, {{second, 6, 14, 19.008}}, plan});
}

// A switch has no NIC that serves atomics: on it they take no time, as sums do.
TEST(Nodes, ASwitchServesAtomicsInNoTime) {
  Program p(3);
  const OpId first = p.fetch_add(p.channel(0, 2), 7);
  const OpId second = p.fetch_add(p.channel(1, 2), 7);
  const sched::Schedule schedule = p.build();
  Platform platform = machine::parse_platform_spec(
      "star:rate=8Gbps,latency=2us,atomic_service=50us,atomic_service_shared=90us");
  const Trace by_nic = analysis::run_events({schedule, platform});
  EXPECT_NEAR(by_nic.ops[first.value].done_s, 54.008e-6, 1e-12);
  EXPECT_NEAR(by_nic.ops[second.value].done_s, 194.008e-6, 1e-12);
  platform.switches = machine::parse_switches("switch", "switches");
  const Trace by_switch = analysis::run_events({schedule, platform});
  EXPECT_NEAR(by_switch.ops[first.value].done_s, 2.008e-6, 1e-12);
  EXPECT_NEAR(by_switch.ops[second.value].done_s, 2.008e-6, 1e-12);
}

TEST(Nodes, NicsReadWhatGetsAndAtomicsAskFor) {
  Program p(3);
  const OpId get = p.get(p.channel(0, 1), 10'000);
  const OpId add = p.fetch_add(p.channel(2, 1), 0);
  const OpId put = p.put(p.channel(2, 0), 1'000);
  Platform platform = testing::round_platform();
  platform.nic_read = us(0.5);
  expect_case(
      {"read", p.build(), platform, {{get, 1, 4.5, 19.5}, {add, 1, 9.5, 14.508}, {put, 2, 2, 11}}});
}

// But for memory it is the same.
TEST(Nodes, ShareANicAsTheLanesOfARankDo) {
  int waited = 0;
  for (std::uint32_t seed = 0; seed < testing::cases(3'000u) && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t per_node = 2 + dice.below(4);
    const std::uint32_t ranks = per_node + 1 + dice.below(3 * per_node);
    const testing::Parts parts = testing::random_parts(
        dice, ranks, [&](auto a, auto b) { return a / per_node != b / per_node; });
    Platform shared = testing::random_platform(
        dice, dice.one_in(3) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial);
    const Platform lanes = shared;
    shared.node.ranks = per_node;
    shared.node.memory_latency = us(1'000);  // nobody's
    waited += testing::expect_same_run(
        analysis::run_events({testing::written(parts, per_node, false), shared}),
        analysis::run_events({testing::written(parts, per_node, true), lanes}),
        testing::sample_text(seed, shared));
  }
  EXPECT_GT(waited, testing::cases(1'000));
}

TEST(Nodes, AreNoneOfTheStreamsBusiness) {
  const sched::Spec spec = sched::parse_spec("chain:ranks=4,bytes=1MiB,block=64KiB");
  Platform platform = machine::load_platform("fractus");
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), std::nullopt);
  platform.node.ranks = 2;
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), "ranks share nodes");
  platform.node.ranks = 1;
  platform.node.own_in_memory = true;
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), "own messages go through memory");
}

TEST(Nodes, SlackRefusesAtomicsWithoutATimeOfTheirOwn) {
  Program p(4);
  p.fetch_add(p.channel(0, 1), 0);
  p.fetch_add(p.channel(2, 1), 0);
  const sched::Schedule schedule = p.build();
  const auto error = [&](const Platform& platform) -> std::string {
    const Trace trace = analysis::run_events({schedule, platform});
    return testing::error_of<Unsupported>([&] {
      analysis::timed_slack({schedule, platform, {}}, trace);
    });
  };
  EXPECT_EQ(error(nodes_of(1)), "");
  EXPECT_EQ(error(nodes_of(4)), "");
  EXPECT_EQ(error(nodes_of(2)),
            "slack takes words that either NICs or the machine's own ranks use: op 0 (fetch_add, "
            "rank 0) and op 1 (fetch_add, rank 2) are of both kinds");
  Platform sharer = nodes_of(4);
  sharer.node.cpu_atomic_sharer = us(1);
  const std::string depends =
      "slack takes atomics of a fixed time only: with atomic_service_shared or cpu_atomic_sharer "
      "that of op 0 (fetch_add, rank 0) depends on who came before";
  EXPECT_EQ(error(sharer), depends);
  Platform shared = nodes_of(1);
  shared.atomic_service_shared = us(1);
  EXPECT_EQ(error(shared), depends);
}

}  // namespace
}  // namespace slackline
