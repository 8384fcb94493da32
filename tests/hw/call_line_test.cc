// Requests to one peer: which are signalled, who is told, and when memory may be used again.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "hw/call/line.h"
#include "tests/hw/loop_transport.h"

namespace slackline {
namespace {

class CallLine : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::uint64_t kMost = 8;  // u_max

  CallLine()
      : port(mesh, take_transport(), {}),
        slabs(*transport, 64, 4),
        line(port, slabs, 0, 3, kMost, false) {
    port.set_lines({&line});
  }
  std::unique_ptr<hw::Transport> take_transport() {
    auto made = std::make_unique<testing::LoopTransport>(loop);
    made->in_order = GetParam();
    transport = made.get();
    return made;
  }
  void write(hw::SyncState* told = nullptr) {
    line.write({from.data(), from.size(), 7},
               {{reinterpret_cast<std::uint64_t>(to.data()), 11}, nullptr}, {&told, 1});
  }

  hw::Mesh mesh{hw::MeshOptions{}};
  testing::Loop loop;
  testing::LoopTransport* transport = nullptr;
  hw::CallPort port;
  hw::Slabs slabs;
  hw::CallLine line;
  std::array<std::byte, 16> from{};
  std::array<std::byte, 16> to{};
};

TEST_P(CallLine, SignalsOneInUMaxWhereThatSpeaksForAll) {
  // The last three are under way, and none of them is signalled.
  for (int i = 0; i < 803; ++i) {
    write();
    port.progress();
  }
  std::uint64_t signalled = 0;
  for (const hw::WorkRequest& request : transport->posted) signalled += request.signalled;
  EXPECT_EQ(signalled, GetParam() ? 800 / kMost : 803);
  EXPECT_EQ(line.in_flight(), GetParam() ? 3u : 0u);
  EXPECT_EQ(line.needs_signal(), GetParam());
}

TEST_P(CallLine, TellsWhoWaitsAndNobodyElse) {
  transport->held = true;
  std::vector<hw::SyncState> states(20);
  for (hw::SyncState& state : states) {
    state.pending = 1;
    write(&state);
  }
  line.forget(&states[5]);
  port.progress();
  for (const hw::SyncState& state : states) EXPECT_EQ(state.pending, 1u);
  transport->held = false;
  port.progress();
  for (std::size_t i = 0; i < states.size(); ++i) EXPECT_EQ(states[i].pending, i == 5 ? 1u : 0u);
  EXPECT_EQ(line.in_flight(), 0u);
}

// Memory comes back only when what reads it is complete.
TEST_P(CallLine, MemoryIsNotUsedAgainTooEarly) {
  transport->held = true;
  const hw::Slabs::Unit unit = slabs.take();
  hw::SyncState told;
  told.pending = 1;
  write(&told);
  line.release(unit);
  EXPECT_EQ(line.units(), 1u);
  port.progress();
  EXPECT_EQ(line.units(), 1u);
  for (int i = 0; i < 4; ++i) EXPECT_NE(slabs.take().local.data, unit.local.data);
  transport->held = false;
  while (told.pending != 0) port.progress();
  EXPECT_EQ(line.units(), 0u);
  bool comes_again = false;
  for (int i = 0; i < 8; ++i)
    comes_again = comes_again || slabs.take().local.data == unit.local.data;
  EXPECT_TRUE(comes_again);
}

// However many requests there are, memory does not pile up.
TEST_P(CallLine, MemoryStaysBounded) {
  std::size_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    const hw::Slabs::Unit unit = slabs.take();
    write();
    line.release(unit);
    if (i % 3 == 0) port.progress();
    most = std::max(most, line.units());
  }
  EXPECT_LE(most, hw::CallLine::kMostInFlight + 2 * kMost);
}

INSTANTIATE_TEST_SUITE_P(Completions, CallLine, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "InOrder" : "InAnyOrder"; });

}  // namespace
}  // namespace slackline
