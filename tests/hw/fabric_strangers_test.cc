// An unrelated libfabric program that reaches a rank's endpoint finds no receive and no memory.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/hw/channel_end.h"

namespace slackline {
namespace {

using hw::Address;
using hw::RequestKind;
using End = testing::ChannelEndHere;

constexpr std::size_t kSaltBytes = 8;

class FabricStrangers : public ::testing::TestWithParam<const char*> {};

TEST_P(FabricStrangers, FindNoReceive) {
  End target(GetParam(), false);
  End peer(GetParam(), true);
  End stranger(GetParam(), true);
  target.transport->connect(std::vector<Address>{{}, peer.address});
  peer.transport->connect(std::vector<Address>{target.address});
  // It knows where the target is, and which channel there is, and guesses the rest.
  Address guess = target.address;
  std::memset(guess.data(), 0, kSaltBytes);
  stranger.transport->connect(std::vector<Address>{guess});
  ASSERT_TRUE(target.post(RequestKind::kRecv, std::span(target.memory).first(64)));
  std::memset(stranger.memory.data(), 0xee, 64);
  while (!stranger.post(RequestKind::kSend, std::span(stranger.memory).first(64))) {
    target.poll();
    stranger.poll();
  }
  for (int i = 0; i < 2000; ++i) {
    stranger.poll();
    ASSERT_EQ(target.poll(), 0u);
  }
  std::memset(peer.memory.data(), 0x11, 64);
  while (!peer.post(RequestKind::kSend, std::span(peer.memory).first(64))) {
    target.poll();
    peer.poll();
  }
  while (target.poll() == 0) peer.poll();
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(target.memory[i], std::byte{0x11}) << i;
}

TEST_P(FabricStrangers, AreNotGivenShortAddressesToRead) {
  End target(GetParam(), false);
  const End peer(GetParam(), true);
  for (std::size_t bytes = 1; bytes < peer.address.size(); ++bytes) {
    const Address part(peer.address.begin(), peer.address.begin() + static_cast<long>(bytes));
    // Beyond an address in digits there may be bytes that say nothing.
    if (bytes >= kSaltBytes + 16 && std::string(GetParam()) != "shm") break;
    EXPECT_THROW(target.transport->connect(std::vector<Address>{{}, part}), EnvironmentError)
        << bytes;
  }
}

TEST_P(FabricStrangers, CannotGuessKeys) {
  End target(GetParam(), false);
  std::set<std::uint64_t> keys;
  std::vector<std::byte> memory(64 * 64);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto registered =
        target.transport->register_memory(std::span(memory).subspan(64 * i, 64));
    keys.insert(registered.remote.key);
    all |= registered.remote.key;
  }
  EXPECT_EQ(keys.size(), 64u);
  // Of 64 draws of 64 bits, each bit is set in one; but for one case in 2^58.
  EXPECT_EQ(all, ~std::uint64_t{0});
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricStrangers, ::testing::Values("shm", "net"),
                         [](const auto& tested) { return std::string(tested.param); });

// With another key it is refused, and the target's memory stays.
TEST(FabricStranger, WritesNowhere) {
  End target("net", false);
  End stranger("net", true);
  stranger.transport->connect(std::vector<Address>{target.address});
  std::memset(stranger.memory.data(), 0xee, stranger.memory.size());
  for (const std::uint64_t key :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, target.local.remote.key ^ 1}) {
    hw::RemoteMemory remote = target.local.remote;
    remote.key = key;
    try {
      for (int i = 0; i < 500; ++i) {
        if (i == 0)
          stranger.post(RequestKind::kWrite, std::span(stranger.memory).first(64), remote);
        stranger.poll();
        target.poll();
      }
    } catch (const EnvironmentError&) {
      // The refusal has come back.
    }
  }
  for (const std::byte byte : target.memory) ASSERT_EQ(byte, std::byte{0});
}

