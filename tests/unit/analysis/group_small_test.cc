// Small messages of a group whose member is killed, in simulated time: to the moment by hand for
// two and three members, before and behind messages in blocks; and the schedule of any mix is
// proved.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "analysis/group/failure_run.h"
#include "analysis/group/messages.h"
#include "machine/platform.h"
#include "machine/setting.h"
#include "sched/compile.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/group_case.h"

namespace slackline {
namespace {

using analysis::GroupKill;
using analysis::GroupRun;
using analysis::GroupScenario;
using testing::at_us;
using ::testing::ElementsAre;
using testing::group_platform;
using testing::kill_at;
using testing::kNever;
using testing::outcome;
using testing::us;

// A small message of 976 bytes is a write of 1000.
GroupScenario scenario(std::uint32_t members, std::vector<std::uint64_t> messages,
                       bool atomic = false, std::uint32_t slots = 16) {
  GroupScenario scenario;
  scenario.shape.pattern = "sequential";
  scenario.shape.members = members;
  scenario.shape.block_bytes = 50'000;
  scenario.shape.ready = sched::Ready::kNone;
  scenario.messages = std::move(messages);
  scenario.small = {10'240, slots};
  scenario.atomic_delivery = atomic;
  return scenario;
}

GroupKill kill_after(std::uint32_t member, std::uint64_t things, double detection_us = 100) {
  GroupKill kill;
  kill.member = member;
  kill.after = things;
  kill.detection = us(detection_us);
  return kill;
}

// The root copies until 0.976 us and posts until 1.976 us: it has the message. The bytes have left
// at 2.976 us and arrive at 12.976 us; the member sees them at 14.976 us and has copied them at
// 15.952 us. At 24.976 us the root knows that they are there.
// Its word that this was all is there at 1.976 + 1 + 0.064 + 12 us, before the message. So the
// member says that it is done when it has it, and the root when its write is complete.
TEST(GroupSmallRun, TwoMembersDeliverAndClose) {
  const GroupRun run = analysis::run_group(scenario(2, {976}), group_platform());
  EXPECT_THAT(run.members[0].finished_s, ElementsAre(at_us(1.976)));
  EXPECT_THAT(run.members[1].finished_s, ElementsAre(at_us(15.952)));
  EXPECT_EQ(run.members[1].completed_s, run.members[1].finished_s);
  EXPECT_THAT(run.members[0].closed_s, at_us(15.952 + 13.064));
  EXPECT_THAT(run.members[1].closed_s, at_us(24.976 + 13.064));
  EXPECT_EQ(outcome(run, 0), "delivered 1 ");
  EXPECT_EQ(outcome(run, 1), "delivered 1 ");
}

// The root writes its row when it has the message: it is there at 1.976 + 1 + 0.008 + 12 us, before
// the message. The member's row is at the root 13.008 us after the message stands at the member.
TEST(GroupSmallRun, AtomicDeliveryWaitsForRows) {
  const GroupRun run = analysis::run_group(scenario(2, {976}, true), group_platform());
  EXPECT_THAT(run.members[1].completed_s, ElementsAre(at_us(15.952)));
  EXPECT_THAT(run.members[0].completed_s, ElementsAre(at_us(15.952 + 13.008)));
}

// Of two members one is left. It knows a latency after the kill, has nobody to settle with, and
// what it has is what all survivors have.
TEST(GroupSmallRun, OfTwoMembersTheOneThatIsLeftDecidesAlone) {
  for (const bool atomic : {false, true}) {
    GroupScenario group = scenario(2, {976, 976}, atomic);
    group.kill = kill_at(1, 13);
    const GroupRun root_left = analysis::run_group(group, group_platform());
    EXPECT_THAT(root_left.members[0].knew_s, at_us(23));
    EXPECT_THAT(root_left.members[0].closed_s, at_us(23));
    EXPECT_EQ(outcome(root_left, 0), "failed 2 by 1");

    // The first write is posted at 1.976 us, and the NIC carries it out. The member takes it at
    // 15.952 us if it does not know of the loss by then.
    group.kill = kill_at(0, 2, 0);
    const GroupRun early = analysis::run_group(group, group_platform());
    EXPECT_THAT(early.members[1].knew_s, at_us(12));
    EXPECT_EQ(outcome(early, 1), "failed 0 by 0");
    group.kill = kill_at(0, 2, 100);
    const GroupRun late = analysis::run_group(group, group_platform());
    EXPECT_THAT(late.members[1].finished_s, ElementsAre(at_us(15.952), kNever));
    EXPECT_THAT(late.members[1].closed_s, at_us(112));
    EXPECT_EQ(outcome(late, 1), "failed 1 by 0");
    EXPECT_THAT(late.cut.small, ElementsAre(0, 1));
    // Not posted: nothing comes.
    group.kill = kill_at(0, 1.5, 100);
    EXPECT_EQ(outcome(analysis::run_group(group, group_platform()), 1), "failed 0 by 0");
  }
}

// The root is killed when it has copied the message and written it to member 1, at 1.976 us, before
// it writes it to 2. Both see that at 112 - 0.024 us. Each passes it on in 1 us, and tells what it
// has: member 1 after 2 us, member 2 likewise, as each has one other. A word takes 12.072 us more.
TEST(GroupSmallRun, WhatOneSurvivorHasIsCompleteThereAloneUnlessDeliveryIsAtomic) {
  GroupScenario group = scenario(3, {976});
  group.kill = kill_after(0, 2);
  const GroupRun plain = analysis::run_group(group, group_platform());
  EXPECT_THAT(*plain.killed_s, at_us(1.976));
  EXPECT_THAT(plain.cut.small, ElementsAre(0, 1, 0));
  EXPECT_THAT(plain.members[1].finished_s, ElementsAre(at_us(15.952)));
  EXPECT_THAT(plain.members[2].finished_s, ElementsAre(kNever));
  EXPECT_EQ(outcome(plain, 1), "failed 1 by 0");
  EXPECT_EQ(outcome(plain, 2), "failed 0 by 0");
  group.atomic_delivery = true;
  const GroupRun atomic = analysis::run_group(group, group_platform());
  EXPECT_THAT(atomic.members[1].finished_s, ElementsAre(at_us(15.952)));
  EXPECT_THAT(atomic.members[1].completed_s, ElementsAre(kNever));
  for (const std::uint32_t m : {1u, 2u}) {
    EXPECT_EQ(outcome(atomic, m), "failed 0 by 0");
    EXPECT_THAT(atomic.members[m].knew_s, at_us(111.976));
    // Its notice to the root, which may live, is posted first.
    EXPECT_THAT(atomic.members[m].closed_s, at_us(111.976 + 3 + 12.072));
    EXPECT_EQ(atomic.members[m].settled_s, atomic.members[m].closed_s);
  }
}

// Both members have the message when member 2 is lost before it could say so to anybody. The root
// and member 1 settle that they have it: then it completes at both.
TEST(GroupSmallRun, WhatAllSurvivorsHaveCompletesWhenThatIsSettled) {
  GroupScenario group = scenario(3, {976}, true);
  group.kill = kill_at(2, 3, 100);
  const GroupRun run = analysis::run_group(group, group_platform());
  for (const std::uint32_t m : {0u, 1u}) {
    EXPECT_EQ(outcome(run, m), "failed 1 by 2");
    EXPECT_THAT(run.members[m].knew_s, at_us(113));
    EXPECT_EQ(run.members[m].completed_s[0], run.members[m].settled_s);
  }
  // Member 1 is told after 1 us of the mesh and 1 us of the group's word, the root after 1 us more:
  // each posts its notices in the order of members, and to the lost one too.
  EXPECT_THAT(run.members[1].settled_s, at_us(115 + 12.072));
  EXPECT_THAT(run.members[0].settled_s, at_us(115 + 12.072));
}

// Two slots, so a count for each message. The third message waits for the first slot: the member's
// count, posted from 15.952 us on, is there at 26.960 us and seen at 28.960 us. The copy and the
// post take until 30.936 us; the member has it 1 + 10 + 2 + 0.976 us later. The next counts leave
// when the ones before are known to be there: 16.952 + 0.008 + 22 us, and so on.
TEST(GroupSmallRun, ASlotIsUsedAgainWhenItIsKnownToBeFree) {
  const GroupRun run =
      analysis::run_group(scenario(2, {976, 976, 976}, false, 2), group_platform());
  EXPECT_THAT(run.members[0].finished_s, ElementsAre(at_us(1.976), at_us(3.952), at_us(30.936)));
  EXPECT_THAT(run.members[1].finished_s, ElementsAre(at_us(15.952), at_us(18.928), at_us(44.912)));
  const double third_count_s = 16.952 + 2 * (22.008 + 1) + 22.008;
  EXPECT_THAT(run.members[0].closed_s, at_us(third_count_s + 13.064));
  EXPECT_THAT(run.members[1].closed_s, at_us(third_count_s));
}

// A member that is killed before it takes anything holds up the root at a full ring: what was
// written before is all that any survivor gets.
TEST(GroupSmallRun, ALostMemberHoldsUpTheRing) {
  GroupScenario group = scenario(3, std::vector<std::uint64_t>(9, 100), false, 4);
  group.kill = kill_at(2, 1, 1000);
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_EQ(outcome(run, 0), "failed 4 by 2");
  EXPECT_EQ(outcome(run, 1), "failed 4 by 2");
  // With a count of two messages there is room for two more. (Before them it posts a receive.)
  group.kill = kill_after(2, 4, 1000);
  const GroupRun later = analysis::run_group(group, group_platform());
  EXPECT_EQ(later.cut.counted, 2u);
  EXPECT_EQ(outcome(later, 0), "failed 6 by 2");
  EXPECT_EQ(outcome(later, 1), "failed 6 by 2");
}

// A message in blocks leaves when the small one before it stands at the member, at 24.976 us: its
// post ends at 25.976 us, its 20,000 bytes have left 20 us later, are seen after 12 us more and
// copied after 20 us. The root is through with it at 67.976 us, and begins the next small one.
TEST(GroupSmallRun, BothWaysKeepTheirOrder) {
  const GroupRun run = analysis::run_group(scenario(2, {976, 20'000, 976}), group_platform());
  EXPECT_THAT(run.members[0].finished_s, ElementsAre(at_us(1.976), at_us(67.976), at_us(69.952)));
  EXPECT_THAT(run.members[1].finished_s, ElementsAre(at_us(15.952), at_us(77.976), at_us(83.928)));
  // The root has sent the block, and knows it, while member 1 still copies. It is killed in
  // between.
  GroupScenario group = scenario(2, {976, 20'000, 976}, true);
  group.kill = kill_at(0, 68.5, 1000);
  const GroupRun killed = analysis::run_group(group, group_platform());
  EXPECT_EQ(outcome(killed, 1), "failed 2 by 0");
  EXPECT_THAT(killed.members[0].issued, ElementsAre(true));
}

// The receive of the block and its credit are posted ahead of the small message: so the block does
// not wait for the credit, which is there at 2 + 10 + 2 us.
TEST(GroupSmallRun, ReadinessForBlocksIsToldAheadOfSmallMessages) {
  GroupScenario group = scenario(2, {976, 20'000});
  group.shape.ready = sched::Ready::kSend;
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(run.members[1].finished_s, ElementsAre(at_us(15.952), at_us(77.976)));
}

// The switch itself.
TEST(GroupSmallRun, SmallIsUpToAndWithTheBound) {
  const GroupScenario group = scenario(2, {10'240, 10'241, 0});
  machine::GroupPlan plan(group.shape);
  const auto made = analysis::messages_of_group(plan, group.messages, group.small);
  EXPECT_THAT(made.small, ElementsAre(0, 2));
  EXPECT_EQ(made.messages[0], nullptr);
  EXPECT_NE(made.messages[1], nullptr);
}

// Whether an operation waits for another one of its rank, by whatever is between them.
bool comes_after(const sched::Schedule& schedule, sched::OpId op, sched::OpId earlier) {
  std::vector<sched::OpId> ahead = {op};
  std::vector<bool> seen(schedule.op_count());
  while (!ahead.empty()) {
    const sched::OpId id = ahead.back();
    ahead.pop_back();
    if (id == earlier) return true;
    for (const sched::Edge& edge : schedule.edges_into(id)) {
      if (seen[edge.pred.value]) continue;
      seen[edge.pred.value] = true;
      ahead.push_back(edge.pred);
    }
  }
  return false;
}

// A member is at one message at a time: it passes no block on before it has taken the small ones
// that came before, although the block may be there.
TEST(GroupSmallRun, BlocksArePassedOnOnceTheSmallOnesBeforeAreTaken) {
  GroupScenario group = scenario(3, {976, 0, 150'000, 976, 100'000});
  group.shape.pattern = "chain";
  machine::GroupPlan plan(group.shape);
  const auto made = analysis::messages_of_group(plan, group.messages, group.small);
  std::size_t passed_on = 0;
  for (const std::size_t k : {std::size_t{2}, std::size_t{4}}) {
    const sched::OpId taken = made.ops(k - 1, 1).own;
    const analysis::GroupMessageOps& blocks = made.ops(k, 1);
    for (sched::OpId id = blocks.own; id < blocks.end; ++id.value) {
      const sched::Op& op = made.schedule.op(id);
      if (op.kind != sched::OpKind::kSend || made.schedule.payload_bytes(op) == 0) continue;
      EXPECT_TRUE(comes_after(made.schedule, id, taken)) << id.value;
      ++passed_on;
    }
  }
  EXPECT_EQ(passed_on, 5u);
}

// What a group writes of small messages alone takes the time that the event engine says of the
// pattern, where that counts as little as a group's root does: a copy of no time, and no counts.
TEST(GroupSmallRun, AgreesWithThePatternOfItsSlots) {
  for (const std::uint32_t members : {2u, 3u, 6u}) {
    for (const std::uint64_t bytes : {100u, 4'000u, 10'240u}) {
      const auto star = machine::parse_platform_spec(
          "star:rate=100Gbps,latency=1us,o_post=200ns,o_complete=200ns,copy_rate=1000000Tbps");
      const GroupRun run =
          analysis::run_group(scenario(members, std::vector<std::uint64_t>(7, bytes)), star);
      const sched::Schedule pattern = sched::compile(sched::parse_spec(
          fmt::format("ring-buffer:ranks={},bytes={},messages=7,slots=16", members, bytes + 16)));
      const machine::Wiring wiring(star, members);
      const sched::Trace trace = analysis::run_events({pattern, star, wiring});
      for (std::uint32_t m = 1; m < members; ++m) {
        std::vector<double> copied_s;
        for (sched::OpId id = pattern.first_op(sched::RankId(m));
             id < pattern.end_op(sched::RankId(m)); ++id.value) {
          if (pattern.op(id).kind != sched::OpKind::kCopy) continue;
          copied_s.push_back(trace.ops[id.value].done_s);
        }
        EXPECT_THAT(run.members[m].finished_s,
                    ::testing::Pointwise(::testing::DoubleNear(1e-11), copied_s))
            << members << " members, " << bytes << " bytes";
      }
    }
  }
}

// Without deadlock and races, and all messages where they belong.
TEST(GroupSmallRun, TheScheduleOfAnyMixIsProved) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    GroupScenario group = scenario(static_cast<std::uint32_t>(1 + random() % 6), {});
    const auto patterns = machine::group_patterns();
    group.shape.pattern = patterns[random() % patterns.size()];
    group.shape.block_bytes = 256;
    group.shape.ready = random() % 4 == 0 ? sched::Ready::kNone : sched::Ready::kSend;
    group.small = {random() % 400, static_cast<std::uint32_t>(1 + random() % 6)};
    for (std::uint64_t left = 1 + random() % 20; left != 0; --left) {
      group.messages.push_back(random() % 4 == 0 ? random() % 900 : random() % 300);
    }
    machine::GroupPlan plan(group.shape);
    const auto made = analysis::messages_of_group(plan, group.messages, group.small);
    const auto found = sched::verify(made.schedule);
    ASSERT_TRUE(found.empty()) << "seed " << seed << ": " << found.front().message;
  }
}

// Whatever is drawn, and however late everything is: atomic, all survivors complete the same
// messages, and those that the killed member had completed; who says that all was delivered has
// all; and nobody waits for ever.
TEST(GroupSmallRun, SurvivorsKeepTheirPromisesUnderNoise) {
  std::uint64_t in_between = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    GroupScenario group = scenario(static_cast<std::uint32_t>(2 + random() % 5), {});
    group.shape.pattern = "binomial-pipeline";
    group.shape.block_bytes = 4096;
    group.shape.ready = sched::Ready::kSend;
    group.small.slots = static_cast<std::uint32_t>(1 + random() % 8);
    for (std::uint64_t left = 1 + random() % 12; left != 0; --left) {
      const std::uint64_t at_switch[] = {0, 10'239, 10'240, 10'241, 15'000};
      group.messages.push_back(random() % 2 == 0 ? random() % 2000 : at_switch[random() % 5]);
    }
    group.atomic_delivery = seed % 3 != 0;
    const auto victim = static_cast<std::uint32_t>(random() % group.shape.members);
    group.kill =
        kill_at(victim, static_cast<double>(random() % 300), 20 * static_cast<double>(seed % 4));
    if (random() % 3 == 0) group.kill->seen_by = {victim == 0 ? 1u : 0u};
    machine::DelayPlan delays;
    delays.seed = seed;
    machine::Noise noise;
    noise.of.kind = machine::Distribution::Kind::kExponential;
    noise.of.mean = us(static_cast<double>(random() % 8));
    if (noise.of.mean.count() != 0) delays.noise.push_back(noise);
    const GroupRun run = analysis::run_group(group, group_platform(), delays);
    const std::size_t all = group.messages.size();
    std::vector<std::uint64_t> complete;
    for (std::uint32_t m = 0; m < group.shape.members; ++m) {
      const analysis::GroupMemberRun& member = run.members[m];
      if (!member.outcome) continue;
      EXPECT_LT(member.closed_s, kNever);
      complete.push_back(member.outcome->messages);
      for (std::size_t k = 0; k < all; ++k) {
        EXPECT_EQ(member.completed_s[k] < kNever, k < complete.back());
        EXPECT_LE(member.finished_s[k], member.completed_s[k]);
      }
      EXPECT_TRUE(!member.outcome->delivered || complete.back() == all);
    }
    if (group.atomic_delivery) {
      EXPECT_THAT(complete, ::testing::Each(complete[0]));
      for (std::size_t k = complete[0]; k < all; ++k) {
        EXPECT_EQ(run.members[victim].completed_s[k], kNever);
      }
      in_between += complete[0] != 0 && complete[0] != all ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(in_between, 100u);
}

TEST(GroupSmallRun, RefusesByName) {
  GroupScenario group = scenario(2, {976});
  group.small.slots = 0;
  EXPECT_EQ(testing::error_of([&] { analysis::run_group(group, group_platform()); }),
            "small_slots: 0 is out of range; expected 1 to 65536");
  group.small = {(1 << 20) + 1, 16};
  EXPECT_EQ(testing::error_of([&] { analysis::run_group(group, group_platform()); }),
            "small_bytes: 1048577 is out of range; expected 0 to 1048576");
}

}  // namespace
}  // namespace slackline
