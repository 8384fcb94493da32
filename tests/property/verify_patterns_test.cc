// Every pattern, compiled in every way, is proven.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sched/compile.h"
#include "sched/verify.h"
#include "tests/property/pattern_tests.h"
#include "tests/support/verifier_agreement.h"

namespace slackline::testing {
namespace {

using namespace slackline::sched;  // NOLINT

std::vector<std::string> ways() {
  std::vector<std::string> all;
  for (const char* ready : {"none", "send", "write"}) {
    for (const char* lower : {"send", "put"}) {
      for (const char* rest : {"", ",window=3,in-flight=2", ",start=all,first-block=copy",
                               ",window=2,in-flight=0,start=all"}) {
        const std::string text = fmt::format(",ready={},lower={}{}", ready, lower, rest);
        const bool credits = text.find("ready=none") == std::string::npos;
        if (!credits && text.find("window") != std::string::npos) continue;
        all.push_back(text);
      }
    }
  }
  return all;
}

class VerifyPatterns : public ::testing::TestWithParam<std::string_view> {};

TEST_P(VerifyPatterns, AreProven) {
  const std::vector<std::string> all_ways = ways();
  std::size_t turn = 0;
  const auto check = [&](std::uint32_t ranks, std::uint32_t bytes, const std::string& way) {
    const std::string text = fmt::format("{}:ranks={},bytes={},block=16,root={}{}", GetParam(),
                                         ranks, bytes, bytes % ranks, way);
    const Schedule schedule = compile(parse_spec(text));
    const Diagnostics found = verify(schedule);
    EXPECT_TRUE(found.empty()) << text << "\n" << testing::text(found);
  };
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (const std::uint32_t bytes : {0u, 16u, 40u, 112u}) {
      for (const std::string& way : all_ways) check(ranks, bytes, way);
      if (HasFailure()) return;
    }
  }
  for (std::uint32_t ranks = 10; ranks <= 66; ++ranks) {
    for (const std::uint32_t bytes : {16u, 300u, 512u}) {
      check(ranks, bytes, all_ways[turn++ % all_ways.size()]);
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, VerifyPatterns, ::testing::ValuesIn(pattern_names()),
                         pattern_test_name);

}  // namespace
}  // namespace slackline::testing
