// How long those who come are given where a test has one that never comes.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace slackline::testing {

/// Looks at what is said where all are waited for as long as `patience`: the lines `said(patience)`
/// must match `expected(patience)`. A machine with much else to do may keep those who do come for
/// longer than that. Then a line matches `late`, as none does on a quiet machine. If one does, and
/// what is expected does not hold, it is done again with four times the patience, up to 64 times.
template <class Said, class Expected>
void expect_with_patience(std::chrono::milliseconds patience,
                          const ::testing::Matcher<const std::string&>& late, Said&& said,
                          Expected&& expected) {
  using Lines = std::vector<std::string>;
  for (int more = 3;; --more, patience *= 4) {
    const Lines lines = said(patience);
    const ::testing::Matcher<const Lines&> right = expected(patience);
    if (more == 0 || right.Matches(lines) ||
        !std::ranges::any_of(lines, [&](const auto& line) { return late.Matches(line); })) {
      EXPECT_THAT(lines, right);
      return;
    }
  }
}

}  // namespace slackline::testing
