// Several threads of a rank that call: each call runs once and in its thread's order, each result
// comes to who asked for it, and no thread keeps another from its turn.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "hw/call.h"
#include "hw/call/turn_lock.h"
#include "hw/fabric/transport.h"
#include "tests/hw/call_ranks.h"
#include "tests/support/sanitized.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::Calls;
using hw::Synchronizer;
using testing::CallRanks;
using testing::Checks;
using ::testing::ElementsAre;

using Say = CallRanks::Say;

constexpr std::uint32_t kRanks = 2;
constexpr std::uint32_t kThreads = 4;

class CallThreads : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }
  static bool is_shm() { return std::string(GetParam()).starts_with("shm"); }
};

// What each thread of a rank does; what it finds wrong, if anything.
using Work = std::function<std::string(std::uint32_t thread)>;
void in_threads(Checks& check, const Work& work) {
  std::array<std::string, kThreads> found;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      try {
        found[t] = work(t);
      } catch (const std::exception& error) {
        found[t] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    check(found[t].empty(), fmt::format("thread {}: {}", t, found[t]));
  }
}

// How many calls of each thread have run here; functions run one at a time.
struct Counts {
  std::array<std::array<std::uint64_t, kThreads>, kRanks> ran{};
  std::uint64_t disordered = 0;
};

TEST_P(CallThreads, EachCallRunsOnceInTheOrderOfItsThread) {
  for (const bool in_background : {false, true}) {
    // Each write of shm's waits until the other rank has had a look. Gathered calls share writes.
    const std::uint64_t each = testing::kSanitized || is_shm() ? (in_background ? 200 : 30) : 1000;
    hw::CallsOptions options = testing::small_chunks();
    if (in_background) options.aggregate = hw::Aggregate::kTrad;
    testing::expect_all_right(kRanks, GetParam(), options, [=](Calls& calls, Checks& check) {
      Counts counts;
      calls.set_local(counts);
      if (in_background) calls.run_in_background();
      in_threads(check, [&](std::uint32_t t) -> std::string {
        Synchronizer done(calls);
        for (std::uint64_t i = 0; i < each; ++i) {
          for (std::uint32_t to = 0; to < kRanks; ++to) {
            calls.call(
                to,
                [t, i](CallContext& here) {
                  auto& own = here.local<Counts>();
                  if (own.ran[here.source()][t]++ != i) ++own.disordered;
                },
                &done);
          }
          // Some threads wait now and then, others once.
          if (t % 2 == 0 && i % 50 == 0) done.wait();
        }
        done.wait();
        return done.pending() == 0 ? "" : "still pending";
      });
      calls.settle();
      for (std::uint32_t r = 0; r < kRanks; ++r) {
        for (std::uint32_t t = 0; t < kThreads; ++t) {
          check(counts.ran[r][t] == each,
                fmt::format("{} of thread {} of rank {}", counts.ran[r][t], t, r));
        }
      }
      check(counts.disordered == 0, fmt::format("{} in disorder", counts.disordered));
    });
  }
}

TEST_P(CallThreads, ResultsAndErrorsComeToWhoAsked) {
  const std::uint64_t each = testing::kSanitized ? 20 : 50;
  testing::expect_all_right(
      kRanks, GetParam(), testing::small_chunks(), [=](Calls& calls, Checks& check) {
        const std::uint32_t self = calls.rank();
        in_threads(check, [&](std::uint32_t t) -> std::string {
          Synchronizer done(calls);
          for (std::uint64_t i = 0; i < each; ++i) {
            const std::uint32_t to = i % 3 == 0 ? self : 1 - self;
            const std::uint64_t asked = (self * kThreads + t) * each + i;
            const bool throws = i % 7 == 3;
            std::uint64_t result = 0;
            calls.call_return(
                to,
                [asked, throws](CallContext& here) {
                  if (throws) throw std::runtime_error(fmt::format("no {}", asked));
                  return 2 * asked + here.calls().rank();
                },
                &result, done);
            const std::string thrown = testing::thrown_by<hw::CallFailed>([&] { done.wait(); });
            const std::string expected =
                throws ? fmt::format("a call at rank {} has thrown: no {}", to, asked)
                       : "(nothing)";
            if (thrown != expected) return fmt::format("'{}', not '{}'", thrown, expected);
            if (result != (throws ? 0 : 2 * asked + to))
              return fmt::format("{} to {}", result, asked);
          }
          return "";
        });
      });
}

// Memory is allocated, written, read and freed by all threads at once.
TEST_P(CallThreads, MemoryIsReachedByAll) {
  testing::expect_all_right(kRanks, GetParam(), testing::small_chunks(),
                            [=](Calls& calls, Checks& check) {
                              in_threads(check, [&](std::uint32_t t) -> std::string {
                                const std::uint32_t other = 1 - calls.rank();
                                for (std::uint64_t i = 0; i < 10; ++i) {
                                  const hw::RemoteBuffer there = calls.allocate(other, 64);
                                  hw::RegisteredBuffer here = calls.registered(64);
                                  const auto value = static_cast<std::byte>(16 * t + i + 1);
                                  std::ranges::fill(here.bytes(), value);
                                  Synchronizer done(calls);
                                  calls.put(here, there, 0, done);
                                  done.wait();
                                  std::ranges::fill(here.bytes(), std::byte{0});
                                  calls.get(here, there, 0, done);
                                  done.wait();
                                  for (const std::byte byte : here.bytes()) {
                                    if (byte != value) return "another thread's bytes";
                                  }
                                  calls.free(there);
                                }
                                return "";
                              });
                            });
}

