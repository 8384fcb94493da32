// Every pattern, compiled into NIC queues in every way, is sound: as proved, and as emulated under
// seeded timings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "offload/check_queues.h"
#include "offload/compile_queues.h"
#include "offload/emulate.h"
#include "sched/compile.h"
#include "tests/offload_timings/seeded_timings.h"
#include "tests/property/pattern_tests.h"

namespace slackline::testing {
namespace {

using namespace slackline::offload;  // NOLINT
using sched::Schedule;

struct Way {
  Mode mode;
  Readiness readiness;
  std::uint32_t window;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {Mode::kSqWait, Readiness::kHandshake, 0},   {Mode::kSqWait, Readiness::kWindow, 1},
      {Mode::kSqWait, Readiness::kWindow, 3},      {Mode::kSqWait, Readiness::kNone, 0},
      {Mode::kMqEnable, Readiness::kHandshake, 0}, {Mode::kMqEnable, Readiness::kWindow, 1},
      {Mode::kMqEnable, Readiness::kWindow, 2},    {Mode::kMqEnable, Readiness::kNone, 0},
      {Mode::kRdmcMq, Readiness::kNone, 0},
  };
  return all;
}

std::string text(const Way& way) {
  return fmt::format("{}, {} {}", name(way.mode), name(way.readiness), way.window);
}

std::string spec(std::string_view pattern, std::uint32_t ranks, std::uint32_t blocks,
                 std::string_view more = "") {
  // The last block is short.
  return fmt::format("{}:ranks={},bytes={},block=16,root={}{}", pattern, ranks, 16 * blocks - 3,
                     blocks % ranks, more);
}

// Proves it, follows its bytes through as many interleavings, then goes through 512 seeded timings.
void expect_sound(const std::string& text_of, const Way& way, std::uint32_t interleavings,
                  QueueOptions options = {}) {
  const Schedule schedule = sched::compile(sched::parse_spec(text_of));
  options.mode = way.mode;
  options.readiness = way.readiness;
  if (way.window != 0) options.window = way.window;
  const QueueProgram program = compile_queues(schedule, options);
  const MessageGraph graph(schedule);
  const QueueDiagnostics found = check_queues(program, schedule, graph, {options.limits, 3});
  ASSERT_TRUE(found.empty()) << text_of << ", " << text(way) << "\n"
                             << name(found.front().code) << ": " << found.front().message;
  Emulator emulator(program, schedule, graph);
  for (std::uint64_t seed = 0; seed < interleavings; ++seed) {
    ASSERT_TRUE(emulator.is_sound(seed))
        << text_of << ", " << text(way) << ", seed " << seed << "\n"
        << emulator.run(static_cast<Timing>(seed % 4), seed).faults.front();
  }
  SeededTimings seeded(program, schedule, graph);
  ASSERT_TRUE(seeded.ends()) << text_of << ", " << text(way);
  ASSERT_EQ(seeded.first_unsound(0, 512), std::nullopt) << text_of << ", " << text(way);
}

class OffloadPatterns : public ::testing::TestWithParam<std::string_view> {};

TEST_P(OffloadPatterns, AreSoundWhenSmall) {
  for (std::uint32_t ranks = 2; ranks <= 7; ++ranks) {
    for (std::uint32_t blocks = 1; blocks <= 5; ++blocks) {
      for (const Way& way : ways()) {
        expect_sound(spec(GetParam(), ranks, blocks), way, 100);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(OffloadPatterns, AreSoundWhenLarger) {
  std::size_t turn = 0;
  for (std::uint32_t ranks = 7; ranks <= 64; ranks += ranks < 20 ? 1 : 11) {
    for (const std::uint32_t blocks : {1u, 2u, 5u, 17u, 64u}) {
      for (int way = 0; way < 2; ++way) {
        expect_sound(spec(GetParam(), ranks, blocks), ways()[turn++ % ways().size()], 4);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(OffloadPatterns, AreSoundHoweverTheyWereLowered) {
  for (const std::string_view more :
       {",lower=put", ",ready=none,in-flight=0", ",ready=write,window=3", ",start=all",
        ",order=lockstep", ",order=lockstep,ready=none", ",messages=3"}) {
    for (const Way& way : ways()) {
      expect_sound(spec(GetParam(), 5, 3, more), way, 20);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, OffloadPatterns, ::testing::ValuesIn(pattern_names()),
                         pattern_test_name);

}  // namespace
}  // namespace slackline::testing
