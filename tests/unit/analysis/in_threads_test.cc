#include "analysis/in_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace slackline::analysis {
namespace {

TEST(InThreads, DoesEachOnce) {
  for (const std::uint32_t count : {0u, 1u, 2u, 7u, 1000u}) {
    for (const std::uint32_t jobs : {0u, 1u, 3u, 64u}) {
      std::vector<std::atomic<int>> done(count);
      std::uint32_t told = 0;
      in_threads(
          count, jobs, [&](std::uint32_t i) { ++done[i]; },
          [&](std::uint32_t so_far) {
            EXPECT_GE(so_far, told);
            told = so_far;
          });
      for (const auto& times : done) EXPECT_EQ(times, 1);
      EXPECT_LE(told, count);
    }
  }
}

TEST(InThreads, ThrowsTheFirstPiecesError) {
  for (const std::uint32_t jobs : {1u, 2u, 8u}) {
    for (int again = 0; again < 50; ++again) {
      try {
        in_threads(100, jobs, [](std::uint32_t i) {
          if (i >= 13) throw std::runtime_error(std::to_string(i));
        });
        FAIL();
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "13");
      }
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
