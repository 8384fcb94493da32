// Messages to service threads, in one thread: what is sent comes once, whatever room there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/call/service_wire.h"
#include "tests/hw/loop_transport.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::ServiceWire;
using Kind = ServiceWire::Kind;
using ::testing::HasSubstr;

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class CallServiceWire : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kRanks = 3;

  struct Rank {
    Rank(hw::Mesh& mesh, testing::Loop& loop, std::uint32_t rank) {
      auto made = std::make_unique<testing::LoopTransport>(loop);
      transport = made.get();
      port.emplace(mesh, std::move(made), hw::CallsOptions());
      wire.emplace(*port, rank, kRanks, kRanks * kRanks);
      port->set_service([this](const hw::Completion& completion) { wire->complete(completion); });
      wire->start();
    }
    testing::LoopTransport* transport = nullptr;
    std::optional<hw::CallPort> port;
    std::optional<ServiceWire> wire;
  };

  CallServiceWire() {
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      ranks.push_back(std::make_unique<Rank>(mesh, loop, r));
    }
  }
  ServiceWire& wire(std::uint32_t rank) { return *ranks[rank]->wire; }
  void progress() {
    for (int i = 0; i < 3; ++i) {
      for (auto& rank : ranks) {
        rank->port->progress();
        rank->wire->tend();
      }
    }
  }

  hw::Mesh mesh{hw::MeshOptions{}};
  testing::Loop loop;
  std::vector<std::unique_ptr<Rank>> ranks;
};

TEST_F(CallServiceWire, RequestsAndAnswersComeApart) {
  wire(0).send(1, Kind::kRequest, bytes_of("to 1"));
  wire(1).send(0, Kind::kRequest, bytes_of("to 0"));
  wire(2).send(0, Kind::kRequest, bytes_of("to 0, too"));
  wire(1).send(0, Kind::kAnswer, bytes_of("well"));
  progress();
  EXPECT_FALSE(wire(1).take_answer(0));
  EXPECT_FALSE(wire(0).take_answer(2));
  EXPECT_EQ(wire(0).take_answer(1), bytes_of("well"));
  EXPECT_FALSE(wire(0).take_answer(1)) << "twice";
  ASSERT_TRUE(wire(1).has_request());
  const auto asked = wire(1).take_request();
  EXPECT_EQ(asked->from, 0u);
  EXPECT_EQ(asked->bytes, bytes_of("to 1"));
  EXPECT_FALSE(wire(1).has_request());
  EXPECT_EQ(wire(0).take_request()->from, 1u);
  EXPECT_EQ(wire(0).take_request()->bytes, bytes_of("to 0, too"));
  EXPECT_FALSE(wire(0).take_request());
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_TRUE(wire(r).is_quiet());
}

// More than there are slots, and room for one request a poll.
TEST_F(CallServiceWire, WhatFindsNoRoomGoesLater) {
  for (auto& rank : ranks) rank->transport->room_per_poll = 1;
  for (auto& rank : ranks) rank->transport->room = 0;
  for (int i = 0; i < 40; ++i) {
    wire(0).send(1 + static_cast<std::uint32_t>(i) % 2, Kind::kRequest,
                 bytes_of(std::to_string(i)));
  }
  EXPECT_FALSE(wire(0).is_quiet());
  for (int i = 0; i < 100; ++i) progress();
  EXPECT_TRUE(wire(0).is_quiet());
  for (int i = 0; i < 40; ++i) {
    const auto message = wire(1 + static_cast<std::uint32_t>(i) % 2).take_request();
    ASSERT_TRUE(message) << i;
    EXPECT_EQ(message->bytes, bytes_of(std::to_string(i)));
  }
}

TEST_F(CallServiceWire, IsNotQuietWhileSomethingIsUnderWay) {
  ranks[0]->transport->held = true;
  wire(0).send(1, Kind::kRequest, bytes_of("x"));
  progress();
  EXPECT_TRUE(wire(1).has_request());
  EXPECT_FALSE(wire(0).is_quiet()) << "its completion is held back";
  ranks[0]->transport->held = false;
  progress();
  EXPECT_TRUE(wire(0).is_quiet());
}

TEST_F(CallServiceWire, TakesMessagesUpToItsLongest) {
  const Bytes longest(ServiceWire::kMostBytes, std::byte{7});
  wire(0).send(1, Kind::kAnswer, longest);
  wire(0).send(2, Kind::kRequest, {});
  progress();
  EXPECT_EQ(wire(1).take_answer(0), longest);
  EXPECT_EQ(wire(2).take_request()->bytes, Bytes());
  EXPECT_THROW(wire(0).send(1, Kind::kAnswer, Bytes(longest.size() + 1)), InternalError);
}

TEST_F(CallServiceWire, WhatIsNoMessageIsRefused) {
  wire(2).send(1, static_cast<Kind>(2), bytes_of("x"));
  EXPECT_THAT(testing::error_of<EnvironmentError>([&] { progress(); }),
              HasSubstr("rank 2 sent what is no message to a service thread"));
}

// A channel each way between each two ranks, for small messages, none of them a call's.
TEST_F(CallServiceWire, HasChannelsOfItsOwn) {
  const std::vector<hw::ChannelEnd> ends = wire(1).ends();
  ASSERT_EQ(ends.size(), 2 * (kRanks - 1));
  for (const hw::ChannelEnd& end : ends) {
    EXPECT_GE(end.channel, kRanks * kRanks);
    EXPECT_LT(end.channel, 2 * kRanks * kRanks);
    EXPECT_TRUE(end.small);
    const std::uint32_t place = end.channel - kRanks * kRanks;
    EXPECT_EQ(place, end.initiates ? kRanks + end.peer : kRanks * end.peer + 1);
  }
}

}  // namespace
}  // namespace slackline
