// Windows of calls: what is done when one is full, what aggregation posts, and that memory stays
// within its bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "hw/call.h"
#include "hw/call/record.h"
#include "hw/fabric/transport.h"
#include "tests/hw/call_ranks.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::CallCounters;
using hw::Calls;
using hw::CallsOptions;
using hw::Synchronizer;
using hw::WhenFull;
using testing::CallRanks;
using testing::Checks;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::SharedNumber;

using Say = CallRanks::Say;
using Numbers = std::vector<std::uint64_t>;

Numbers up_to(std::uint64_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

class CallWindow : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }

  // Rank 0 does `first` while rank 1's own thread sleeps, then `then`; all numbers that it called
  // for come to rank 1 once and in order.
  using Part = std::function<void(Calls&, Checks&, std::uint64_t& made)>;
  static void expect_right(const CallsOptions& options, const Part& first, const Part& then = {}) {
    SharedNumber awake;
    CallRanks all(2, GetParam(), options, [&](Calls& calls, const Say& say) {
      Checks check(say);
      Numbers seen;
      calls.set_local(seen);
      std::uint64_t made = 0;
      if (calls.rank() == 0) {
        first(calls, check, made);
        awake.set(1);
        if (then) then(calls, check, made);
      } else {
        awake.await(1);
      }
      calls.settle();
      std::uint64_t told = 0;
      Synchronizer done(calls);
      if (calls.rank() == 1) {
        calls.call_return(
            0, [](CallContext& here) { return here.local<Numbers>().at(0); }, &told, done);
      } else {
        seen = {made};
      }
      done.wait();
      if (calls.rank() == 1) {
        check(told > 0, "nothing was called");
        check(seen == up_to(told), fmt::format("{} came of {}", seen.size(), told));
      }
      calls.finish();
      check.done();
    });
    EXPECT_THAT(all.said(), Each(ElementsAre("right")));
  }
  // A record of 24 + 8 + 40 + 8 bytes.
  static constexpr std::uint64_t kRecord = 80;
  static bool call(Calls& calls, std::uint64_t& made, WhenFull when_full,
                   Synchronizer* sync = nullptr) {
    const std::vector<std::byte> buffer(40, std::byte{7});
    const std::uint64_t number = made;
    const bool taken = calls.call_buffer(
        1,
        [number](CallContext& here, std::span<std::byte>) {
          here.local<Numbers>().push_back(number);
        },
        buffer, sync, when_full);
    made += taken;
    return taken;
  }
};

// While the receiving thread sleeps, its service thread grants all chunks there may be, and not
// one more.
TEST_P(CallWindow, GrowsWithoutTheReceivingThreadAndThenFails) {
  const CallsOptions options = testing::small_chunks();
  expect_right(
      options,
      [&](Calls& calls, Checks& check, std::uint64_t& made) {
        check(call(calls, made, WhenFull::kFail), "the first");
        check(calls.counters(1).chunks == 2, "c = 2 chunks at first");
        while (call(calls, made, WhenFull::kFail)) {
        }
        const CallCounters counters = calls.counters(1);
        check(counters.chunks == 6, "all chunks");
        check(counters.window_bytes == 6 * 4096, "window");
        check(counters.most_outstanding_bytes <= counters.window_bytes, "most outstanding");
        // Each chunk is filled to the last record that leaves room for an end record.
        const std::uint64_t in_chunk = (4096 - hw::kEndBytes) / kRecord;
        check(made == 6 * in_chunk, fmt::format("{} calls fit", made));
        for (int i = 0; i < 100; ++i) {
          check(!call(calls, made, WhenFull::kFail), "taken beyond the window");
          calls.progress();
        }
        check(calls.counters(1).queued_bytes == 0, "queued");
      },
      [&](Calls& calls, Checks& check, std::uint64_t& made) {
        // There is room again, by and by.
        const std::uint64_t more = made + 2000;
        while (made < more) {
          if (!call(calls, made, WhenFull::kFail)) calls.progress();
        }
        const CallCounters counters = calls.counters(1);
        check(counters.chunks == 6, "no more chunks");
        check(counters.most_outstanding_bytes <= counters.window_bytes, "most outstanding");
      });
}

