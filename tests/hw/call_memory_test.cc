// Other ranks have as much of a rank's memory as it grants, and no more, whatever they ask for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <span>
#include <stdexcept>

#include "hw/call/service_words.h"
#include "tests/hw/call_ranks.h"
#include "tests/hw/shared_number.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::Calls;
using hw::CallsOptions;
using testing::CallRanks;
using Say = CallRanks::Say;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kMost = 1 << 20;

CallsOptions bounded() {
  CallsOptions options = testing::small_chunks();
  options.most_granted_bytes = kMost;
  options.failure_timeout = std::chrono::milliseconds(100);  // nobody is lost
  return options;
}

// What is freed may be had again. What a rank has of itself does not count.
TEST(CallMemory, IsBounded) {
  CallRanks ranks(2, "net", bounded(), [](Calls& calls, const Say& say) {
    if (calls.rank() == 0) {
      const hw::RemoteBuffer first = calls.allocate(1, kMost / 2);
      try {
        calls.allocate(1, kMost / 2 + 1);
      } catch (const EnvironmentError& error) {
        say(error.what());
      }
      calls.free(first);
      calls.free(calls.allocate(1, kMost / 2 + 1));
      calls.free(calls.allocate(0, 2 * kMost));
      say("done");
    }
    calls.finish();
  });
  EXPECT_THAT(
      ranks.said(0),
      ElementsAre("calls: rank 1 refused: 512 KiB more, and other ranks have 512 KiB of this "
                  "one's memory; expected 1 MiB together, CallsOptions::most_granted_bytes",
                  "done"));
  EXPECT_THAT(ranks.said(1), ElementsAre());
}

TEST(CallMemory, BuffersToBeReadAreBounded) {
  CallRanks ranks(2, "net", bounded(), [](Calls& calls, const Say&) {
    const hw::RegisteredBuffer large = calls.registered(kMost + 1);
    if (calls.rank() == 0)
      calls.call_buffer_read(
          1, [](std::span<std::byte>) {}, large);
    calls.finish();
  });
  EXPECT_THAT(
      ranks.processes().next(1),
      HasSubstr("! 3 calls: what came from rank 0 names a buffer of more bytes than this rank "
                "reads, CallsOptions::most_granted_bytes"));
}

// Whoever frees it: what a call is given, it may use to its end.
TEST(CallMemory, StaysWhileACallUsesIt) {
  constexpr std::uint64_t kBytes = 1 << 20;
  testing::SharedNumber step;
  CallRanks ranks(2, "net", testing::small_chunks(), [&](Calls& calls, const Say& say) {
    if (calls.rank() == 0) {
      hw::RegisteredBuffer from = calls.registered(kBytes);
      std::memset(from.bytes().data(), 7, kBytes);
      const hw::RemoteBuffer there = calls.allocate(1, kBytes);
      hw::Synchronizer done(calls);
      testing::SharedNumber* const shared = &step;
      const auto use = [shared](std::span<std::byte> bytes) {
        shared->set(1);
        shared->await(2);
        for (const std::byte byte : bytes) {
          if (byte != std::byte{7}) throw std::runtime_error("it has gone");
        }
      };
      calls.call_buffer_write(1, use, from, there, 0, &done);
      calls.flush();
      while (step.get() < 1) calls.progress();
      calls.free(there);
      step.set(2);
      done.wait();
      say("used");
    }
    calls.finish();
  });
  EXPECT_THAT(ranks.said(0), ElementsAre("used"));
  EXPECT_THAT(ranks.said(1), ElementsAre());
}

// A request that no rank makes: its sender is named.
TEST(CallMemory, WhatIsNoRequestIsRefused) {
  constexpr std::uint32_t kRequests = 0x49000000u;  // the mesh's topic
  const auto end = [&](const Bytes& request) {
    testing::MeshRanks ranks;
    ranks.start_all(2, [&](const hw::MeshOptions& options, const Say&) {
      hw::Mesh mesh(options);
      Calls calls(mesh, testing::call_transport("net"), bounded());
      if (mesh.rank() == 0) mesh.send(1, kRequests, request);
      for (;;) calls.progress();
    });
    return ranks.next(1);
  };
  using Kind = hw::ServiceRequest::Kind;
  EXPECT_EQ(end(Bytes(3)), "! 3 rank 0 sent what is no request for memory: cut short");
  EXPECT_EQ(end(encode(hw::ServiceRequest{Kind::kAllocate, ~std::uint64_t{0}, 1})),
            "! 3 rank 0 sent what is no request for memory: more bytes than any machine has");
  EXPECT_EQ(end(encode(hw::ServiceRequest{Kind::kChunks, 4096, ~0u})),
            "! 3 rank 0 sent what is no request for memory: a number of chunks that is none");
}

}  // namespace
}  // namespace slackline
