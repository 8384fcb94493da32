// Each call runs exactly once and in its channel's order, whatever the traffic; and the check that
// says so notices a call that runs twice, and one that is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/mix.h"
#include "hw/call.h"
#include "hw/fabric/transport.h"
#include "tests/hw/call_ranks.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::CallFault;
using hw::Calls;
using hw::CallsOptions;
using hw::Synchronizer;
using hw::WhenFull;
using testing::CallRanks;
using testing::Checks;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Say = CallRanks::Say;

std::uint64_t hash_of(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return sched::finalized(sched::finalized(sched::finalized(seed + a) + b) + c);
}

// What ran at a rank: of each source, which number comes next.
struct Log {
  std::vector<std::uint64_t> next;
  std::uint64_t broken = 0;  // calls out of order, doubled, or with other bytes
  std::vector<std::uint64_t> broadcasts;
  std::vector<std::vector<std::uint64_t>> totals;  // of each source: calls to here, broadcasts

  void see(std::uint32_t source, std::uint64_t number, bool right) {
    if (number != next[source] || !right) ++broken;
    next[source] = number + 1;
  }
};

class Traffic {
 public:
  Traffic(Calls& calls, Log& log, std::uint64_t seed)
      : calls_(calls), log_(log), seed_(seed), made_(calls.ranks(), 0) {
    log_.next.assign(calls.ranks(), 0);
    log_.broadcasts.assign(calls.ranks(), 0);
    log_.totals.assign(calls.ranks(), {});
    calls.set_local(log_);
  }

  void run(std::uint64_t steps) {
    Synchronizer consumed(calls_);
    Synchronizer transmitted(calls_, hw::CountWhen::kTransmitted);
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::uint64_t draw = hash_of(seed_, calls_.rank(), i, 0);
      if (draw % 50 == 0) {
        calls_.broadcast([](CallContext& here) { ++here.local<Log>().broadcasts[here.source()]; });
        ++broadcasts_;
        continue;
      }
      Synchronizer* const syncs[] = {nullptr, nullptr, &consumed, &transmitted};
      make_one(draw, syncs[draw >> 8 & 3]);
      if ((draw >> 20 & 15) == 0) calls_.flush();
      if ((draw >> 24 & 7) == 0) calls_.progress();
      if ((draw >> 28 & 127) == 0) consumed.wait();
    }
    consumed.wait();
    transmitted.wait();
  }

  // Everybody tells how many calls it made; what ran must be these.
  void compare(Checks& check) {
    calls_.settle();
    for (std::uint32_t to = 0; to < calls_.ranks(); ++to) {
      const std::uint64_t made = made_[to];
      const std::uint64_t broadcasts = broadcasts_;
      calls_.call(to, [made, broadcasts](CallContext& here) {
        here.local<Log>().totals[here.source()] = {made, broadcasts};
      });
    }
    calls_.settle();
    check(log_.broken == 0, fmt::format("{} calls out of order or doubled", log_.broken));
    for (std::uint32_t from = 0; from < calls_.ranks(); ++from) {
      check(log_.totals[from].size() == 2, "a total is missing");
      if (log_.totals[from].size() != 2) continue;
      check(log_.next[from] == log_.totals[from][0],
            fmt::format("{} of {} calls ran", log_.next[from], log_.totals[from][0]));
      check(log_.broadcasts[from] == log_.totals[from][1], "broadcasts");
    }
  }

 private:
  void make_one(std::uint64_t draw, Synchronizer* sync) {
    const auto to = static_cast<std::uint32_t>((draw >> 32) % calls_.ranks());
    const std::uint64_t number = made_[to];
    const std::uint64_t seed = seed_;
    // Most are short.
    const std::size_t bytes = (draw >> 36 & 7) == 0 ? (draw >> 40) % 900 : (draw >> 40) % 40;
    std::vector<std::byte> buffer(bytes);
    for (std::size_t i = 0; i < bytes; ++i) buffer[i] = byte_of(seed, to, number, i);
    constexpr WhenFull kChoices[] = {WhenFull::kRetry, WhenFull::kRetryInBackground,
                                     WhenFull::kFail};
    const bool taken = calls_.call_buffer(
        to,
        [number, seed, bytes](CallContext& here, std::span<std::byte> got) {
          bool right = got.size() == bytes;
          for (std::size_t i = 0; right && i < bytes; ++i) {
            right = got[i] == byte_of(seed, here.calls().rank(), number, i);
          }
          here.local<Log>().see(here.source(), number, right);
        },
        buffer, sync, kChoices[(draw >> 52) % 3]);
    made_[to] += taken;
  }
  static std::byte byte_of(std::uint64_t seed, std::uint32_t to, std::uint64_t number,
                           std::size_t i) {
    return static_cast<std::byte>(hash_of(seed, to, number, i));
  }

  Calls& calls_;
  Log& log_;
  const std::uint64_t seed_;
  std::vector<std::uint64_t> made_;  // by destination
  std::uint64_t broadcasts_ = 0;
};

