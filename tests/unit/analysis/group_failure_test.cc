// A group whose member is killed, in simulated time: to the moment by hand for three members, and
// which messages survivors have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/group/failure_run.h"
#include "base/error.h"
#include "machine/platform.h"
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
using testing::kUs;
using testing::outcome;
using testing::us;

// One message of one block from member 0 to 1, then to 2.
GroupScenario scenario(bool atomic = false) {
  GroupScenario scenario;
  scenario.shape.pattern = "sequential";
  scenario.shape.members = 3;
  scenario.shape.block_bytes = 1000;
  scenario.shape.ready = sched::Ready::kNone;
  scenario.messages = {1000};
  scenario.atomic_delivery = atomic;
  return scenario;
}

// Both survivors see the end at 13 us. Each passes it on to the other (14 us), and tells what it
// knows: the lower member at 15 us, the higher at 16 us. A word takes 12.072 us more.
TEST(GroupFailureRun, SurvivorsThatSeeItCloseByEachOthersWords) {
  for (const bool atomic : {false, true}) {
    GroupScenario group = scenario(atomic);
    group.kill = kill_at(1, 3);
    const GroupRun run = analysis::run_group(group, group_platform());
    ASSERT_TRUE(run.killed_s);
    EXPECT_THAT(*run.killed_s, at_us(3));
    EXPECT_THAT(run.members[0].knew_s, at_us(13));
    EXPECT_THAT(run.members[2].knew_s, at_us(13));
    EXPECT_THAT(run.members[0].closed_s, at_us(15 + 12.072));
    EXPECT_THAT(run.members[2].closed_s, at_us(16 + 12.072));
    EXPECT_EQ(run.members[2].settled_s, run.members[2].closed_s);
    EXPECT_EQ(outcome(run, 1), "killed");
  }
}

// Member 2 is told by member 0's mesh: posted at 14 us, there at 26.072 us. It passes that on
// (27.072 us), and then tells member 0, who learns last: 28.072 us and 12.072 us.
TEST(GroupFailureRun, WhoSeesItRelaysItToTheOthers) {
  GroupScenario group = scenario();
  group.kill = kill_at(1, 3);
  group.kill->seen_by = {0};
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(run.members[0].knew_s, at_us(13));
  EXPECT_THAT(run.members[2].knew_s, at_us(26.072));
  EXPECT_THAT(run.members[0].closed_s, at_us(40.144));
  EXPECT_THAT(run.members[2].closed_s, at_us(28.072));
}

// The root hears of the loss 100 us late, at 113 us. It passes it on, and tells member 1 and then
// member 2 what it knows: that leaves at 116 us. What member 2 tells the root has left at 15 us, is
// there 12.072 us later, and is heard 100 us after that.
TEST(GroupFailureRun, WhoHearsLateLearnsAndClosesLate) {
  GroupScenario group = scenario();
  group.kill = kill_at(1, 3);
  group.lateness.resize(3);
  group.lateness[0].hears = us(100);
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(run.members[0].knew_s, at_us(113));
  EXPECT_THAT(run.members[2].knew_s, at_us(13));
  EXPECT_THAT(run.members[0].closed_s, at_us(15 + 12.072 + 100));
  EXPECT_THAT(run.members[2].closed_s, at_us(116 + 12.072));
}

// Member 1 has the message at 15 us. If it looks 7 us later, a loss that it learns of at 20 us is
// there before, and the message counts no more.
TEST(GroupFailureRun, WhoLooksLateMayLearnOfTheLossFirst) {
  GroupScenario group = scenario();
  group.kill = kill_at(0, 5, 5);
  EXPECT_EQ(outcome(analysis::run_group(group, group_platform()), 1), "failed 1 by 0");
  group.lateness.resize(3);
  group.lateness[1].sees = us(7);
  EXPECT_EQ(outcome(analysis::run_group(group, group_platform()), 1), "failed 0 by 0");
  group.kill->detection = us(10);
  const GroupRun later = analysis::run_group(group, group_platform());
  EXPECT_THAT(later.members[1].finished_s, ElementsAre(at_us(22)));
}

TEST(GroupFailureRun, DetectionComesOnTop) {
  GroupScenario group = scenario();
  group.kill = kill_at(1, 3);
  group.kill->detection = us(2'000'000);
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(run.members[0].knew_s, at_us(2'000'013));
}

// The root has the message at 24 us, and tells member 1 so until 25 us, and that it is done until
// 26 us. Then it ends. These words are there at 37.064 us and 38.064 us, and the end of the
// connection behind them: member 1 has heard of all by then, and closes. Nobody is lost to it.
TEST(GroupFailureRun, TheEndOfAConnectionComesBehindTheLastWord) {
  GroupScenario group = scenario();
  group.shape.members = 2;
  GroupKill kill;
  kill.member = 0;
  kill.after = 3;
  group.kill = kill;
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(*run.killed_s, at_us(26));
  EXPECT_EQ(run.cut.words, 2u);
  EXPECT_EQ(outcome(run, 1), "delivered 1 ");
  EXPECT_THAT(run.members[1].closed_s, at_us(38.064));
  // The last of these words has not left at 25.5 us.
  group.kill = kill_at(0, 25.5);
  const GroupRun earlier = analysis::run_group(group, group_platform());
  EXPECT_EQ(outcome(earlier, 1), "failed 1 by 0");
  EXPECT_THAT(earlier.members[1].knew_s, at_us(37.064));
}

