// Remote calls over verbs: every primitive, with and without aggregation, where completions come in
// order and most writes complete silently; and what goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hw/call.h"
#include "hw/verbs/transport.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::Calls;
using hw::CallsOptions;
using hw::RegisteredBuffer;
using hw::RemoteBuffer;
using hw::Synchronizer;
using testing::MeshRanks;

constexpr std::uint32_t kRanks = 3;
constexpr std::size_t kBuffer = 10'000;  // bytes, more than a chunk

// What a rank finds that came to it.
struct Seen {
  std::vector<std::uint64_t> next = std::vector<std::uint64_t>(kRanks);  // by caller
  std::uint64_t ran = 0;
  std::uint64_t disordered = 0;
  std::uint64_t broadcasts = 0;
  std::uint64_t buffers = 0;  // that were right
};

std::byte byte_of(std::uint32_t rank, std::size_t i) {
  return static_cast<std::byte>(1 + (17 * rank + 3 * i) % 251);
}

bool is_of(std::uint32_t rank, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != byte_of(rank, i)) return false;
  }
  return true;
}

// Small chunks, of which a rank fills many.
CallsOptions small(hw::Aggregate aggregate) {
  CallsOptions options;
  options.chunk_bytes = 4096;
  options.record_bytes = 4096;
  options.chunk_limit = 4;
  options.aggregate = aggregate;
  options.bundle_bytes = 600;
  options.u_max = 8;
  return options;
}

// Runs `body` at every rank, which answers what is wrong, and expects nothing to be.
void expect_right(const CallsOptions& options,
                  const std::function<std::string(Calls&, Seen&)>& body) {
  MeshRanks processes;
  processes.start_all(kRanks, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    Calls calls(mesh, hw::make_verbs_transport({}), options);
    Seen seen;
    calls.set_local(seen);
    const std::string wrong = body(calls, seen);
    calls.finish();
    say(wrong);
  });
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(processes.next(r), "") << r;
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(processes.next(r), "(end)") << r;
}

class CallsOnVerbs : public ::testing::TestWithParam<hw::Aggregate> {};

TEST_P(CallsOnVerbs, RunOnceAndInOrderAndReturn) {
  expect_right(small(GetParam()), [](Calls& calls, Seen& seen) -> std::string {
    constexpr std::uint64_t kCalls = 300;  // to each: several windows
    Synchronizer done(calls);
    for (std::uint64_t i = 0; i < kCalls; ++i) {
      for (std::uint32_t to = 0; to < kRanks; ++to) {
        calls.call(
            to,
            [i](CallContext& here) {
              Seen& at = here.local<Seen>();
              if (at.next[here.source()]++ != i) ++at.disordered;
              ++at.ran;
            },
            i % 7 == 0 ? &done : nullptr);
      }
    }
    done.wait();
    std::vector<std::uint64_t> answers(60);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      calls.call_return(
          static_cast<std::uint32_t>(i % kRanks),
          [i](CallContext& here) -> std::uint64_t { return 1000 * here.calls().rank() + i; },
          &answers[i], done);
    }
    done.wait();
    calls.settle();
    if (seen.ran != kCalls * kRanks || seen.disordered != 0) return "calls lost, doubled, or late";
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] != 1000 * (i % kRanks) + i) return "a result is wrong";
    }
    return "";
  });
}

TEST_P(CallsOnVerbs, BringBuffersAndReachAll) {
  expect_right(small(GetParam()), [](Calls& calls, Seen& seen) -> std::string {
    const std::uint32_t self = calls.rank();
    const auto look = [](CallContext& here, std::span<std::byte> bytes) {
      if (is_of(here.source(), bytes)) ++here.local<Seen>().buffers;
    };
    RegisteredBuffer mine = calls.registered(kBuffer);
    for (std::size_t i = 0; i < kBuffer; ++i) mine.bytes()[i] = byte_of(self, i);
    Synchronizer done(calls);
    for (std::uint32_t to = 0; to < kRanks; ++to) {
      const RemoteBuffer target = calls.allocate(to, 2 * kBuffer);
      calls.call_buffer(to, look, mine.bytes().first(1000), &done);
      calls.call_buffer_write(to, look, mine, target, 64, &done);
      calls.call_buffer_read(to, look, mine, &done);
      done.wait();
      calls.free(target);
    }
    calls.broadcast([](CallContext& here) { ++here.local<Seen>().broadcasts; }, &done);
    calls.broadcast_buffer(look, mine.bytes().first(500), &done);
    done.wait();
    calls.settle();
    if (seen.buffers != 4 * kRanks) return "buffers: " + std::to_string(seen.buffers);
    if (seen.broadcasts != kRanks) return "broadcasts: " + std::to_string(seen.broadcasts);
    return "";
  });
}

