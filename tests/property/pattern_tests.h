// For tests that each pattern is a parameter of.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/named.h"
#include "sched/pattern/pattern.h"

namespace slackline::testing {

inline std::vector<std::string_view> pattern_names() {
  return base::names_of(sched::plan_patterns());
}

inline std::string pattern_test_name(const ::testing::TestParamInfo<std::string_view>& which) {
  std::string text(which.param);
  std::ranges::replace(text, '-', '_');
  return text;
}

}  // namespace slackline::testing