// Atomics are messages here. Without the number that peers are told they come to nothing: neither
// the word changes, nor does the target fail, nor is an answer sent.
TEST(FabricStranger, CarriesOutNoAtomics) {
  End target("net", false);
  End peer("net", true);
  End stranger("net", true);
  target.transport->connect(std::vector<Address>{{}, peer.address});
  peer.transport->connect(std::vector<Address>{target.address});
  Address guess = target.address;
  std::memset(guess.data(), 0, kSaltBytes);
  stranger.transport->connect(std::vector<Address>{guess});
  const auto add = [&](End& by, std::uint64_t operand) {
    const hw::Segment result{by.memory.data(), 8, by.local.handle};
    hw::WorkRequest request;
    request.kind = RequestKind::kFetchAdd;
    request.channel = End::kChannel;
    request.local = {&result, 1};
    request.remote = target.local.remote;
    request.operand = operand;
    while (by.transport->post({&request, 1}) != 1) {
      by.poll();
      target.poll();
    }
  };
  add(stranger, 0x0101);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(stranger.poll(), 0u);
    ASSERT_EQ(target.poll(), 0u);
  }
  for (const std::byte byte : target.memory) ASSERT_EQ(byte, std::byte{0});
  add(peer, 0x22);
  while (peer.poll() == 0) target.poll();
  EXPECT_EQ(target.memory[0], std::byte{0x22});
}

// A peer knows that number. It may ask on a channel that the target has not opened all the same.
TEST(FabricPeer, IsCarriedOutNoAtomicsOfAChannelThatIsNotOpen) {
  End target("net", false);
  End peer("net", true);
  const hw::ChannelEnd other{End::kChannel + 1, 0, true};
  peer.transport->connect(std::vector<Address>{target.address});
  peer.transport->open({&other, 1});
  peer.transport->connect(std::vector<Address>{target.address});
  target.transport->connect(std::vector<Address>{{}, peer.address});
  const auto add = [&](std::uint32_t channel, std::uint64_t operand) {
    const hw::Segment result{peer.memory.data(), 8, peer.local.handle};
    hw::WorkRequest request;
    request.kind = RequestKind::kFetchAdd;
    request.channel = channel;
    request.local = {&result, 1};
    request.remote = target.local.remote;
    request.operand = operand;
    while (peer.transport->post({&request, 1}) != 1) {
      peer.poll();
      target.poll();
    }
  };
  add(other.channel, 0x11);
  add(End::kChannel, 0x22);
  // The first is not answered.
  while (peer.poll() == 0) target.poll();
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(target.poll(), 0u);
    ASSERT_EQ(peer.poll(), 0u);
  }
  EXPECT_EQ(target.memory[0], std::byte{0x22});
}

// Whoever knows where an end is may answer what it has sent. Without the number that peers are told
// it acknowledges nothing.
TEST(FabricStranger, AcknowledgesNothing) {
  for (const char* provider : {"shm", "tcp;ofi_rxm"}) {
    SCOPED_TRACE(provider);
    End sender(provider, true);
    End target(provider, false);
    sender.transport->connect(std::vector<Address>{target.address});
    target.transport->connect(std::vector<Address>{{}, sender.address});
    // The stranger takes the sender for the source of what its helper sends to it.
    End stranger(provider, false);
    End helper(provider, true);
    Address guess = sender.address;
    std::memset(guess.data(), 0, kSaltBytes);
    stranger.transport->connect(std::vector<Address>{{}, guess});
    helper.transport->connect(std::vector<Address>{stranger.address});
    const auto send = [](End& by, End& to) {
      while (!by.post(RequestKind::kSend, std::span(by.memory).first(8))) {
        by.poll();
        to.poll();
      }
    };
    send(sender, target);
    ASSERT_TRUE(stranger.post(RequestKind::kRecv, std::span(stranger.memory).first(8)));
    send(helper, stranger);
    for (int i = 0; i < 2000; ++i) {
      helper.poll();
      stranger.poll();
      ASSERT_EQ(sender.poll(), 0u);
    }
    ASSERT_TRUE(target.post(RequestKind::kRecv, std::span(target.memory).first(8)));
    while (sender.poll() == 0) target.poll();
  }
}

}  // namespace
}  // namespace slackline
