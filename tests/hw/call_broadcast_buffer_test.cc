// One rank's buffer to all: pushed down the tree by writes, and pulled down it by reads. Every byte
// is looked at, at every rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hw/fabric/transport.h"
#include "tests/hw/call_ranks.h"
#include "tests/hw/seeded_bytes.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::Calls;
using hw::CallsOptions;
using hw::RegisteredBuffer;
using hw::RemoteBuffer;
using hw::Synchronizer;
using testing::CallRanks;
using testing::Checks;
using testing::fill_seeded;
using testing::is_seeded;
using Say = CallRanks::Say;

// What came, in order: its seed, or ~0 for other bytes than that has.
struct Arrivals {
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint32_t> sources;
};

// What runs at every rank.
auto arrival(std::uint64_t seed, std::uint64_t bytes) {
  return [seed, bytes](CallContext& here, std::span<std::byte> got) {
    const bool right = got.size() == bytes && is_seeded(got, seed);
    here.local<Arrivals>().seeds.push_back(right ? seed : ~std::uint64_t{0});
    here.local<Arrivals>().sources.push_back(here.source());
  };
}

std::vector<RemoteBuffer> memory_of_all(Calls& calls, std::uint64_t bytes) {
  std::vector<RemoteBuffer> all;
  for (std::uint32_t r = 0; r < calls.ranks(); ++r) {
    // Of both kinds.
    all.push_back(r % 2 == 0 ? calls.allocate(r, bytes) : calls.allocate_chunk(r, bytes).buffer);
  }
  return all;
}

constexpr std::uint64_t kMessage = 70'001;

using Broadcast = std::function<void(std::uint64_t seed, RegisteredBuffer&, Synchronizer&)>;

// Five, one after the other, from a buffer that may be used again when one is done.
void five_from(std::uint32_t root, Calls& calls, Checks& check, const Broadcast& broadcast) {
  Arrivals arrivals;
  calls.set_local(arrivals);
  calls.settle();
  if (calls.rank() == root) {
    RegisteredBuffer buffer = calls.registered(kMessage);
    Synchronizer done(calls);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      fill_seeded(buffer.bytes(), seed);
      broadcast(seed, buffer, done);
      check(done.pending() == calls.ranks(), "pending");
      done.wait();
      fill_seeded(buffer.bytes(), 1000);
    }
  }
  calls.settle();
  check(arrivals.seeds == std::vector<std::uint64_t>({0, 1, 2, 3, 4}), "what came");
  check(arrivals.sources == std::vector<std::uint32_t>(5, root), "from whom");
}

class CallBroadcastBuffer : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }

  static void expect_right(std::uint32_t ranks, const CallsOptions& options,
                           const std::function<void(Calls&, Checks&)>& body) {
    testing::expect_all_right(ranks, GetParam(), options, body);
  }
};

TEST_P(CallBroadcastBuffer, IsWrittenDownTheTree) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 6u}) {
    expect_right(ranks, testing::small_chunks(), [](Calls& calls, Checks& check) {
      std::vector<RemoteBuffer> targets;
      if (calls.rank() == calls.ranks() - 1) targets = memory_of_all(calls, kMessage + 100);
      five_from(calls.ranks() - 1, calls, check,
                [&](std::uint64_t seed, RegisteredBuffer& buffer, Synchronizer& done) {
                  calls.broadcast_buffer_write(arrival(seed, kMessage), buffer, targets, 10 * seed,
                                               done);
                });
      for (const RemoteBuffer& target : targets) calls.free(target);
      calls.settle();
    });
  }
}

TEST_P(CallBroadcastBuffer, IsReadDownTheTree) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 6u}) {
    expect_right(ranks, testing::small_chunks(), [](Calls& calls, Checks& check) {
      five_from(calls.ranks() / 2, calls, check,
                [&](std::uint64_t seed, RegisteredBuffer& buffer, Synchronizer& done) {
                  calls.broadcast_buffer_read(arrival(seed, kMessage), buffer, done);
                });
    });
  }
}

// Several of each at a time, from every rank, between calls, with small windows.
TEST_P(CallBroadcastBuffer, FromAllRanksAtOnce) {
  expect_right(4, testing::small_chunks(), [](Calls& calls, Checks& check) {
    constexpr std::uint64_t kBytes = 9'000;
    constexpr std::uint64_t kEach = 6;
    Arrivals arrivals;
    calls.set_local(arrivals);
    calls.settle();
    std::vector<std::vector<RemoteBuffer>> targets;
    std::vector<RegisteredBuffer> buffers;
    Synchronizer done(calls);
    for (std::uint64_t i = 0; i < kEach; ++i) {
      buffers.push_back(calls.registered(kBytes));
      targets.push_back(memory_of_all(calls, kBytes));
    }
    for (std::uint64_t i = 0; i < kEach; ++i) {
      const std::uint64_t seed = 100 * calls.rank() + i;
      fill_seeded(buffers[i].bytes(), seed);
      if (i % 2 == 0) {
        calls.broadcast_buffer_write(arrival(seed, kBytes), buffers[i], targets[i], 0, done);
      } else {
        calls.broadcast_buffer_read(arrival(seed, kBytes), buffers[i], done);
      }
      for (std::uint32_t to = 0; to < calls.ranks(); ++to)
        calls.call(
            to, [] {}, &done);
    }
    done.wait();
    calls.settle();
    std::ranges::sort(arrivals.seeds);
    std::vector<std::uint64_t> expected;
    for (std::uint64_t r = 0; r < calls.ranks(); ++r) {
      for (std::uint64_t i = 0; i < kEach; ++i) expected.push_back(100 * r + i);
    }
    check(arrivals.seeds == expected, "what came");
  });
}

