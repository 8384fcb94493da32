#include "analysis/in_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/error_of.h"

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
      EXPECT_EQ(told, count);
    }
  }
}

TEST(InThreads, EndsEarlyIfWhoIsToldThrows) {
  for (const std::uint32_t jobs : {1u, 8u}) {
    std::atomic<std::uint32_t> begun = 0;
    std::atomic<bool> given_up = false;
    // Pieces last until somebody has given up: then no more are begun than are at work.
    const auto work = [&](std::uint32_t) {
      ++begun;
      while (!given_up) std::this_thread::yield();
    };
    const auto give_up = [&](std::uint32_t) {
      given_up = true;
      throw std::runtime_error("given up");
    };
    EXPECT_THROW(in_threads(1'000'000, jobs, work, give_up), std::runtime_error);
    EXPECT_LT(begun, 1'000'000u);
  }
}

TEST(InThreads, ThrowsTheFirstPiecesError) {
  for (const std::uint32_t jobs : {1u, 2u, 8u}) {
    for (int again = 0; again < 50; ++again) {
      EXPECT_EQ(testing::error_of<std::runtime_error>([&] {
                  in_threads(100, jobs, [](std::uint32_t i) {
                    if (i >= 13) throw std::runtime_error(std::to_string(i));
                  });
                }),
                "13");
    }
  }
}

// Waits until progress has told as much, or for so long that it will never do.
void await(const std::atomic<std::uint32_t>& told, std::uint32_t done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (told != done && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(told, done);
}

TEST(InThreads, TellsWhatIsDoneUntilTheLastPieceIs) {
  for (const std::uint32_t jobs : {1u, 2u}) {
    std::atomic<std::uint32_t> told{99};
    in_threads(
        3, jobs,
        [&](std::uint32_t i) {
          if (i == 2) await(told, 2);
        },
        [&](std::uint32_t done) { told = done; });
  }
  // Of one piece, too.
  std::atomic<std::uint32_t> told{99};
  in_threads(
      1, 1, [&](std::uint32_t) { await(told, 0); }, [&](std::uint32_t done) { told = done; });
}

TEST(InThreads, WhoeverThrowsFirstTheFirstPiecesErrorIsThrown) {
  for (const std::uint32_t early : {0u, 1u}) {
    std::atomic<std::uint32_t> told{99};
    std::atomic<std::uint32_t> begun{0};
    EXPECT_EQ(testing::error_of<std::runtime_error>([&] {
                in_threads(
                    2, 2,
                    [&](std::uint32_t i) {
                      ++begun;
                      while (begun != 2) std::this_thread::yield();
                      if (i != early) await(told, 1);
                      throw std::runtime_error(std::to_string(i));
                    },
                    [&](std::uint32_t done) { told = done; });
              }),
              "0")
        << early;
  }
}

TEST(InThreads, BeginsNothingAfterAnError) {
  std::uint32_t begun = 0;
  EXPECT_THROW(in_threads(9, 1,
                          [&](std::uint32_t i) {
                            ++begun;
                            if (i == 3) throw std::runtime_error("3");
                          },
                          {}),
               std::runtime_error);
  EXPECT_EQ(begun, 4u);
}

}  // namespace
}  // namespace slackline::analysis
