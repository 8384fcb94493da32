// Calls that do not come back after a rank is lost are noticed, and no others are.
#include "hw/watched_transport.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "hw/passing_transport.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kPatience{150};

// Its poll() takes as long as it is told, or until `released`.
class SlowTransport final : public hw::PassingTransport {
 public:
  SlowTransport(Milliseconds slowness, const std::atomic<bool>& released)
      : PassingTransport(nullptr), slowness_(slowness), released_(released) {}

  std::size_t poll(std::span<hw::Completion>) override {
    const auto until = std::chrono::steady_clock::now() + slowness_;
    while (!released_ && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(Milliseconds(1));
    }
    return 0;
  }

 private:
  Milliseconds slowness_;
  const std::atomic<bool>& released_;
};

void poll_for(hw::Transport& transport, Milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    transport.poll({});
  } while (std::chrono::steady_clock::now() < until);
}

// Two ranks, of which the second is killed when the first has said "begins".
template <class Body>
void with_a_loss(MeshRanks& ranks, const Body& body) {
  ranks.start_all(2, [&](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    if (mesh.rank() == 1) pause();
    body(mesh, say);
  });
}

TEST(WatchedTransport, ACallThatDoesNotComeBackAfterALossIsStuck) {
  MeshRanks ranks;
  with_a_loss(ranks, [](hw::Mesh& mesh, const MeshRanks::Say& say) {
    std::atomic<bool> released = false;
    const auto transport = hw::watch_calls(
        std::make_unique<SlowTransport>(std::chrono::hours(1), released), mesh, kPatience, [&] {
          say(mesh.any_lost() ? "stuck" : "stuck without a loss");
          released = true;
        });
    say("begins");
    transport->poll({});
    say("came back");
  });
  EXPECT_EQ(ranks.next(0), "begins");
  std::this_thread::sleep_for(2 * kPatience);  // without a loss, a call may take its time
  ranks.signal(1, SIGKILL);
  EXPECT_EQ(ranks.next(0), "stuck");
  EXPECT_EQ(ranks.next(0), "came back");
  EXPECT_EQ(ranks.next(0), "(end)");
}

TEST(WatchedTransport, CallsThatComeBackAreNot) {
  MeshRanks ranks;
  with_a_loss(ranks, [](hw::Mesh& mesh, const MeshRanks::Say& say) {
    std::atomic<bool> released = false;
    const auto transport =
        hw::watch_calls(std::make_unique<SlowTransport>(Milliseconds(2), released), mesh,
                        std::chrono::seconds(2), [&] { say("stuck"); });
    say("begins");
    while (!mesh.any_lost()) transport->poll({});
    poll_for(*transport, Milliseconds(2500));
    say("through");
  });
  EXPECT_EQ(ranks.next(0), "begins");
  ranks.signal(1, SIGKILL);
  EXPECT_EQ(ranks.next(0), "through");
  EXPECT_EQ(ranks.next(0), "(end)");
}

TEST(WatchedTransport, SoIsAnEndingThatDoesNotComeBack) {
  struct Endless final : hw::PassingTransport {
    const std::atomic<bool>& released;
    explicit Endless(const std::atomic<bool>& flag) : PassingTransport(nullptr), released(flag) {}
    ~Endless() override {
      while (!released) std::this_thread::sleep_for(Milliseconds(1));
    }
  };
  MeshRanks ranks;
  with_a_loss(ranks, [](hw::Mesh& mesh, const MeshRanks::Say& say) {
    std::atomic<bool> released = false;
    auto transport = hw::watch_calls(std::make_unique<Endless>(released), mesh, kPatience, [&] {
      say("stuck");
      released = true;
    });
    say("begins");
    transport.reset();
    say("ended");
  });
  EXPECT_EQ(ranks.next(0), "begins");
  ranks.signal(1, SIGKILL);
  EXPECT_EQ(ranks.next(0), "stuck");
  EXPECT_EQ(ranks.next(0), "ended");
}

}  // namespace
}  // namespace slackline