std::string name_of(const ::testing::TestParamInfo<hw::Aggregate>& entry) {
  if (entry.param == hw::Aggregate::kNone) return "plain";
  return entry.param == hw::Aggregate::kTrad ? "trad" : "ovfl";
}

INSTANTIATE_TEST_SUITE_P(All, CallsOnVerbs,
                         ::testing::Values(hw::Aggregate::kNone, hw::Aggregate::kTrad,
                                           hw::Aggregate::kOvfl),
                         name_of);

// One rank has a word that all add to, and a lock that all take by swapping.
TEST(CallsMemory, OneSidedOperationsAreTheNics) {
  expect_right(small(hw::Aggregate::kNone), [](Calls& calls, Seen&) -> std::string {
    constexpr std::uint64_t kAdds = 40;
    static RemoteBuffer words;  // rank 0 tells the others
    if (calls.rank() == 0) {
      const RemoteBuffer made = calls.allocate(0, 64);
      Synchronizer told(calls);
      calls.broadcast([made] { words = made; }, &told);
      told.wait();
    }
    calls.settle();
    RegisteredBuffer old = calls.registered(64);
    std::uint64_t before = 0;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < kAdds; ++i) {
      Synchronizer done(calls);
      calls.fetch_add(words, 0, 1, old, done);
      done.wait();
      std::memcpy(&before, old.bytes().data(), 8);
      if (i > 0 && before <= last) return "the word went back";
      last = before;
    }
    for (std::uint64_t found = 0, taken = 0; taken == 0;) {  // from what is there to one more
      Synchronizer done(calls);
      calls.compare_swap(words, 8, found, found + 1, old, done);
      done.wait();
      std::memcpy(&before, old.bytes().data(), 8);
      taken = before == found ? 1 : 0;
      found = before;
    }
    calls.settle();
    RegisteredBuffer here = calls.registered(64);
    Synchronizer read(calls);
    calls.get(here, words, 0, read);
    read.wait();
    std::uint64_t sums[2];
    std::memcpy(sums, here.bytes().data(), sizeof sums);
    return sums[0] == kAdds * kRanks && sums[1] == kRanks ? "" : "sums are wrong";
  });
}

TEST(CallsFailing, WhatIsThrownComesBack) {
  expect_right(small(hw::Aggregate::kTrad), [](Calls& calls, Seen&) -> std::string {
    Synchronizer done(calls);
    calls.call((calls.rank() + 1) % kRanks, [] { throw std::runtime_error("no such key"); }, &done);
    try {
      done.wait();
    } catch (const hw::CallFailed& failed) {
      const bool right = failed.rank() == (calls.rank() + 1) % kRanks;
      return right && std::string(failed.what()).find("no such key") != std::string::npos
                 ? ""
                 : failed.what();
    }
    return "nothing was thrown";
  });
}

TEST(CallsFailing, ARankThatIsKilledIsNamedByAllOthers) {
  MeshRanks processes;
  processes.start_all(kRanks, [](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    Calls calls(mesh, hw::make_verbs_transport({}), small(hw::Aggregate::kNone));
    calls.settle();
    say("ready");
    Synchronizer done(calls);
    while (true) {
      for (std::uint32_t to = 0; to < kRanks; ++to)
        calls.call(
            to, [] {}, &done);
      done.wait();
    }
  });
  for (std::uint32_t r = 0; r < kRanks; ++r) ASSERT_EQ(processes.next(r), "ready") << r;
  processes.signal(1, SIGKILL);
  for (const std::size_t r : {0, 2}) {
    EXPECT_THAT(processes.next(r), ::testing::StartsWith("! 1 rank 1 is lost")) << r;
  }
}

}  // namespace
}  // namespace slackline