TEST_P(CallWindow, RetryWaitsForRoom) {
  SharedNumber awake;
  CallRanks all(2, GetParam(), testing::small_chunks(), [&](Calls& calls, const Say& say) {
    Checks check(say);
    Numbers seen;
    calls.set_local(seen);
    std::uint64_t made = 0;
    if (calls.rank() == 0) {
      while (call(calls, made, WhenFull::kFail)) {
      }
      awake.set(1);
      // Far more than the window: it can only end because rank 1 takes part.
      while (made < 5000) check(call(calls, made, WhenFull::kRetry), "retry fails");
      const CallCounters counters = calls.counters(1);
      check(counters.most_outstanding_bytes <= counters.window_bytes, "most outstanding");
      check(counters.in_flight <= 256 && counters.registered_bytes <= 257u * 4096, "registered");
    } else {
      awake.await(1);
    }
    calls.finish();
    check(calls.rank() == 0 || seen == up_to(5000), "order");
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

TEST_P(CallWindow, BackgroundQueuesInOrderUpToItsBound) {
  CallsOptions options = testing::small_chunks();
  options.queue_bytes = 100 * kRecord;
  expect_right(
      options,
      [&](Calls& calls, Checks& check, std::uint64_t& made) {
        while (call(calls, made, WhenFull::kFail)) {
        }
        for (int i = 0; i < 100; ++i) {
          check(call(calls, made, WhenFull::kRetryInBackground), "not queued");
        }
        check(calls.counters(1).queued_bytes == options.queue_bytes, "queued bytes");
        check(!call(calls, made, WhenFull::kRetryInBackground), "queued beyond its bound");
        check(!call(calls, made, WhenFull::kFail), "overtakes what is queued");
      },
      [&](Calls& calls, Checks& check, std::uint64_t& made) {
        // A call that waits goes behind what is queued.
        check(call(calls, made, WhenFull::kRetry), "retry");
        check(calls.counters(1).queued_bytes == 0, "queue");
      });
}

TEST_P(CallWindow, TradPostsAtItsSizeOrWhenFlushed) {
  CallsOptions options = testing::small_chunks();
  options.aggregate = hw::Aggregate::kTrad;
  options.bundle_bytes = 10 * kRecord;
  expect_right(options, [&](Calls& calls, Checks& check, std::uint64_t& made) {
    Synchronizer sent(calls, hw::CountWhen::kTransmitted);
    for (int i = 0; i < 9; ++i) call(calls, made, WhenFull::kFail, &sent);
    check(calls.counters(1).writes == 0, "posted too early");
    for (int i = 0; i < 10; ++i) calls.progress();
    check(calls.counters(1).writes == 0 && sent.pending() == 9, "progress posts");
    call(calls, made, WhenFull::kFail, &sent);
    check(calls.counters(1).writes == 1, "ten are a bundle");
    call(calls, made, WhenFull::kFail, &sent);
    calls.flush();
    check(calls.counters(1).writes == 2, "flush");
    calls.flush();
    check(calls.counters(1).writes == 2, "flush of nothing");
    call(calls, made, WhenFull::kFail, &sent);
    sent.wait();  // flushes
    check(calls.counters(1).writes == 3, "wait");
  });
}

// A rank that serves others and never waits itself: what it replies is gathered, and leaves.
TEST_P(CallWindow, RepliesLeaveWithProgressAlone) {
  CallsOptions options = testing::small_chunks();
  options.aggregate = hw::Aggregate::kTrad;
  options.bundle_bytes = 10 * kRecord;
  CallRanks all(2, GetParam(), options, [&](Calls& calls, const Say& say) {
    Checks check(say);
    bool done = false;
    calls.set_local(done);
    if (calls.rank() == 0) {
      for (std::uint64_t i = 0; i < 3; ++i) {
        std::uint64_t told = 0;
        Synchronizer there(calls);
        calls.call_return(
            1, [i](CallContext&) { return 10 + i; }, &told, there);
        there.wait();
        check(told == 10 + i, "the reply");
      }
      calls.call(1, [](CallContext& here) { here.local<bool>() = true; });
    } else {
      while (!done) calls.progress();
    }
    calls.finish();
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

TEST_P(CallWindow, OvflGathersOnlyWhileTheWindowIsFull) {
  CallsOptions options = testing::small_chunks();
  options.aggregate = hw::Aggregate::kOvfl;
  options.bundle_bytes = 20 * kRecord;
  options.queue_bytes = 400 * kRecord;
  std::uint64_t in_window = 0;
  expect_right(
      options,
      [&](Calls& calls, Checks& check, std::uint64_t& made) {
        while (calls.counters(1).queued_bytes == 0) {
          check(call(calls, made, WhenFull::kFail), "not taken");
        }
        in_window = made - 1;
        const std::uint64_t ends = calls.counters(1).chunks - 1;
        check(calls.counters(1).writes == in_window + ends, "a write each, and end records");
        while (call(calls, made, WhenFull::kFail)) {
        }
        check(calls.counters(1).queued_bytes == options.queue_bytes, "bound");
        check(calls.counters(1).writes == in_window + ends, "posted without room");
      },
      [&](Calls& calls, Checks& check, std::uint64_t&) {
        const std::uint64_t before = calls.counters(1).writes;
        while (calls.counters(1).queued_bytes != 0) calls.progress();
        const std::uint64_t bundles = calls.counters(1).writes - before;
        // 400 calls, 50 to a chunk: cut at chunks' ends, and wherever room came bit by bit.
        check(bundles < 100, fmt::format("{} writes for 400 calls", bundles));
      });
}

// Nobody can wait for a window whose owner waits for one.
TEST_P(CallWindow, FloodsInAllDirections) {
  CallsOptions options = testing::small_chunks();
  options.chunk_bytes = 1024;
  options.record_bytes = 1024;
  options.chunk_limit = 2;
  CallRanks all(3, GetParam(), options, [&](Calls& calls, const Say& say) {
    Checks check(say);
    std::uint64_t seen = 0;
    calls.set_local(seen);
    Synchronizer done(calls);
    for (int i = 0; i < 600; ++i) {
      for (std::uint32_t to = 0; to < 3; ++to) {
        // Each call makes two more, in the function.
        calls.call(
            to,
            [](CallContext& here) {
              ++here.local<std::uint64_t>();
              for (std::uint32_t next = 0; next < 2; ++next) {
                if (!here.calls().call(
                        next, [](CallContext& there) { ++there.local<std::uint64_t>(); })) {
                  throw std::runtime_error("not taken");
                }
              }
            },
            &done);
      }
    }
    done.wait();
    calls.settle();
    const std::uint64_t direct = 3 * 600;
    const std::uint64_t further = calls.rank() < 2 ? 3 * 3 * 600 : 0;
    check(seen == direct + further, fmt::format("{} ran", seen));
    calls.finish();
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

INSTANTIATE_TEST_SUITE_P(OnEach, CallWindow, ::testing::Values("shm", "net", "net+ordered"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name == "net+ordered" ? "ordered" : name;
                         });

}  // namespace
}  // namespace slackline
