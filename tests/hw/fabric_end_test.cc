// A libfabric transport that ends while requests are under way leaves memory alone, and so does a
// channel that is closed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "hw/fabric/transport.h"
#include "hw/shm_name.h"
#include "tests/support/own_sockets.h"

namespace slackline {
namespace {

using hw::ChannelEnd;
using hw::Completion;
using hw::RequestKind;

constexpr std::uint32_t kSources = 3;
constexpr std::size_t kMessages = 4;  // of a source

// Rank 0 is written or sent to by all others. All in one thread: what a rank does not poll for
// stays where it is.
struct Rank {
  Rank(const std::string& provider, std::size_t bytes)
      : memory(bytes), transport(hw::make_fabric_transport({provider, "127.0.0.1"})) {
    local = transport->register_memory(memory);
  }
  std::size_t poll() {
    std::array<Completion, 32> completions;
    return transport->poll(completions);
  }
  bool post(RequestKind kind, std::uint32_t channel, std::span<std::byte> bytes,
            hw::RemoteMemory remote = {}) {
    const hw::Segment segment{bytes.data(), bytes.size(), local.handle};
    hw::WorkRequest request;
    request.kind = kind;
    request.channel = channel;
    request.local = {&segment, 1};
    request.remote = remote;
    return transport->post({&request, 1}) == 1;
  }

  bool expect_write(std::uint32_t channel) {
    hw::WorkRequest request;
    request.kind = RequestKind::kRecv;
    request.channel = channel;
    request.expects_write = true;
    return transport->post({&request, 1}) == 1;
  }

  std::vector<std::byte> memory;
  std::unique_ptr<hw::Transport> transport;
  hw::LocalMemory local;
};

struct Case {
  std::string provider;
  RequestKind kind = RequestKind::kSend;
  std::size_t bytes = 0;
  bool midst = false;  // rank 0 has begun to take it in

  friend void PrintTo(const Case& c, std::ostream* out) {
    *out << fmt::format("{}, {} of {} bytes{}", c.provider,
                        c.kind == RequestKind::kSend ? "sends" : "writes", c.bytes,
                        c.midst ? ", in their midst" : "");
  }
};

class Ending : public ::testing::TestWithParam<Case> {
 protected:
  Ending() {
    const std::size_t bytes = GetParam().bytes * kMessages;
    for (std::uint32_t r = 0; r <= kSources; ++r) {
      ranks_.push_back(
          std::make_unique<Rank>(GetParam().provider, r == 0 ? bytes * kSources : bytes));
      if (r != 0) std::memset(ranks_[r]->memory.data(), 1, bytes);
    }
    std::vector<hw::Address> addresses;
    for (std::uint32_t r = 0; r <= kSources; ++r) {
      std::vector<ChannelEnd> ends;
      for (std::uint32_t s = 1; s <= kSources; ++s) {
        if (r == 0 || r == s) ends.push_back({s, r == 0 ? s : 0, r != 0});
      }
      addresses.push_back(ranks_[r]->transport->open(ends));
    }
    for (const auto& rank : ranks_) rank->transport->connect(addresses);
  }

  std::span<std::byte> place(std::uint32_t source, std::size_t message) {
    const std::size_t bytes = GetParam().bytes;
    return std::span(ranks_[0]->memory)
        .subspan(((source - 1) * kMessages + message) * bytes, bytes);
  }

  // False if there is no room.
  bool start(std::uint32_t source, std::size_t message) {
    Rank& rank = *ranks_[source];
    const std::size_t bytes = GetParam().bytes;
    hw::RemoteMemory remote = ranks_[0]->local.remote;
    remote.address +=
        static_cast<std::uint64_t>(place(source, message).data() - ranks_[0]->memory.data());
    return rank.post(GetParam().kind, source,
                     std::span(rank.memory).subspan(message * bytes, bytes), remote);
  }

