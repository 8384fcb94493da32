// Small messages over libfabric's TCP: those of a channel that has no others do not wait behind
// what is large.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "hw/fabric/transport.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kLarge = std::size_t{64} << 20;
constexpr std::uint32_t kBlocks = 3, kCredits = 8;  // channels

struct End {
  explicit End(bool initiates)
      : transport(make_fabric_transport({"net", "127.0.0.1"})),
        memory(kLarge),
        local(transport->register_memory(memory)),
        ends{{{kBlocks, initiates ? 0u : 1u, initiates, 0, false},
              {kCredits, initiates ? 0u : 1u, initiates, 0, true}}},
        address(transport->open(ends)) {}
  // False if there was no room.
  bool post(RequestKind kind, std::uint32_t channel, std::size_t bytes) {
    const Segment segment{memory.data(), bytes, local.handle};
    WorkRequest request;
    request.kind = kind;
    request.channel = channel;
    request.tag = channel;
    request.local = {&segment, bytes == 0 ? 0u : 1u};
    return transport->post({&request, 1}) == 1;
  }

  std::unique_ptr<Transport> transport;
  std::vector<std::byte> memory;
  LocalMemory local;
  std::array<ChannelEnd, 2> ends;
  Address address;
};

class FabricSmall : public ::testing::Test {
 protected:
  FabricSmall() {
    sender_.transport->connect(std::vector<Address>{target_.address});
    target_.transport->connect(std::vector<Address>{{}, sender_.address});
  }
  ~FabricSmall() override {
    sender_.transport->close(sender_.ends);
    target_.transport->close(target_.ends);
  }

  // Both poll until `done`, or for 30 s; whether it came to that.
  template <class Done>
  bool poll_until(Done&& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      poll(sender_);
      poll(target_);
    }
    return true;
  }
  void poll(End& end) {
    std::array<Completion, 8> completions;
    const std::size_t count = end.transport->poll(completions);
    for (std::size_t i = 0; i < count; ++i) {
      if (completions[i].kind == RequestKind::kRecv) received_.push_back(completions[i].tag);
    }
  }
  bool receive(std::uint32_t channel, std::size_t bytes) {
    return poll_until([&] { return target_.post(RequestKind::kRecv, channel, bytes); });
  }
  bool send(std::uint32_t channel, std::size_t bytes) {
    return poll_until([&] { return sender_.post(RequestKind::kSend, channel, bytes); });
  }

  End sender_{true};
  End target_{false};
  std::vector<std::uint64_t> received_;  // channels, in the order in which their messages came
};

TEST_F(FabricSmall, DoNotWaitBehindALargeMessage) {
  // Both streams are there.
  for (const std::uint32_t channel : {kBlocks, kCredits}) {
    ASSERT_TRUE(receive(channel, 8) && send(channel, 8));
  }
  ASSERT_TRUE(poll_until([&] { return received_.size() == 2; }));
  for (const std::size_t bytes : {0, 1, 4096}) {
    SCOPED_TRACE(bytes);
    received_.clear();
    ASSERT_TRUE(receive(kBlocks, kLarge) && receive(kCredits, bytes));
    ASSERT_TRUE(send(kBlocks, kLarge));
    // It is under way, and fills what the kernel keeps.
    for (int i = 0; i < 3; ++i) poll(sender_);
    ASSERT_TRUE(send(kCredits, bytes));
    ASSERT_TRUE(poll_until([&] { return received_.size() == 2; }));
    EXPECT_EQ(received_, (std::vector<std::uint64_t>{kCredits, kBlocks}));
  }
}

}  // namespace
}  // namespace slackline::hw
