// How long a run goes on, by a clock of the test's.
#include "hw/run_pace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "base/error.h"

namespace slackline {
namespace {

using hw::RunPace;
using std::chrono::milliseconds;

constexpr RunPace::Clock::time_point kBegin{std::chrono::hours(5)};

// The iterations of a run each of which takes `each`: how many there are and how many count.
std::pair<std::uint32_t, std::uint32_t> iterations_of(const hw::RunOptions& options,
                                                      milliseconds each) {
  RunPace pace(options);
  std::uint32_t counted = 0;
  for (std::uint32_t i = 0;; ++i) {
    const hw::RunStart start = pace.next(i, kBegin + i * each);
    counted += start.counts ? 1 : 0;
    if (start.last) return {i + 1, counted};
  }
}

TEST(RunPace, AsOftenAsItWasTold) {
  for (const std::uint32_t warm_up : {0u, 1u, 5u}) {
    for (const std::uint32_t iterations : {1u, 2u, 9u}) {
      hw::RunOptions options;
      options.warm_up = warm_up;
      options.iterations = iterations;
      EXPECT_EQ(iterations_of(options, milliseconds(1000)),
                std::pair(warm_up + iterations, iterations));
    }
  }
}

TEST(RunPace, ForAsLongAsItWasToldAfterTheWarmUp) {
  hw::RunOptions options;
  options.iterations = 1;  // which says nothing then
  options.duration = milliseconds(100);
  for (const std::uint32_t warm_up : {0u, 1u, 5u}) {
    options.warm_up = warm_up;
    // The last begins at 100 ms, or is the first to begin later.
    EXPECT_EQ(iterations_of(options, milliseconds(10)), std::pair(warm_up + 11, 11u));
    EXPECT_EQ(iterations_of(options, milliseconds(30)), std::pair(warm_up + 5, 5u));
    EXPECT_EQ(iterations_of(options, milliseconds(1000)), std::pair(warm_up + 2, 2u));
  }
}

TEST(RunPace, StartsAMillisecondAhead) {
  const hw::RunOptions options;
  EXPECT_NEAR(RunPace(options).next(0, kBegin).at_s, 5 * 3600 + 0.001, 1e-9);
}

TEST(RunPace, TellsIterationsOrTime) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> told;
  const auto listen = [&](std::uint32_t done, std::uint32_t all) { told.emplace_back(done, all); };
  hw::RunOptions options;
  options.warm_up = 2;
  options.iterations = 3;
  RunPace(options).tell(listen, 4, kBegin);
  options.duration = milliseconds(500);
  RunPace pace(options);
  pace.tell(listen, 2, kBegin);  // warming up
  pace.next(2, kBegin);
  pace.tell(listen, 3, kBegin + milliseconds(200));
  pace.tell(listen, 4, kBegin + milliseconds(900));
  pace.tell({}, 4, kBegin);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {
      {4, 5}, {0, 500}, {200, 500}, {500, 500}};
  EXPECT_EQ(told, expected);
}

TEST(RunPace, WhatNobodyWaitsForIsRefused) {
  hw::RunOptions options;
  options.duration = hw::kLongestDuration;
  const RunPace longest(options);
  options.duration += milliseconds(1);
  EXPECT_THROW(RunPace{options}, InputError);
  options.duration = milliseconds(-1);
  EXPECT_THROW(RunPace{options}, InputError);
  options.duration = milliseconds(0);
  options.iterations = 0;
  EXPECT_THROW(RunPace{options}, InputError);
  // All are counted together.
  options.iterations = 0xffffffff;
  options.warm_up = 0;
  const RunPace most(options);
  options.warm_up = 1;
  EXPECT_THROW(RunPace{options}, InputError);
  options.warm_up = 0xffffffff;
  options.iterations = 1;
  EXPECT_THROW(RunPace{options}, InputError);
}

// As drift has taken by then what round trips leave open.
TEST(RunPace, ClocksAreAskedTenTimesASecondAndNotAfterTheLast) {
  hw::RunOptions options;
  options.warm_up = 2;
  options.iterations = 100;
  RunPace pace(options);
  std::vector<std::uint32_t> asked;
  for (std::uint32_t i = 0; i < 102; ++i) {
    if (pace.next(i, kBegin + i * milliseconds(30)).asks_clock) asked.push_back(i);
  }
  ASSERT_EQ(asked.size(), 25u);
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(asked[i], 4 * (i + 1));
  options.warm_up = 0;
  options.iterations = 2;
  RunPace slow(options);
  slow.next(0, kBegin);
  EXPECT_FALSE(slow.next(1, kBegin + milliseconds(1000)).asks_clock);
}

}  // namespace
}  // namespace slackline