// The root has the message at 48 us, and ends when it has told member 1 and not 2, at 49 us. The
// word is there at 61.072 us. Member 2 sees the end at 59 us: its connection has no word. What
// takes longer to show does so from then on.
TEST(GroupFailureRun, EachConnectionEndsBehindItsOwnWords) {
  for (const double detection_us : {0.0, 5.0}) {
    GroupScenario group = scenario();
    GroupKill kill;
    kill.member = 0;
    kill.after = 3;
    kill.detection = us(detection_us);
    group.kill = kill;
    const GroupRun run = analysis::run_group(group, group_platform());
    EXPECT_THAT(*run.killed_s, at_us(49));
    EXPECT_THAT(run.members[1].knew_s, at_us(61.072 + detection_us));
    EXPECT_THAT(run.members[2].knew_s, at_us(59 + detection_us));
  }
}

// The root posts its send to 1 until 1 us, and is killed before it posts the one to 2, which waits
// for the first. Member 1 gets its block after 1 + 1 + 10 + 2 us, and copies it in 1 us.
TEST(GroupFailureRun, WhatOneSurvivorHasIsCompleteThereAloneUnlessDeliveryIsAtomic) {
  GroupScenario group = scenario();
  group.kill = kill_at(0, 5);
  group.kill->detection = us(100);
  const GroupRun plain = analysis::run_group(group, group_platform());
  EXPECT_THAT(plain.members[1].finished_s, ElementsAre(at_us(15)));
  EXPECT_EQ(plain.members[1].completed_s, plain.members[1].finished_s);
  EXPECT_THAT(plain.members[2].finished_s, ElementsAre(kNever));
  EXPECT_EQ(outcome(plain, 1), "failed 1 by 0");
  EXPECT_EQ(outcome(plain, 2), "failed 0 by 0");
  group.atomic_delivery = true;
  const GroupRun atomic = analysis::run_group(group, group_platform());
  EXPECT_EQ(atomic.members[1].finished_s, plain.members[1].finished_s);
  EXPECT_THAT(atomic.members[1].completed_s, ElementsAre(kNever));
  EXPECT_EQ(outcome(atomic, 1), "failed 0 by 0");
  EXPECT_EQ(outcome(atomic, 2), "failed 0 by 0");
}

