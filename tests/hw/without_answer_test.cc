// What fails leaves nobody waiting: synchronisers of calls that were not made, or do not come to a
// rank, end with the error, and a function that has run never runs again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "hw/call.h"
#include "hw/fabric/transport.h"
#include "hw/passing_transport.h"
#include "hw/run.h"
#include "tests/hw/call_ranks.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::CallFailed;
using hw::Calls;
using hw::CallsOptions;
using hw::CountWhen;
using hw::Synchronizer;
using testing::Checks;
using testing::MeshRanks;
using testing::thrown_by;

using Say = MeshRanks::Say;

// Those of a rank that grants others nothing.
CallsOptions with_nothing_to_grant() {
  CallsOptions options = testing::small_chunks();
  options.most_granted_bytes = 100;
  return options;
}

class CallPending : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }

  // Ranks whose options are options_of(rank).
  template <class Body>
  static void run(MeshRanks& ranks, std::uint32_t count,
                  const std::function<CallsOptions(std::uint32_t)>& options_of, const Body& body) {
    ranks.start_all(count, [=](const hw::MeshOptions& mesh_options, const Say& say) {
      hw::Mesh mesh(mesh_options);
      Calls calls(mesh, testing::call_transport("shm"), options_of(mesh.rank()));
      Checks check(say);
      body(calls, check);
      calls.finish();
      check.done();
    });
    for (std::uint32_t r = 0; r < count; ++r) {
      EXPECT_EQ(ranks.next(r), "right") << r;
      EXPECT_EQ(ranks.next(r), "(end)") << r;
    }
  }
};

TEST_F(CallPending, ACallThatIsRefusedCountsNowhere) {
  MeshRanks ranks;
  run(
      ranks, 2, [](std::uint32_t) { return with_nothing_to_grant(); },
      [](Calls& calls, Checks& check) {
        const std::uint32_t other = 1 - calls.rank();
        for (const CountWhen when : {CountWhen::kConsumed, CountWhen::kTransmitted}) {
          Synchronizer done(calls, when);
          for (int i = 0; i < 3; ++i) {
            const std::string text = thrown_by<EnvironmentError>([&] {
              calls.call(
                  other, [] {}, &done);
            });
            check(text.find("refused") != std::string::npos, text);
            check(done.pending() == 0, fmt::format("{} pending", done.pending()));
          }
          calls.call(
              calls.rank(), [] {}, &done);
          done.wait();
        }
      });
}

// 0 passes it on to 4, 2 and 1; 4 to 6 and 5, 6 to 7, and 2 to 3.
TEST_F(CallPending, ABroadcastEndsWithTheRanksThatItDoesNotReach) {
  for (const std::uint32_t refuses : {6u, 4u, 1u}) {
    MeshRanks ranks;
    run(
        ranks, 8,
        [=](std::uint32_t rank) {
          return rank == refuses ? with_nothing_to_grant() : testing::small_chunks();
        },
        [=](Calls& calls, Checks& check) {
          std::uint32_t ran = 0;
          calls.set_local(ran);
          std::string text;
          if (calls.rank() == 0) {
            Synchronizer done(calls);
            calls.broadcast([](CallContext& here) { ++here.local<std::uint32_t>(); }, &done);
            try {
              done.wait();
            } catch (const CallFailed& error) {
              text = error.what();
              check(error.rank() == refuses, fmt::format("rank {}", error.rank()));
            }
            check(text.find("refused") != std::string::npos, text);
            check(done.pending() == 0, fmt::format("{} pending", done.pending()));
            // Nobody waits for these.
            Synchronizer sent(calls, CountWhen::kTransmitted);
            calls.broadcast([](CallContext& here) { ++here.local<std::uint32_t>(); }, &sent);
            thrown_by<CallFailed>([&] { sent.wait(); });
            check(sent.pending() == 0, "pending though sent");
          }
          const std::string unheard = thrown_by<CallFailed>([&] { calls.settle(); });
          check(unheard == "(nothing)" || calls.rank() == 0, unheard);
          const std::uint32_t last = refuses == 1 ? 1 : 7;
          const bool behind = calls.rank() >= refuses && calls.rank() <= last;
          check(ran == (behind ? 0u : 2u), fmt::format("{} ran", ran));
        });
  }
}