std::vector<std::vector<std::string>> with_traffic(std::uint32_t ranks, const char* provider,
                                                   const CallsOptions& options, std::uint64_t seed,
                                                   std::uint64_t steps) {
  CallRanks all(ranks, provider, options, [=](Calls& calls, const Say& say) {
    Checks check(say);
    Log log;
    Traffic traffic(calls, log, seed);
    traffic.run(steps);
    traffic.compare(check);
    calls.finish();
    check.done();
  });
  return all.said();
}

class CallOrder : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }
};

TEST_P(CallOrder, RandomTraffic) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CallsOptions options = testing::small_chunks();
    options.chunk_bytes = options.record_bytes = seed % 2 == 0 ? 1024 : 4096;
    options.chunks_per_request = static_cast<std::uint32_t>(1 + seed % 3);
    options.chunk_limit = static_cast<std::uint32_t>(2 + seed % 4);
    options.bundle_bytes = 64 << (seed % 5);
    options.aggregate = static_cast<hw::Aggregate>(seed % 3);
    options.u_max = seed == 0 ? 1 : 5 * seed;
    EXPECT_THAT(
        with_traffic(static_cast<std::uint32_t>(2 + seed % 4), GetParam(), options, seed, 1000),
        Each(ElementsAre("right")))
        << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEach, CallOrder,
                         ::testing::Values("shm", "net", "tcp;ofi_rxm", "net+ordered"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name == "net+ordered"   ? "ordered"
                                  : name == "tcp;ofi_rxm" ? "rxm"
                                                          : name;
                         });

// Seeded bugs: at every rank one call runs twice, or not at all.
TEST(CallOrderCheck, NoticesACallThatRunsTwice) {
  for (const std::uint64_t at : {1u, 200u}) {
    CallsOptions options = testing::small_chunks();
    options.fault = {CallFault::Kind::kRunTwice, at};
    CallRanks all(2, "shm", options, [=](Calls& calls, const Say& say) {
      Checks check(say);
      Log log;
      Traffic traffic(calls, log, at);
      // Its calls want no replies, of which there would be two.
      for (int i = 0; i < 300; ++i) {
        const std::uint64_t number = static_cast<std::uint64_t>(i);
        calls.call(1 - calls.rank(), [number](CallContext& here) {
          here.local<Log>().see(here.source(), number, true);
        });
      }
      calls.settle();
      check(log.broken == 0, "out of order or doubled");
      calls.finish();
      check.done();
    });
    EXPECT_THAT(all.said(), Each(Contains(HasSubstr("doubled"))));
  }
}

TEST(CallOrderCheck, NoticesACallThatIsLost) {
  for (const std::uint64_t at : {1u, 200u, 300u}) {
    CallsOptions options = testing::small_chunks();
    options.fault = {CallFault::Kind::kDrop, at};
    CallRanks all(2, "shm", options, [=](Calls& calls, const Say& say) {
      Checks check(say);
      Log log;
      Traffic traffic(calls, log, at);
      for (std::uint64_t number = 0; number < 300; ++number) {
        calls.call(1 - calls.rank(), [number](CallContext& here) {
          here.local<Log>().see(here.source(), number, true);
        });
      }
      calls.settle();
      check(log.broken == 0 && log.next[1 - calls.rank()] == 300, "lost");
      calls.finish();
      check.done();
    });
    EXPECT_THAT(all.said(), Each(Contains(HasSubstr("lost"))));
  }
}

// A reply that comes twice is no use to the caller, and is told.
TEST(CallOrderCheck, ASecondReplyIsRefused) {
  CallsOptions options = testing::small_chunks();
  options.fault = {CallFault::Kind::kRunTwice, 3};
  CallRanks all(2, "shm", options, [=](Calls& calls, const Say& say) {
    Synchronizer done(calls);
    if (calls.rank() == 0) {
      for (int i = 0; i < 5; ++i)
        calls.call(
            1, [] {}, &done);
    }
    done.wait();
    calls.finish();
    say("nothing noticed");
  });
  EXPECT_THAT(
      all.said(0),
      Contains(HasSubstr("! 3 calls: what came from rank 1 names what no call has: an answer")));
}

}  // namespace
}  // namespace slackline
