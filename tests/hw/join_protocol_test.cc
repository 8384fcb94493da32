// The decisions of a join under random orders of events, with and without faults; by a network in
// memory, so that hundreds take less than a second. tests/fuzz/fuzz_join.cc tries others.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/join_system.h"
#include "tests/support/sanitized.h"

namespace slackline {
namespace {

using testing::JoinFaults;
using testing::JoinSystem;

constexpr std::uint32_t kMostSteps = 300;

// How many of the seeds end with all ranks joined.
std::uint32_t joins_under(JoinFaults faults, std::uint32_t seeds) {
  std::uint32_t joins = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    const testing::Choose choose = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>(random() % below);
    };
    const std::uint32_t ranks = 2 + choose(6);
    const std::uint32_t full_up_to = choose(2) == 0 ? hw::kFullMeshRanks : 1;
    const std::uint32_t steps = choose(kMostSteps);
    JoinSystem system(ranks, full_up_to, faults, choose);
    try {
      system.run(steps);
    } catch (const testing::BrokenPromise& broken) {
      ADD_FAILURE() << "seed " << seed << ", " << ranks << " ranks: " << broken.what();
      return joins;
    }
    joins += system.all_joined() ? 1 : 0;
  }
  return joins;
}

constexpr std::uint32_t kSeeds = testing::cases(400u);
// A join goes on under few of them.
constexpr std::uint32_t kInsiderSeeds = testing::cases(500u);

TEST(JoinProtocol, WithoutFaultsAllJoinInAnyOrder) {
  EXPECT_EQ(joins_under(JoinFaults::kNone, kSeeds), kSeeds);
}

// What rank 0 sends to its first guest.
struct SentToFirst : hw::RootActions {
  void send(std::size_t guest, std::span<const std::byte> bytes) override {
    if (guest == 0) reader.feed(bytes, frames);
  }
  void finish() override {}
  void stay(std::chrono::milliseconds) override {}
  hw::FrameReader reader;
  std::vector<hw::Frame> frames;
};

struct NothingDone : hw::OtherActions {
  void tell_root(std::span<const std::byte>) override {}
  void set_deadline(std::chrono::milliseconds) override {}
  void accept() override {}
  void connect(std::uint32_t, std::chrono::milliseconds) override {}
  void complain_after(std::chrono::milliseconds) override {}
};

// A frame has at most hw::kPartBytes.
TEST(JoinProtocol, ATableOfManyRanksComesInSeveralFrames) {
  hw::MeshOptions options;
  options.ranks = 600;
  hw::Hello hello;
  hello.ranks = options.ranks;
  hello.member.host = std::string(500, 'h');
  SentToFirst sent;
  hw::RootProtocol root(options, hello, 7, sent);
  for (hello.rank = 1; hello.rank < options.ranks; ++hello.rank) {
    hello.member.pid = hello.rank;
    root.greet(hello, std::chrono::milliseconds(100));
  }
  options.rank = 1;
  NothingDone nothing;
  hw::OtherProtocol other(options, hello, nothing);
  for (const hw::Frame& frame : sent.frames) {
    EXPECT_LT(frame.payload.size(), hw::kPartBytes);
    other.heed(frame);
  }
  EXPECT_EQ(encode(std::span(other.state().members)), encode(std::span(root.state().members)));
}

// What a rank says behind its word to be ready may come when rank 0 has told all to go.
TEST(JoinProtocol, AfterTheWordToGoNothingIsSaidToRank0) {
  hw::MeshOptions options;
  options.ranks = 2;
  hw::Hello hello;
  hello.ranks = options.ranks;
  SentToFirst sent;
  hw::RootProtocol root(options, hello, 7, sent);
  hello.rank = 1;
  root.greet(hello, std::chrono::milliseconds(100));
  root.heed(0, {hw::FrameKind::kReady, 0, {}});
  EXPECT_TRUE(root.going());
  root.heed(0, {hw::FrameKind::kReady, 0, {}});
  root.heed(0, {hw::FrameKind::kVerdict, 0, encode(hw::JoinVerdict{1, 1, "a word"})});
  ASSERT_EQ(sent.frames.size(), 3u);
  EXPECT_EQ(sent.frames.back().kind, hw::FrameKind::kGo);
  EXPECT_FALSE(root.state().verdict);
}

TEST(JoinProtocol, KeepsItsPromisesWhateverIsLost) {
  const std::uint32_t joins = joins_under(JoinFaults::kLosses, kSeeds);
  EXPECT_GT(joins, 0u);
  EXPECT_LT(joins, kSeeds);
}

TEST(JoinProtocol, KeepsItsPromisesWhateverInsidersSay) {
  joins_under(JoinFaults::kInsiders, kInsiderSeeds);
}

TEST(JoinProtocol, KeepsItsPromisesWhateverRank0Says) {
  joins_under(JoinFaults::kFalseRoot, kInsiderSeeds);
}

}  // namespace
}  // namespace slackline