// Whoever knows posts nothing more: member 0 has not yet sent to 2 when it hears of 1.
TEST(GroupFailureRun, WhoKnowsStops) {
  GroupScenario group = scenario();
  group.messages = {50'000};
  group.shape.block_bytes = 50'000;
  group.kill = kill_at(1, 3);
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(run.members[2].finished_s, ElementsAre(kNever));
  group.kill->detection = us(1000);
  const GroupRun late = analysis::run_group(group, group_platform());
  EXPECT_LT(late.members[2].finished_s[0], 1000 * kUs);
  EXPECT_EQ(outcome(late, 2), "failed 1 by 1");
}

TEST(GroupFailureRun, WithoutAKillAllIsDelivered) {
  for (const bool atomic : {false, true}) {
    GroupScenario group = scenario(atomic);
    group.messages = {1000, 0, 5000};
    const GroupRun run = analysis::run_group(group, group_platform());
    EXPECT_FALSE(run.killed_s);
    for (std::uint32_t m = 0; m < 3; ++m) {
      EXPECT_EQ(outcome(run, m), "delivered 3 ");
      EXPECT_LT(run.members[m].completed_s[2], run.members[m].closed_s);
      EXPECT_EQ(run.members[m].knew_s, kNever);
    }
  }
}

// The root's send to 1 is done at 1 + 1 + 10 us, 10 us back and 2 us: at 24 us. That to 2 is posted
// until 25 us, is there at 36 us, and done at 48 us, when the root counts the message. Member 2 has
// it at 38 us and has copied it at 39 us. A row takes 12.008 us from when it is posted: member 2's
// for 0 at 41 us, behind the receive of one more block, the root's for 1 at 49 us and for 2 at 50
// us.
TEST(GroupFailureRun, AMessageIsCompleteWhenAllRowsAreThere) {
  const GroupRun run = analysis::run_group(scenario(true), group_platform());
  EXPECT_THAT(run.members[0].finished_s[0], at_us(48));
  EXPECT_THAT(run.members[2].finished_s[0], at_us(39));
  EXPECT_THAT(run.members[0].completed_s[0], at_us(41 + 12.008));
  EXPECT_THAT(run.members[1].completed_s[0], at_us(49 + 12.008));
  EXPECT_THAT(run.members[2].completed_s[0], at_us(50 + 12.008));
}

// Member 1 receives, copies, posts one more receive, and is killed when it has told member 0 that
// it is done, and before it tells 2. Member 0 has then heard of all and closes: all was delivered.
// Member 2 cannot know. It asks, and closes as soon as it hears that member 0 has no such group any
// more.
TEST(GroupFailureRun, WhoHasClosedSaysSo) {
  for (const bool atomic : {false, true}) {
    GroupScenario group = scenario(atomic);
    GroupKill kill;
    kill.member = 1;
    kill.after = atomic ? 6 : 4;  // two rows
    kill.detection = us(500);
    group.kill = kill;
    const GroupRun run = analysis::run_group(group, group_platform());
    EXPECT_EQ(run.cut.words, 1u);
    EXPECT_THAT(run.members[1].issued, ElementsAre(true, true));
    EXPECT_THAT(run.cut.rows, ElementsAre(atomic ? 1 : 0, 0, atomic ? 1 : 0));
    EXPECT_EQ(outcome(run, 0), "delivered 1 ");
    EXPECT_EQ(outcome(run, 2), "failed 1 by 1");
    EXPECT_LT(run.members[2].knew_s, run.members[2].closed_s);
    EXPECT_LT(run.members[2].closed_s, 1000 * kUs);
  }
}

// The root has the message at 48 us. Then it posts a row to each member, or two words, 1 us each.
TEST(GroupFailureRun, ACutHasWhatHadLeftTheKilledMember) {
  GroupScenario group = scenario(true);
  group.kill = kill_at(0, 49.5);
  EXPECT_THAT(analysis::run_group(group, group_platform()).cut.rows, ElementsAre(0, 1, 0));
  group.kill = kill_at(0, 50.5);
  EXPECT_THAT(analysis::run_group(group, group_platform()).cut.rows, ElementsAre(0, 1, 1));
  group.atomic_delivery = false;
  EXPECT_EQ(analysis::run_group(group, group_platform()).cut.words, 2u);
  group.kill = kill_at(0, 51.5);
  EXPECT_EQ(analysis::run_group(group, group_platform()).cut.words, 3u);
}

// Nobody sees it: they ask for signs after half of their patience, and name who gives none.
TEST(GroupFailureRun, PatienceEndsWhereNobodySees) {
  GroupScenario group = scenario();
  group.timeout = us(1'000'000);
  group.kill = kill_at(1, 3);
  group.kill->seen_by.emplace();
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_EQ(outcome(run, 0), "failed 1 by 1");
  EXPECT_EQ(outcome(run, 2), "failed 1 by 1");
  EXPECT_THAT(run.members[0].knew_s, ::testing::AllOf(::testing::Gt(1.0), ::testing::Lt(1.001)));
}

// The clock gives every message its way to itself, and it is said where that is too fast.
TEST(GroupFailureRun, SaysWhatSharedALink) {
  GroupScenario group;
  group.shape.pattern = "binomial-pipeline";
  group.shape.members = 8;
  group.shape.block_bytes = 65'536;
  group.messages = {1 << 20};
  const auto contended = [&](const char* text) {
    return analysis::run_group(group, machine::parse_platform_spec(text)).contended;
  };
  EXPECT_FALSE(contended("star:rate=8Gbps,latency=1us"));
  EXPECT_FALSE(contended("two-level:racks=4,hosts=4,rate=8Gbps,latency=1us"));
  EXPECT_TRUE(
      contended("two-level:racks=4,hosts=4,rate=8Gbps,latency=1us,oversubscription=16,placement="
                "round-robin"));
}

TEST(GroupFailureRun, RefusesByName) {
  const auto refusal = [](auto change) {
    GroupScenario group = scenario();
    group.kill = kill_at(1, 3);
    change(group);
    return testing::error_of([&] { analysis::run_group(group, group_platform()); });
  };
  EXPECT_EQ(refusal([](GroupScenario& s) { s.messages.clear(); }),
            "group: no messages; expected at least one");
  EXPECT_EQ(refusal([](GroupScenario& s) { s.kill->member = 3; }),
            "kill: rank 3 is no member; expected 0 to 2");
  EXPECT_EQ(refusal([](GroupScenario& s) { s.kill->after = 1; }),
            "kill: expected a time, or a number of operations from 1 on");
  EXPECT_EQ(refusal([](GroupScenario& s) { s.kill->seen_by = {1}; }),
            "kill: rank 1 cannot see that rank 1 is gone; expected another member");
  const std::string late = "group: how late members are; expected times from 0 on for each of them";
  EXPECT_EQ(refusal([](GroupScenario& s) { s.lateness.resize(2); }), late);
  EXPECT_EQ(refusal([](GroupScenario& s) { s.lateness.resize(3, {us(0), us(-1)}); }), late);
  GroupScenario large = scenario();
  large.shape.members = 1025;
  EXPECT_THROW(analysis::run_group(large, group_platform()), Unsupported);
  for (const char* other : {"star:switches=switch", "fat-tree:arity=4,routing=adaptive"}) {
    EXPECT_THROW(analysis::run_group(scenario(), machine::parse_platform_spec(other)), Unsupported)
        << other;
  }
  machine::DelayPlan delays;
  delays.failures.push_back({"", sched::RankId(1), us(3)});
  EXPECT_THROW(analysis::run_group(scenario(), group_platform(), delays), Unsupported);
}

}  // namespace
}  // namespace slackline
