// A rank that ends in order in the midst of a run. Its farewell makes it no loss, so nothing but
// the run itself ends the others: no timeout of these tests is over before they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hw/driver.h"
#include "hw/passing_transport.h"
#include "tests/hw/session_ranks.h"

namespace slackline {
namespace {

using testing::compiled;
using testing::MeshRanks;
using testing::transport_named;

// No std::exception: nothing on the way tells the others of it.
struct Silent {};

// The third poll throws.
class ThrowingTransport final : public hw::PassingTransport {
 public:
  ThrowingTransport(std::unique_ptr<hw::Transport> under, std::function<void()> fail)
      : PassingTransport(std::move(under)), fail_(std::move(fail)) {}
  std::size_t poll(std::span<hw::Completion> completions) override {
    if (--left_ == 0) fail_();
    return PassingTransport::poll(completions);
  }

 private:
  int left_ = 3;
  std::function<void()> fail_;
};

struct Leaving {
  std::uint32_t ranks = 3;
  std::uint32_t rank = 0;  // who leaves
  std::uint32_t full_up_to = hw::kFullMeshRanks;
  hw::Waiting waiting = hw::Waiting::kPolling;
  std::chrono::milliseconds failure_timeout = std::chrono::hours(1);
  std::function<void()> fail;
};

// What each rank ends with.
std::vector<std::string> ends_with(const Leaving& leaving) {
  transport_named("shm");
  // So many messages that nobody is through when that rank leaves.
  const sched::Schedule schedule = compiled(
      fmt::format("chain:ranks={},bytes=1MiB,block=1KiB,window=1,ready=send", leaving.ranks));
  MeshRanks processes;
  for (std::uint32_t r = 0; r < leaving.ranks; ++r) {
    hw::MeshOptions place = processes.options(r, leaving.ranks);
    place.full_up_to = leaving.full_up_to;
    processes.start(place, [&](const hw::MeshOptions& options, const MeshRanks::Say& say) {
      hw::Mesh mesh(options);
      std::unique_ptr<hw::Transport> net = transport_named("shm");
      if (mesh.rank() == leaving.rank) {
        net = std::make_unique<ThrowingTransport>(std::move(net), leaving.fail);
      }
      hw::Session session(mesh, *net);
      hw::RunOptions run;
      run.warm_up = 0;
      run.waiting = leaving.waiting;
      run.stall_timeout = std::chrono::hours(1);
      run.failure_timeout = leaving.failure_timeout;
      try {
        session.run(schedule, run);
        say("no error");
      } catch (const hw::PeerLost& error) {
        say(fmt::format("lost {}: {}", error.rank(), error.what()));
      } catch (const Silent&) {
        say("silent");
      }
    });
  }
  std::vector<std::string> ends;
  for (std::uint32_t r = 0; r < leaving.ranks; ++r) ends.push_back(processes.next(r));
  return ends;
}

TEST(SessionLeave, OneThatLeavesWithoutAWordIsNamedAtOnce) {
  for (const hw::Waiting waiting : {hw::Waiting::kPolling, hw::Waiting::kInterrupt}) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Leaving leaving;
      leaving.rank = rank;
      leaving.waiting = waiting;
      leaving.fail = [] { throw Silent(); };
      std::vector<std::string> expected(
          3, fmt::format("lost {0}: rank {0} has left in the midst of a run", rank));
      expected[rank] = "silent";
      EXPECT_EQ(ends_with(leaving), expected);
    }
  }
}

// Those that are not connected with it hear of it by way of rank 0.
TEST(SessionLeave, AllNameTheSameOneWhereNotAllAreConnected) {
  for (const std::uint32_t rank : {0u, 5u}) {
    Leaving leaving;
    leaving.ranks = 12;
    leaving.rank = rank;
    leaving.full_up_to = 0;
    leaving.fail = [] { throw Silent(); };
    std::vector<std::string> expected(
        12, fmt::format("lost {0}: rank {0} has left in the midst of a run", rank));
    expected[rank] = "silent";
    EXPECT_EQ(ends_with(leaving), expected);
  }
}

TEST(SessionLeave, OneWhoseMemoryRunsOutSaysSo) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    Leaving leaving;
    leaving.rank = rank;
    leaving.fail = [] { throw std::bad_alloc(); };
    std::vector<std::string> expected(3, fmt::format("! 3 rank {}: out of memory", rank));
    expected[rank] = "! ? std::bad_alloc";
    EXPECT_EQ(ends_with(leaving), expected);
  }
}

// As one does to whom a device says so of which the mesh knows nothing.
TEST(SessionLeave, OneThatDoesNotReachAnotherSaysSo) {
  Leaving leaving;
  leaving.rank = 1;
  leaving.failure_timeout = std::chrono::milliseconds(50);  // the mesh does not name it
  leaving.fail = [] { throw hw::PeerLost(2, "rank 2 does not answer"); };
  EXPECT_EQ(ends_with(leaving), std::vector<std::string>(3, "lost 2: rank 2 does not answer"));
}

// A transport often breaks because a peer's is gone: then that one is named, and no device.
TEST(SessionLeave, WhatBreaksByThatNamesWhoLeft) {
  MeshRanks processes;
  processes.start_all(2, [](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    if (mesh.rank() == 1) return;
    while (!mesh.is_gone(1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    hw::naming_the_lost(mesh, std::chrono::hours(1),
                        [] { throw EnvironmentError("the connection is closed"); });
    say("no error");
  });
  EXPECT_EQ(processes.next(0), "! 1 rank 1 has left in the midst of a run");
}

}  // namespace
}  // namespace slackline
