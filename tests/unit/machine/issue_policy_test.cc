#include "machine/issue_policy.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace slackline::machine {
namespace {

TEST(IssuePolicy, NamesReadBack) {
  for (const IssuePolicy policy :
       {IssuePolicy::kInOrder, IssuePolicy::kReady, IssuePolicy::kLeastSlack}) {
    EXPECT_EQ(issue_policy_named(name(policy)), policy);
  }
  EXPECT_EQ(name(IssuePolicy::kInOrder), "in-order");
  EXPECT_EQ(name(IssuePolicy::kReady), "ready");
  EXPECT_EQ(name(IssuePolicy::kLeastSlack), "least-slack");
}

TEST(IssuePolicy, OtherNamesAreNone) {
  for (const char* text : {"", "in order", "In-Order", "ready ", "random", "least", "leastslack"}) {
    EXPECT_FALSE(issue_policy_named(text)) << text;
  }
}

TEST(IssuePolicy, OnlyLeastSlackNeedsSlack) {
  const std::vector<double> three(3, 0.0);
  EXPECT_NO_THROW(require_complete(IssuePolicy::kInOrder, 3));
  EXPECT_NO_THROW(require_complete(IssuePolicy::kReady, 3));
  EXPECT_NO_THROW(require_complete({IssuePolicy::kLeastSlack, three}, 3));
  EXPECT_THROW(require_complete({IssuePolicy::kLeastSlack, three}, 4), InternalError);
  EXPECT_THROW(require_complete(IssuePolicy::kLeastSlack, 1), InternalError);
}

TEST(IssuePolicy, ABoundIsNoProgramOrder) {
  IssueOrder order;
  EXPECT_TRUE(order.is_program_order());
  order.sends_in_flight = 1;
  EXPECT_FALSE(order.is_program_order());
  EXPECT_FALSE(IssueOrder(IssuePolicy::kReady).is_program_order());
}

}  // namespace
}  // namespace slackline::machine
