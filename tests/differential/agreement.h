// When two engines say the same.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sched/trace.h"

namespace slackline::testing {

/// Every operation's issue and end, to the 1e-9 of the makespan that the engines promise.
inline void expect_equal(const sched::Trace& a, const sched::Trace& b, const std::string& what) {
  ASSERT_EQ(a.ops.size(), b.ops.size()) << what;
  const double near_s = 1e-9 * a.makespan_s();
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    ASSERT_NEAR(a.ops[i].issued_s, b.ops[i].issued_s, near_s) << what << ", op " << i;
    ASSERT_NEAR(a.ops[i].done_s, b.ops[i].done_s, near_s) << what << ", op " << i;
  }
}

}  // namespace slackline::testing
