#include "machine/issue_policy.h"

#include <gtest/gtest.h>

namespace slackline::machine {
namespace {

TEST(IssuePolicy, NamesReadBack) {
  for (const IssuePolicy policy : {IssuePolicy::kInOrder, IssuePolicy::kReady}) {
    EXPECT_EQ(issue_policy_named(name(policy)), policy);
  }
  EXPECT_EQ(name(IssuePolicy::kInOrder), "in-order");
  EXPECT_EQ(name(IssuePolicy::kReady), "ready");
}

TEST(IssuePolicy, OtherNamesAreNone) {
  for (const char* text : {"", "in order", "In-Order", "ready ", "random"}) {
    EXPECT_FALSE(issue_policy_named(text)) << text;
  }
}

}  // namespace
}  // namespace slackline::machine