// Rank 1 computes: it makes no progress itself.
TEST_P(CallThreads, FunctionsRunInTheBackground) {
  testing::expect_all_right(
      kRanks, GetParam(), testing::small_chunks(), [](Calls& calls, Checks& check) {
        std::atomic<std::uint32_t> told{0};
        calls.set_local(told);
        if (calls.rank() == 1) {
          calls.run_in_background();
          while (told.load() == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
          return;
        }
        Synchronizer done(calls);
        std::uint64_t result = 0;
        for (std::uint64_t i = 0; i < 20; ++i) {
          calls.call_return(
              1, [i] { return i * i; }, &result, done);
          done.wait();
          check(result == i * i, fmt::format("{}² is {}", i, result));
        }
        calls.call(1, [](CallContext& here) { ++here.local<std::atomic<std::uint32_t>>(); });
      });
}

TEST_P(CallThreads, FunctionsAreHeldBack) {
  const std::uint64_t each = testing::kSanitized || is_shm() ? 20 : 1000;
  testing::expect_all_right(
      kRanks, GetParam(), testing::small_chunks(), [=](Calls& calls, Checks& check) {
        std::uint64_t sum = 0;  // of functions and threads, and no atomic
        calls.set_local(sum);
        calls.run_in_background();
        in_threads(check, [&](std::uint32_t) -> std::string {
          Synchronizer done(calls);
          for (std::uint64_t i = 0; i < each; ++i) {
            calls.call(
                1 - calls.rank(), [](CallContext& here) { ++here.local<std::uint64_t>(); }, &done);
            const auto held = calls.hold_functions();
            ++sum;
          }
          try {
            const auto held = calls.hold_functions();
            done.wait();
            return "waited";
          } catch (const InputError&) {
          }
          done.wait();
          return "";
        });
        calls.settle();
        const auto held = calls.hold_functions();
        check(sum == 2 * kThreads * each, fmt::format("{} in all", sum));
      });
}

// What a synchroniser counts is read whoever's turn it is.
TEST_P(CallThreads, WhatHasFailedIsToldWhileFunctionsAreHeldBack) {
  testing::expect_all_right(1, GetParam(), testing::small_chunks(),
                            [](Calls& calls, Checks& check) {
                              Synchronizer done(calls);
                              calls.call(
                                  0, [] { throw std::runtime_error("no key"); }, &done);
                              while (done.pending() != 0) calls.progress();
                              std::uint64_t failed = 0;
                              {
                                const auto held = calls.hold_functions();
                                std::thread([&] { failed = done.failed(); }).join();
                              }
                              check(failed == 1, fmt::format("{} failed", failed));
                              try {
                                done.wait();
                                check(false, "nothing is thrown");
                              } catch (const hw::CallFailed&) {
                              }
                              check(done.failed() == 0, "failed, and was told");
                            });
}

// Whichever thread waits: each is told who is lost.
TEST_P(CallThreads, AllHearWhoIsLost) {
  CallRanks all(kRanks, GetParam(), testing::small_chunks(), [](Calls& calls, const Say& say) {
    Checks check(say);
    if (calls.rank() == 1) {
      std::uint32_t asked = 0;
      calls.set_local(asked);
      while (asked < kThreads) calls.progress();
      raise(SIGKILL);
    }
    in_threads(check, [&](std::uint32_t) -> std::string {
      Synchronizer done(calls);
      try {
        for (;;) {
          calls.call(
              1, [](CallContext& here) { ++here.local<std::uint32_t>(); }, &done);
          done.wait();
        }
      } catch (const hw::PeerLost& lost) {
        return lost.rank() == 1 ? "" : fmt::format("rank {} is lost", lost.rank());
      }
    });
    check.done();
  });
  EXPECT_THAT(all.said(0), ElementsAre("right"));
}

INSTANTIATE_TEST_SUITE_P(Providers, CallThreads,
                         ::testing::Values("shm", "net", "tcp;ofi_rxm", "shm+ordered"),
                         [](const auto& tested) {
                           const std::string name = tested.param;
                           return name == "tcp;ofi_rxm"   ? std::string("rxm")
                                  : name == "shm+ordered" ? std::string("ordered")
                                                          : name;
                         });

// Who asks first has the next turn, although who has it asks again at once.
TEST(TurnLock, HasOneTurnAfterTheOther) {
  hw::TurnLock turns;
  std::vector<std::uint32_t> order;
  std::vector<std::thread> threads;
  turns.lock();
  for (std::uint32_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::lock_guard turn(turns);
      order.push_back(t);
    });
    while (turns.waiting() != t + 1) std::this_thread::yield();
  }
  turns.lock();  // again
  EXPECT_EQ(turns.depth(), 2u);
  turns.unlock();
  EXPECT_TRUE(order.empty());
  turns.pass();
  // All three had asked before.
  EXPECT_EQ(order.size(), 3u);
  turns.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace slackline
