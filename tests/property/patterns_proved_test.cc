// Every pattern, compiled and proved by the verifier: all small group sizes and block counts, every
// way of lowering, and seeded random large ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sched/compile.h"
#include "sched/verify.h"

namespace slackline::sched {
namespace {

// The empty string if the schedule is proved and delivers nothing twice; else what was found.
std::string defect(const std::string& spec_text) {
  const Spec spec = parse_spec(spec_text);
  const Schedule schedule = compile(spec);
  const Diagnostics found = verify(schedule);
  if (found.empty()) return "";
  return fmt::format("{}: {}: {}", spec_text, name(found.front().code), found.front().message);
}

class EveryPattern : public ::testing::TestWithParam<std::string> {};

// Blocks of 8 bytes, the last one short by up to 7, so that sizes are odd too.
TEST_P(EveryPattern, IsProvedForAllSmallSizes) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    for (std::uint32_t k = 1; k <= 60; ++k) {
      const std::uint32_t bytes = 8 * k - (n + k) % 8;
      ASSERT_EQ(defect(fmt::format("{}:ranks={},bytes={},block=8", GetParam(), n, bytes)), "");
    }
  }
}

TEST_P(EveryPattern, IsProvedHoweverItIsLowered) {
  std::mt19937 random(7);
  for (const char* lower : {"send", "put"}) {
    for (const char* ready : {"send", "write", "none"}) {
      for (const char* start : {"pairwise", "all"}) {
        for (const char* first : {"direct", "copy"}) {
          for (const std::uint32_t window : {1u, 2u, 3u}) {
            for (const std::uint32_t in_flight : {0u, 1u, 3u}) {
              const auto n = static_cast<std::uint32_t>(1 + random() % 24);
              const auto k = static_cast<std::uint32_t>(1 + random() % 16);
              const std::uint64_t bytes =
                  random() % 10 == 0 ? 0 : 100ull * (k - 1) + 1 + random() % 100;
              ASSERT_EQ(
                  defect(fmt::format("{}:ranks={},bytes={},block=100,root={},lower={},ready={},"
                                     "start={},first-block={},window={},in-flight={}",
                                     GetParam(), n, bytes, random() % n, lower, ready, start, first,
                                     window, in_flight)),
                  "");
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryPattern, IsProvedForLargeRandomSizes) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 6; ++trial) {
    const auto n = static_cast<std::uint32_t>(71 + random() % 500);
    const auto k = static_cast<std::uint32_t>(1 + random() % 150);
    ASSERT_EQ(defect(fmt::format("{}:ranks={},bytes={},block=4096,root={}", GetParam(), n,
                                 4096ull * k - random() % 4096, random() % n)),
              "");
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const PatternEntry& entry : plan_patterns()) result.emplace_back(entry.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Patterns, EveryPattern, ::testing::ValuesIn(names()),
                         [](const auto& named) {
                           std::string name = named.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace slackline::sched
