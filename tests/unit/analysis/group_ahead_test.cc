// What members of a simulated group post ahead of a message in blocks that never comes: how much
// later small messages are for it, to the moment by hand for two and three members; and how much of
// it a survivor has done when it learns of a loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analysis/group/failure_run.h"
#include "analysis/group/messages.h"
#include "sched/op.h"
#include "tests/unit/analysis/group_case.h"

namespace slackline {
namespace {

using analysis::GroupRun;
using analysis::GroupScenario;
using testing::at_us;
using ::testing::ElementsAre;
using testing::group_platform;
using testing::kill_at;
using testing::kNever;
using testing::outcome;

// A message in blocks has one. A small one of 976 bytes is a write of 1000.
GroupScenario scenario(std::uint32_t members, std::vector<std::uint64_t> messages,
                       sched::Ready ready = sched::Ready::kSend) {
  GroupScenario scenario;
  scenario.shape.pattern = "chain";
  scenario.shape.members = members;
  scenario.shape.block_bytes = 50'000;
  scenario.shape.ready = ready;
  scenario.messages = std::move(messages);
  scenario.small = {976, 16};
  return scenario;
}

// The member's readiness is posted at 2 us and seen at 14 us. The block's post ends at 15 us, its
// 40,000 bytes have left at 55 us and are seen at 67 us. The member has copied them at 107 us, and
// the root knows at 77 us that they have come.
// Now the root posts the receive of the readiness for one more message, until 78 us. Only then it
// copies the small message and posts its write, until 79.976 us. That is there long before the
// member is through with the block. From 107 us on the member looks for it, and sees it at 109 us:
// in just that time it posts the receive of one more block and its readiness.
TEST(GroupAhead, TwoMembersMakeReadyBeforeASmallMessage) {
  const GroupRun run = analysis::run_group(scenario(2, {40'000, 976}), group_platform());
  EXPECT_THAT(run.members[0].finished_s, ElementsAre(at_us(77), at_us(79.976)));
  EXPECT_THAT(run.members[1].finished_s, ElementsAre(at_us(107), at_us(109.976)));
}

// The block leaves at once: it has come at 51 us, which the root knows at 63 us, and is seen at 53
// us. The root posts nothing ahead. While the member looks for the small message, from 93 us to 95
// us, it posts a receive.
TEST(GroupAhead, WithoutReadinessThereIsTheReceiveAlone) {
  const GroupRun run =
      analysis::run_group(scenario(2, {40'000, 976}, sched::Ready::kNone), group_platform());
  EXPECT_THAT(run.members[0].finished_s, ElementsAre(at_us(63), at_us(64.976)));
  EXPECT_THAT(run.members[1].finished_s, ElementsAre(at_us(93), at_us(95.976)));
  EXPECT_THAT(run.members[0].issued_ahead, ElementsAre());
  EXPECT_THAT(run.members[1].issued_ahead, ElementsAre(true));
}

// Readiness is seen at 14 us. The root's post ends at 15 us; its 1000 bytes are seen by member 1 at
// 28 us and copied at 29 us. Member 1's post to 2 ends at 30 us: seen at 43 us, copied at 44 us,
// and known by member 1 to have come at 53 us. The root knows of its own at 38 us.
// The root posts a receive until 39 us, copies until 39.976 us, and posts its writes until 40.976
// us and 41.976 us. The bytes are at member 1 at 51.976 us: it looks for them from 53 us on, and
// sees them at 55 us. Until 56 us it posts a receive, its readiness, and the receive of member 2's:
// then it copies. The bytes to member 2 leave behind those to 1, and are seen at 54.976 us. It has
// been ready since 46 us.
TEST(GroupAhead, ThreeMembersInAChainDo) {
  const GroupRun run = analysis::run_group(scenario(3, {1000, 976}), group_platform());
  EXPECT_THAT(run.members[0].finished_s, ElementsAre(at_us(38), at_us(41.976)));
  EXPECT_THAT(run.members[1].finished_s, ElementsAre(at_us(53), at_us(56.976)));
  EXPECT_THAT(run.members[2].finished_s, ElementsAre(at_us(44), at_us(55.952)));
}

// The same group, whose root is killed at 20 us, when its block is on its way: what survivors have
// made ready for one more message depends on when they learn of the loss, and what becomes of them
// does not.
TEST(GroupAhead, SurvivorsHaveMadeReadyWhatTheyHadTimeFor) {
  GroupScenario group = scenario(3, {1000});
  const auto run_with = [&](double detection_us) {
    group.kill = kill_at(0, 20, detection_us);
    return analysis::run_group(group, group_platform());
  };
  // At 52.5 us member 1 does not know yet that its block has come to member 2.
  const GroupRun early = run_with(22.5);
  EXPECT_THAT(early.members[1].finished_s, ElementsAre(kNever));
  EXPECT_THAT(early.members[1].issued_ahead, ElementsAre(false, false, false));
  EXPECT_THAT(early.members[2].issued_ahead, ElementsAre(true, true));
  // At 54.5 us it has posted its receive, and is about to post its readiness.
  const GroupRun between = run_with(24.5);
  EXPECT_THAT(between.members[1].finished_s, ElementsAre(at_us(53)));
  EXPECT_THAT(between.members[1].issued_ahead, ElementsAre(true, false, false));
  const GroupRun late = run_with(100);
  EXPECT_THAT(late.members[1].issued_ahead, ElementsAre(true, true, true));
  EXPECT_THAT(late.members[0].issued_ahead, ElementsAre(false));
  for (const GroupRun* const run : {&between, &late}) {
    EXPECT_EQ(outcome(*run, 1), "failed 1 by 0");
    EXPECT_EQ(outcome(*run, 2), "failed 1 by 0");
    // They close as fast as they learn: both see it at once, and tell each other.
    EXPECT_THAT(run->members[1].closed_s - run->members[1].knew_s, at_us(3 + 12.072));
    EXPECT_THAT(run->members[2].closed_s - run->members[2].knew_s, at_us(3 + 12.072));
  }
}

// As in the first group here, the root is through at 77 us and member 1 at 107 us. The root posts a
// receive, its row until 79 us and its word that this was all until 80 us: these are there
// at 91.008 us and 92.064 us. Member 1 posts a receive, its readiness, and its row until 110 us:
// that is there at 122.008 us. So the message is complete at member 1 when it stands there, and at
// the root at 122.008 us. The root says so until 123.008 us. Member 1 knows at 134.008 us that its
// row is there, and says until 135.008 us that it is done.
TEST(GroupAhead, RowsAndWordsComeBehindIt) {
  GroupScenario group = scenario(2, {40'000});
  group.atomic_delivery = true;
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(run.members[0].completed_s, ElementsAre(at_us(122.008)));
  EXPECT_THAT(run.members[1].completed_s, ElementsAre(at_us(107)));
  EXPECT_THAT(run.members[0].closed_s, at_us(135.008 + 12.064));
  EXPECT_THAT(run.members[1].closed_s, at_us(123.008 + 12.064));
}

// As in the group of three here, the members are through at 38, 53 and 44 us. Then they post ahead
// until 39, 56 and 46 us, and their rows for the others in 1 us each, of which a row takes 12.008
// us more: the root's are there at 52.008 and 53.008 us, member 1's at the root at 69.008 us and at
// 2 at 70.008 us, member 2's at 59.008 and 60.008 us.
TEST(GroupAhead, RowsOfThreeMembersComeBehindIt) {
  GroupScenario group = scenario(3, {1000});
  group.atomic_delivery = true;
  const GroupRun run = analysis::run_group(group, group_platform());
  EXPECT_THAT(run.members[0].completed_s, ElementsAre(at_us(69.008)));
  EXPECT_THAT(run.members[1].completed_s, ElementsAre(at_us(60.008)));
  EXPECT_THAT(run.members[2].completed_s, ElementsAre(at_us(70.008)));
}

// Without atomic delivery these are words. Member 1 says that it is done at 110 us, behind what it
// posts ahead, and closes itself when it decides that: it has heard of the root.
TEST(GroupAhead, WordsAloneComeBehindItToo) {
  const GroupRun run = analysis::run_group(scenario(2, {40'000}), group_platform());
  EXPECT_THAT(run.members[0].closed_s, at_us(110 + 12.064));
  EXPECT_THAT(run.members[1].closed_s, at_us(107));
}

// Who learns of a loss in the midst of it posts no more of it, and tells at once: the root is
// killed at 20 us, and seen to be at 54.5 us. Member 1 has posted its receive until 54 us, passes
// the loss on until 55.5 us and tells member 2 until 57.5 us; of atomic delivery it has rows to
// write first.
TEST(GroupAhead, WhoStopsWaitsForNoneOfIt) {
  for (const bool atomic : {false, true}) {
    GroupScenario group = scenario(3, {1000});
    group.atomic_delivery = atomic;
    group.kill = kill_at(0, 20, 24.5);
    const GroupRun run = analysis::run_group(group, group_platform());
    EXPECT_THAT(run.members[1].issued_ahead, ElementsAre(true, false, false));
    EXPECT_THAT(run.members[1].knew_s, at_us(54.5));
    EXPECT_THAT(run.members[2].closed_s, at_us((atomic ? 59.5 : 57.5) + 12.072));
  }
}

// Whoever is through is ready, with nothing but small messages too: from the beginning.
TEST(GroupAhead, OfSmallMessagesAloneMembersAreReadyFromTheBeginning) {
  const GroupRun run = analysis::run_group(scenario(2, {976}), group_platform());
  EXPECT_THAT(run.members[0].issued_ahead, ElementsAre(true));
  EXPECT_THAT(run.members[1].issued_ahead, ElementsAre(true, true));
}

TEST(GroupAhead, ASingleMemberPostsNothing) {
  GroupScenario alone = scenario(1, {1000, 976});
  machine::GroupPlan plan(alone.shape);
  EXPECT_TRUE(analysis::messages_of_group(plan, alone.messages, alone.small).ahead.empty());
}

}  // namespace
}  // namespace slackline