// A rank keeps what it read for others only until they have read it.
TEST_P(CallBroadcastBuffer, WhatIsLentComesBack) {
  CallsOptions options = testing::small_chunks();
  options.most_granted_bytes = 1 << 20;
  expect_right(4, options, [](Calls& calls, Checks& check) {
    // 4 of them at a time are all that a rank may read into.
    constexpr std::uint64_t kBytes = 256 << 10;
    Arrivals arrivals;
    calls.set_local(arrivals);
    calls.settle();
    if (calls.rank() == 0) {
      std::vector<RegisteredBuffer> buffers;
      Synchronizer done(calls);
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        buffers.push_back(calls.registered(kBytes));
        fill_seeded(buffers.back().bytes(), seed);
        calls.broadcast_buffer_read(arrival(seed, kBytes), buffers.back(), done);
      }
      done.wait();
    }
    calls.settle();
    std::vector<std::uint64_t> expected;
    for (std::uint64_t seed = 0; seed < 12; ++seed) expected.push_back(seed);
    check(arrivals.seeds == expected, "what came, in order");
  });
}

TEST_P(CallBroadcastBuffer, WhatThrowsComesToTheRoot) {
  expect_right(3, testing::small_chunks(), [](Calls& calls, Checks& check) {
    if (calls.rank() == 1) {
      const std::vector<RemoteBuffer> targets = memory_of_all(calls, 100);
      RegisteredBuffer buffer = calls.registered(100);
      const auto throws = [](CallContext& here, std::span<std::byte>) {
        if (here.calls().rank() == 2) throw std::runtime_error("not here");
      };
      for (const bool written : {true, false}) {
        Synchronizer done(calls);
        if (written) {
          calls.broadcast_buffer_write(throws, buffer, targets, 0, done);
        } else {
          calls.broadcast_buffer_read(throws, buffer, done);
        }
        std::string text = "(nothing)";
        try {
          done.wait();
        } catch (const hw::CallFailed& failed) {
          text = failed.what();
        }
        check(text == "a call at rank 2 has thrown: not here", text);
      }
    }
  });
}

// Freed too early: nobody waits for ever, and who has the memory gets the bytes.
TEST_P(CallBroadcastBuffer, MemoryThatIsGoneGivesNothing) {
  expect_right(4, testing::small_chunks(), [](Calls& calls, Checks& check) {
    Arrivals arrivals;
    calls.set_local(arrivals);
    calls.settle();
    if (calls.rank() == 0) {
      // Rank 2 passes on to rank 3.
      const std::vector<RemoteBuffer> targets = memory_of_all(calls, 100);
      RegisteredBuffer buffer = calls.registered(100);
      fill_seeded(buffer.bytes(), 5);
      // What stands in the record is as if it had been freed meanwhile.
      std::vector<RemoteBuffer> stale = targets;
      stale[2].id = 77;
      Synchronizer done(calls);
      calls.broadcast_buffer_write(arrival(5, 100), buffer, stale, 0, done);
      done.wait();
    }
    calls.settle();
    const bool behind = calls.rank() >= 2;
    check(arrivals.seeds == std::vector<std::uint64_t>(1, behind ? ~std::uint64_t{0} : 5), "bytes");
  });
}

TEST_P(CallBroadcastBuffer, WrongUseIsRefused) {
  expect_right(2, testing::small_chunks(), [](Calls& calls, Checks& check) {
    if (calls.rank() == 1) return;
    const auto refused = [&](auto&& use, const std::string& expected) {
      std::string text = "(nothing)";
      try {
        use();
      } catch (const InputError& error) {
        text = error.what();
      }
      check(text.find(expected) != std::string::npos, text + "; expected: " + expected);
    };
    std::vector<RemoteBuffer> targets = memory_of_all(calls, 100);
    RegisteredBuffer buffer = calls.registered(100);
    const RegisteredBuffer nothing;
    Synchronizer done(calls);
    Synchronizer transmitted(calls, hw::CountWhen::kTransmitted);
    const auto f = [](std::span<std::byte>) {};
    refused([&] { calls.broadcast_buffer_write(f, buffer, targets, 1, done); }, "100 bytes at 1");
    refused([&] { calls.broadcast_buffer_write(f, buffer, targets, 0, transmitted); },
            "broadcast_buffer_write: the synchroniser counts transmission");
    refused([&] { calls.broadcast_buffer_read(f, buffer, transmitted); },
            "broadcast_buffer_read: the synchroniser counts transmission");
    refused([&] { calls.broadcast_buffer_write(f, nothing, targets, 0, done); },
            "registered memory of 0 bytes");
    refused([&] { calls.broadcast_buffer_read(f, nothing, done); }, "registered memory of 0 bytes");
    refused([&] { calls.broadcast_buffer_write(f, buffer, {}, 0, done); }, "memory of 0 ranks");
    std::swap(targets[0], targets[1]);
    refused([&] { calls.broadcast_buffer_write(f, buffer, targets, 0, done); },
            "memory of rank 1; expected rank 0's");
    check(done.pending() == 0, "nothing was begun");
  });
}

INSTANTIATE_TEST_SUITE_P(OnEach, CallBroadcastBuffer,
                         ::testing::Values("shm", "net", "net+ordered"), [](const auto& test) {
                           const std::string name = test.param;
                           return name == "net+ordered" ? std::string("ordered") : name;
                         });

}  // namespace
}  // namespace slackline
