// What a broken transport of calls is told as, whichever thread found it broken.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "hw/call/port.h"
#include "hw/mesh.h"
#include "hw/passing_transport.h"
#include "tests/hw/loop_transport.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

class BrokenTransport final : public hw::PassingTransport {
 public:
  using PassingTransport::PassingTransport;
  std::size_t poll(std::span<hw::Completion>) override { throw EnvironmentError("it is broken"); }
};

class CallPort : public ::testing::Test {
 protected:
  static hw::CallsOptions with_failure_timeout(std::chrono::milliseconds timeout) {
    hw::CallsOptions options;
    options.failure_timeout = timeout;
    return options;
  }
  std::unique_ptr<hw::CallPort> make(std::chrono::milliseconds timeout) {
    auto loop_transport = std::make_unique<testing::LoopTransport>(loop);
    return std::make_unique<hw::CallPort>(
        mesh, std::make_unique<BrokenTransport>(std::move(loop_transport)),
        with_failure_timeout(timeout));
  }

  hw::Mesh mesh{hw::MeshOptions{}};
  testing::Loop loop;
};

// The service thread finds it; the rank's own thread comes after, and before anybody knows who is
// gone.
TEST_F(CallPort, WhoFindsItBrokenWaitsToHearWhoIsGone) {
  const auto port = make(std::chrono::seconds(60));
  std::thread service([&] { EXPECT_THROW(port->help(), EnvironmentError); });
  service.join();
  EXPECT_TRUE(port->is_broken());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    port->depart(1);
  });
  EXPECT_THROW(port->progress(), hw::PeerLost);
  later.join();
}

// A transport often breaks because a rank has left.
TEST(CallPortRanks, OneThatIsGoneIsNamedAtOnceWhereTheTransportBroke) {
  testing::MeshRanks processes;
  processes.start_all(2, [](const hw::MeshOptions& place, const testing::MeshRanks::Say&) {
    hw::Mesh mesh(place);
    if (mesh.rank() == 1) return;
    hw::CallsOptions options;
    options.failure_timeout = std::chrono::hours(1);
    testing::Loop loop;
    auto broken = std::make_unique<BrokenTransport>(std::make_unique<testing::LoopTransport>(loop));
    hw::CallPort(mesh, std::move(broken), options).progress();
  });
  EXPECT_EQ(processes.next(0), "! 1 calls: rank 1 has left; expected finish() first");
}

TEST_F(CallPort, WhereNobodyIsGoneItSaysWhatIsBroken) {
  const auto port = make(std::chrono::milliseconds(5));
  EXPECT_THROW(port->help(), EnvironmentError);
  EXPECT_THROW(port->progress(), EnvironmentError);
  EXPECT_TRUE(port->is_broken());
}

}  // namespace
}  // namespace slackline