// Rank 1 has nowhere to put its reply.
TEST_F(CallPending, AFunctionWhoseReplyIsRefusedRunsOnce) {
  MeshRanks ranks;
  testing::SharedNumber refused;
  testing::SharedNumber over;
  ranks.start_all(2, [&](const hw::MeshOptions& mesh_options, const Say& say) {
    hw::Mesh mesh(mesh_options);
    CallsOptions options = mesh.rank() == 0 ? with_nothing_to_grant() : testing::small_chunks();
    options.patience = std::chrono::seconds(1);
    Calls calls(mesh, testing::call_transport("shm"), options);
    std::uint32_t ran = 0;
    calls.set_local(ran);
    if (mesh.rank() == 1) {
      int refusals = 0;
      while (refusals < 5) {
        try {
          calls.progress();
        } catch (const EnvironmentError&) {
          ++refusals;
        }
      }
      say(fmt::format("{} ran", ran));
      refused.set(1);
      over.await(1);
      return;
    }
    Synchronizer done(calls);
    calls.call(
        1, [](CallContext& here) { ++here.local<std::uint32_t>(); }, &done);
    const std::string stalled = thrown_by<hw::Stalled>([&] { done.wait(); });
    refused.await(1);
    say(stalled == "(nothing)" ? stalled : "stalled");
    over.set(1);
  });
  EXPECT_EQ(ranks.next(0), "stalled");
  EXPECT_EQ(ranks.next(1), "1 ran");
}

// Fails from some call on, as where a NIC is gone.
class FailingTransport final : public hw::PassingTransport {
 public:
  FailingTransport(std::unique_ptr<hw::Transport> under, const std::atomic<bool>& fails)
      : PassingTransport(std::move(under)), fails_(fails) {}
  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    require_whole();
    return PassingTransport::post(requests);
  }
  std::size_t poll(std::span<hw::Completion> completions) override {
    require_whole();
    return PassingTransport::poll(completions);
  }

 private:
  // Once, as verbs tells of an end: the others are whole.
  void require_whole() {
    if (fails_ && !told_.exchange(true)) throw EnvironmentError("the NIC is gone");
  }
  const std::atomic<bool>& fails_;
  std::atomic<bool> told_{false};
};

TEST_F(CallPending, WhatBreaksIsToldToWhoeverWaits) {
  MeshRanks ranks;
  testing::SharedNumber over;
  ranks.start_all(2, [&](const hw::MeshOptions& mesh_options, const Say& say) {
    hw::Mesh mesh(mesh_options);
    CallsOptions options = testing::small_chunks();
    options.failure_timeout = std::chrono::milliseconds(200);
    std::atomic<bool> fails{false};
    Calls calls(mesh, std::make_unique<FailingTransport>(testing::call_transport("shm"), fails),
                options);
    if (mesh.rank() == 1) {
      over.await(1);
      return;
    }
    const hw::RemoteBuffer there = calls.allocate(1, 64);
    hw::RegisteredBuffer here = calls.registered(64);
    Synchronizer called(calls);
    Synchronizer written(calls);
    calls.call(
        1, [] {}, &called);
    calls.put(here, there, 0, written);
    written.wait();
    fails = true;
    const auto told = [&](const std::function<void()>& deed) {
      say(thrown_by<EnvironmentError>(deed));
    };
    told([&] { called.wait(); });
    told([&] { called.wait(); });
    told([&] { calls.put(here, there, 0, written); });
    say(fmt::format("{} pending", written.pending()));
    told([&] {
      calls.call(
          1, [] {}, &written);
    });
    say(fmt::format("{} pending", written.pending()));
    over.set(1);
  });
  for (const char* line : {"the NIC is gone", "the NIC is gone", "the NIC is gone", "0 pending",
                           "the NIC is gone", "0 pending", "(end)"}) {
    EXPECT_EQ(ranks.next(0), line);
  }
}

}  // namespace
}  // namespace slackline
