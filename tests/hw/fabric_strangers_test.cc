// An unrelated libfabric program that reaches a rank's endpoint finds no receive and no memory.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "hw/fabric/endpoint.h"
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

INSTANTIATE_TEST_SUITE_P(Providers, FabricStrangers, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           const std::string name = tested.param;
                           return name == "tcp;ofi_rxm" ? "rxm" : name;
                         });

class FabricStranger : public ::testing::TestWithParam<const char*> {};

// A target and its peer, of which messages come and go all the while.
class AtWork {
 public:
  explicit AtWork(const std::string& provider) : target(provider, false), peer(provider, true) {
    target.transport->connect(std::vector<Address>{{}, peer.address});
    peer.transport->connect(std::vector<Address>{target.address});
    listen();
  }
  // What is not the stranger's: it goes on whatever that does. Throws what an end has against it.
  void poll() {
    if (!sent_) {
      std::memset(peer.memory.data(), static_cast<int>(round_ % 100 + 1), kBytes);
      sent_ = peer.post(RequestKind::kSend, std::span(peer.memory).first(kBytes));
    }
    sends_ += peer.poll();
    if (target.poll() == 0) return;
    for (std::size_t i = 0; i < kBytes; ++i) {
      ASSERT_EQ(target.memory[i], static_cast<std::byte>(round_ % 100 + 1)) << i;
    }
    ++round_;
    sent_ = false;
    listen();
  }
  // Messages that have come.
  std::size_t rounds() const { return round_; }

  End target;
  End peer;
  static constexpr std::size_t kBytes = 64;

 private:
  void listen() {
    ASSERT_TRUE(target.post(RequestKind::kRecv, std::span(target.memory).first(kBytes)));
  }

  std::size_t round_ = 0;
  std::size_t sends_ = 0;
  bool sent_ = false;
};

// With another key it writes nothing and reads nothing, while the target is at work; and that goes
// on.
TEST_P(FabricStranger, ReachesNoMemoryDuringARun) {
  for (const RequestKind kind : {RequestKind::kWrite, RequestKind::kRead, RequestKind::kWriteImm}) {
    SCOPED_TRACE(static_cast<int>(kind));
    AtWork run(GetParam());
    std::memset(run.target.memory.data() + AtWork::kBytes, 0x55, 128);
    const hw::RemoteMemory there = run.target.local.remote;
    for (const std::uint64_t key : {std::uint64_t{1}, there.key ^ 1, ~std::uint64_t{0}}) {
      // What is refused may end the stranger's endpoint.
      End stranger(GetParam(), true);
      stranger.transport->connect(std::vector<Address>{run.target.address});
      std::memset(stranger.memory.data(), 0xee, stranger.memory.size());
      bool posted = false;
      const std::size_t before = run.rounds();
      for (int i = 0; i < 300 || run.rounds() < before + 10; i += posted ? 1 : 0) {
        try {
          if (!posted) {
            posted = stranger.post(kind, std::span(stranger.memory).first(64),
                                   {there.address + AtWork::kBytes, key});
          }
          stranger.poll();
        } catch (const EnvironmentError&) {
          // The refusal has come back.
          posted = true;
        }
        ASSERT_NO_FATAL_FAILURE(run.poll());
      }
      EXPECT_TRUE(posted);
      for (std::size_t i = 0; i < 128; ++i) {
        ASSERT_EQ(run.target.memory[AtWork::kBytes + i], std::byte{0x55}) << i;
      }
      for (const std::byte byte : stranger.memory) ASSERT_EQ(byte, std::byte{0xee});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricStranger, ::testing::Values("net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "net" ? "net" : "rxm";
                         });

// Asks `target` for a fetch-add on its first word.
void post_add(End& by, End& target, std::uint64_t operand) {
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
}

// Atomics are messages here. Without the number that peers are told they come to nothing: neither
// the word changes, nor does the target fail, nor is an answer sent.
TEST(FabricStrangerAtomics, AreNotCarriedOut) {
  End target("net", false);
  End peer("net", true);
  End stranger("net", true);
  target.transport->connect(std::vector<Address>{{}, peer.address});
  peer.transport->connect(std::vector<Address>{target.address});
  Address guess = target.address;
  std::memset(guess.data(), 0, kSaltBytes);
  stranger.transport->connect(std::vector<Address>{guess});
  post_add(stranger, target, 0x0101);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(stranger.poll(), 0u);
    ASSERT_EQ(target.poll(), 0u);
  }
  for (const std::byte byte : target.memory) ASSERT_EQ(byte, std::byte{0});
  post_add(peer, target, 0x22);
  while (peer.poll() == 0) target.poll();
  EXPECT_EQ(target.memory[0], std::byte{0x22});
}

// A message that is cut short carries no number, whatever stood in the memory that it comes to.
TEST(FabricStrangerAtomics, AreNotCarriedOutWhenCutShort) {
  End target("net", false);
  End peer("net", true);
  target.transport->connect(std::vector<Address>{{}, peer.address});
  peer.transport->connect(std::vector<Address>{target.address});
  // Every one of the target's receives has had a whole one.
  constexpr int kReceives = 32;
  for (int i = 0; i < 2 * kReceives; ++i) {
    post_add(peer, target, 1);
    while (peer.poll() == 0) target.poll();
  }
  hw::FabricEndpoint stranger(hw::find_provider("net", "127.0.0.1"));
  const Address place(target.address.begin() + kSaltBytes, target.address.end());
  const fi_addr_t at = stranger.insert(place, 0).all;
  // Kind, channel, number and address of a request; the rest is as the target had it.
  const std::array<std::uint32_t, 6> head = {
      static_cast<std::uint32_t>(RequestKind::kFetchAdd), End::kChannel, 0, 0, 8, 0};
  for (int i = 0; i < 2 * kReceives; ++i) {
    while (fi_inject(stranger.ep(), head.data(), sizeof head, at) == -FI_EAGAIN) {
      fi_cq_tagged_entry entry;
      fi_cq_read(stranger.cq(), &entry, 1);
      target.poll();
    }
  }
  for (int i = 0; i < 2000; ++i) {
    fi_cq_tagged_entry entry;
    fi_cq_read(stranger.cq(), &entry, 1);
    ASSERT_EQ(target.poll(), 0u);
  }
  std::array<std::uint64_t, 2> words;
  std::memcpy(words.data(), target.memory.data(), sizeof words);
  EXPECT_EQ(words[0], 2u * kReceives);
  EXPECT_EQ(words[1], 0u);
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
TEST(FabricStrangerAnswers, AcknowledgeNothing) {
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
