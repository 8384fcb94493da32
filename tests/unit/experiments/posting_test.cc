#include "experiments/rdmc-inversion/posting.h"

#include <gtest/gtest.h>

#include "experiments/multicast.h"

namespace slackline::experiments {
namespace {

// The slack that a rule has of each send of a rank, in block times.
std::vector<double> of_sends(const sched::Schedule& schedule, const Posting& posting, Rule rule,
                             std::uint32_t rank) {
  std::vector<double> slack;
  const machine::IssueOrder order = posting.order(rule, 0);
  for (sched::OpId id = schedule.first_op(sched::RankId(rank));
       id < schedule.end_op(sched::RankId(rank)); ++id.value) {
    if (schedule.op(id).kind == sched::OpKind::kSend) {
      slack.push_back(order.slack_s[id.value] / block_time_s(bare_machine()));
    }
  }
  return slack;
}

TEST(Posting, KnowsWhatWaitsForAPortAndWhatDoesNot) {
  // Down a chain of 3, 2 blocks: 3 block times, 2 if no block waits for another.
  const sched::Schedule schedule =
      schedule_of({"chain", 3, 2 * kMiB, kMiB, "in-flight=0,ready=none"});
  const Posting posting(schedule, bare_machine());
  const auto expect = [&](Rule rule, std::uint32_t rank, double first, double second) {
    const std::vector<double> slack = of_sends(schedule, posting, rule, rank);
    ASSERT_EQ(slack.size(), 2u);
    EXPECT_NEAR(slack[0], first, 1e-9) << name(rule) << ", rank " << rank;
    EXPECT_NEAR(slack[1], second, 1e-9) << name(rule) << ", rank " << rank;
  };
  // The root posts both at once; the second could be posted when the first has left.
  expect(Rule::kLeastSlack, 0, 0, 1);
  expect(Rule::kLatest, 0, 0, 1);
  expect(Rule::kLatestUncontended, 0, 0, 0);
  expect(Rule::kLeastSlack, 1, 0, 0);
  expect(Rule::kLatest, 1, 1, 2);
  expect(Rule::kLatestUncontended, 1, 1, 1);
}

TEST(Posting, OrdersAsNamed) {
  const sched::Schedule schedule = schedule_of({"chain", 2, kMiB, kMiB, ""});
  const Posting posting(schedule, bare_machine());
  EXPECT_TRUE(posting.order(Rule::kInOrder, 0).is_program_order());
  EXPECT_EQ(posting.order(Rule::kReady, 2).policy, machine::IssuePolicy::kReady);
  EXPECT_EQ(posting.order(Rule::kReady, 2).sends_in_flight, 2u);
  for (const Rule rule : {Rule::kLeastSlack, Rule::kLatest, Rule::kLatestUncontended}) {
    const machine::IssueOrder order = posting.order(rule, 1);
    EXPECT_EQ(order.policy, machine::IssuePolicy::kLeastSlack);
    EXPECT_EQ(order.slack_s.size(), schedule.op_count());
  }
}

}  // namespace
}  // namespace slackline::experiments