  void poll_sources(int times) {
    for (int i = 0; i < times; ++i) {
      for (std::uint32_t s = 1; s <= kSources; ++s) ranks_[s]->poll();
    }
  }

  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST_P(Ending, LeavesMemoryAlone) {
  Rank& target = *ranks_[0];
  for (std::size_t m = 0; GetParam().kind == RequestKind::kSend && m < kMessages; ++m) {
    for (std::uint32_t s = 1; s <= kSources; ++s) {
      ASSERT_TRUE(target.post(RequestKind::kRecv, s, place(s, m)));
    }
  }
  // The first comes through, so that all are connected.
  const auto arrived = [&](std::uint32_t s) { return place(s, 0).back() == std::byte{1}; };
  for (std::uint32_t s = 1; s <= kSources; ++s) {
    while (!start(s, 0)) {
      poll_sources(1);
      target.poll();
    }
  }
  while (!arrived(1) || !arrived(2) || !arrived(3)) {
    poll_sources(1);
    target.poll();
  }
  for (std::size_t m = 1; m < kMessages; ++m) {
    for (std::uint32_t s = 1; s <= kSources; ++s) start(s, m);
  }
  poll_sources(100);
  while (GetParam().midst && place(1, 1).front() == std::byte{0}) {
    target.poll();
    if (place(1, 1).front() == std::byte{0}) poll_sources(1);
  }
  target.transport->unregister_memory(target.local);
  const std::vector<std::byte> before = target.memory;
  ASSERT_NE(std::memchr(before.data(), 0, before.size()), nullptr) << "nothing is under way";
  target.transport.reset();
  EXPECT_EQ(std::memcmp(before.data(), target.memory.data(), before.size()), 0);
}

// By it, what a dead process left in /dev/shm is told from what a living one uses.
TEST(FabricEnd, ASegmentHasItsOwnersNameWhileTheTransportIsThere) {
  const auto segments = [] {
    const auto own = hw::own_shm_owner();
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
      count += own && hw::shm_owner(file.path().filename().native()) == own;
    }
    return count;
  };
  const std::size_t before = segments();
  auto transport = hw::make_fabric_transport({"shm", ""});
  EXPECT_GT(segments(), before);
  transport.reset();
  EXPECT_EQ(segments(), before);
}

// A channel may be closed although a receive waits there, and its number opened anew.
class Closing : public ::testing::TestWithParam<const char*> {};

TEST_P(Closing, TakesBackReceivesThatNothingCameFor) {
  constexpr std::size_t kBytes = 8;
  constexpr std::uint32_t kChannel = 5;
  Rank source(GetParam(), kBytes);
  Rank target(GetParam(), 3 * kBytes);
  std::memset(source.memory.data(), 1, kBytes);
  const std::array<ChannelEnd, 1> out{{{kChannel, 1, true}}};
  const std::array<ChannelEnd, 1> in{{{kChannel, 0, false}}};
  const auto open = [&] {
    const std::array<hw::Address, 2> addresses{source.transport->open(out),
                                               target.transport->open(in)};
    source.transport->connect(addresses);
    target.transport->connect(addresses);
  };
  const auto place = [&](std::size_t part) {
    return std::span(target.memory).subspan(part * kBytes, kBytes);
  };
  const auto send = [&] {
    std::size_t completions = 0;
    bool sent = false;
    while (completions == 0) {
      sent = sent || source.post(RequestKind::kSend, kChannel, source.memory);
      source.poll();
      completions = target.poll();
    }
    return completions;
  };
  open();
  for (const std::size_t part : {0, 1}) {
    ASSERT_TRUE(target.post(RequestKind::kRecv, kChannel, place(part)));
  }
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(place(0).back(), std::byte{1});
  source.transport->close(out);
  target.transport->close(in);
  open();
  ASSERT_TRUE(target.post(RequestKind::kRecv, kChannel, place(2)));
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(place(1).back(), std::byte{0});
  EXPECT_EQ(place(2).back(), std::byte{1});
}

// A write may tell of itself before its channel is opened; but not for ever.
TEST_P(Closing, RemembersSoManyNoticesForChannelsThatAreNotOpen) {
  constexpr std::uint32_t kEarly = 3;
  Rank source(GetParam(), 8);
  Rank target(GetParam(), 8);
  const std::array<ChannelEnd, 2> out{{{0, 1, true}, {1, 1, true}}};
  const std::array<ChannelEnd, 2> in{{{0, 0, false}, {1, 0, false}}};
  const std::array<hw::Address, 2> addresses{source.transport->open(out),
                                             target.transport->open({})};
  source.transport->connect(addresses);
  target.transport->connect(addresses);
  const auto notify = [&](std::uint32_t channel) {
    while (!source.post(RequestKind::kWriteImm, channel, std::span(source.memory).first(0),
                        target.local.remote)) {
      source.poll();
      target.poll();
    }
    source.poll();
    target.poll();
  };
  for (std::uint32_t i = 0; i < kEarly; ++i) notify(0);
  for (int i = 0; i < 1000; ++i) {
    source.poll();
    target.poll();
  }
  target.transport->open(std::span(in).first(1));
  for (std::uint32_t i = 0; i < kEarly; ++i) ASSERT_TRUE(target.expect_write(0));
  std::size_t completions = 0;
  while (completions < kEarly) {
    source.poll();
    completions += target.poll();
  }
  EXPECT_THROW(
      {
        while (true) notify(1);
      },
      EnvironmentError);
}

INSTANTIATE_TEST_SUITE_P(All, Closing, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "tcp;ofi_rxm" ? "rxm" : tested.param;
                         });

// Peers may still be connecting, for an acknowledgement that nobody waits for, say.
TEST(FabricEnd, LeavesNoSocketOfAPeerThatWasConnecting) {
  const auto before = testing::own_sockets();
  for (int polls = 0; polls < 4; ++polls) {
    const std::array<ChannelEnd, 1> out{{{0, 1, true}}};
    const std::array<ChannelEnd, 1> in{{{0, 0, false}}};
    Rank source("net", 8);
    Rank target("net", 8);
    const std::array<hw::Address, 2> addresses{source.transport->open(out),
                                               target.transport->open(in)};
    source.transport->connect(addresses);
    target.transport->connect(addresses);
    // The first looks for a way, and goes nowhere before there is an answer.
    ASSERT_FALSE(source.post(RequestKind::kSend, 0, source.memory));
    for (int i = 0; i < 100; ++i) source.poll();
    for (int i = 0; i < polls; ++i) target.poll();
    target.transport->close(in);
    source.transport->close(out);
  }
  std::string left;
  for (const auto& [number, socket] : testing::own_sockets()) {
    if (!before.contains(number)) left += fmt::format("{} in state {}; ", number, socket.state);
  }
  EXPECT_EQ(left, "");
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  // Injected, buffered, and announced.
  for (const std::size_t bytes : {100, 5000, 1 << 20}) {
    cases.push_back({"shm", RequestKind::kSend, bytes, false});
    cases.push_back({"shm", RequestKind::kWrite, bytes, false});
    cases.push_back({"net", RequestKind::kSend, bytes, false});
    cases.push_back({"net", RequestKind::kWrite, bytes, false});
  }
  // shm copies what has come whole, and all of it. rxm takes seconds to connect.
  constexpr std::size_t kLarge = 2 << 20;
  cases.push_back({"net", RequestKind::kSend, kLarge, true});
  cases.push_back({"net", RequestKind::kWrite, kLarge, true});
  cases.push_back({"tcp;ofi_rxm", RequestKind::kSend, 100, false});
  cases.push_back({"tcp;ofi_rxm", RequestKind::kSend, 5000, false});
  cases.push_back({"tcp;ofi_rxm", RequestKind::kSend, kLarge, true});
  cases.push_back({"tcp;ofi_rxm", RequestKind::kWrite, 100, false});
  cases.push_back({"tcp;ofi_rxm", RequestKind::kWrite, kLarge, true});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Ending, ::testing::ValuesIn(cases()));

}  // namespace
}  // namespace slackline
