// Atomics that the target's thread carries out: within its memory to the last word, and not beyond.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "hw/fabric/transport.h"

namespace slackline {
namespace {

constexpr std::size_t kBytes = 64;

// Two ranks in one thread; rank 0 adds 1 to a word of rank 1's.
class Atomics : public ::testing::Test {
 protected:
  Atomics() : memory_(2, std::vector<std::byte>(kBytes + 16)) {
    std::vector<hw::Address> addresses;
    for (std::uint32_t r = 0; r < 2; ++r) {
      ranks_.push_back(hw::make_fabric_transport({"net", "127.0.0.1"}));
      local_.push_back(ranks_[r]->register_memory(std::span(memory_[r]).first(kBytes)));
      const std::vector<hw::ChannelEnd> ends = {{0, 1 - r, r == 0}};
      addresses.push_back(ranks_[r]->open(ends));
    }
    for (auto& rank : ranks_) rank->connect(addresses);
  }

  // Posts it and waits for its completion; throws what the transport does.
  void add(std::uint64_t at) {
    const hw::Segment result{memory_[0].data(), 8, local_[0].handle};
    hw::WorkRequest request;
    request.kind = hw::RequestKind::kFetchAdd;
    request.local = {&result, 1};
    request.remote = local_[1].remote;
    request.remote.address += at;
    request.operand = 1;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::array<hw::Completion, 8> completions;
    bool posted = false;
    while (std::chrono::steady_clock::now() < deadline) {
      posted = posted || ranks_[0]->post({&request, 1}) == 1;
      ranks_[1]->poll(completions);
      if (ranks_[0]->poll(completions) != 0) return;
    }
    FAIL() << "no answer";
  }

  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::unique_ptr<hw::Transport>> ranks_;
  std::vector<hw::LocalMemory> local_;
};

TEST_F(Atomics, ReachTheLastWordAndNoFurther) {
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{kBytes - 8}}) {
    add(at);
    add(at);
    std::uint64_t word = 0;
    std::memcpy(&word, memory_[1].data() + at, 8);
    EXPECT_EQ(word, 2u) << at;
    std::memcpy(&word, memory_[0].data(), 8);
    EXPECT_EQ(word, 1u) << at;
  }
  const std::vector<std::byte> before = memory_[1];
  for (const std::uint64_t at : {kBytes - 7, kBytes - 1, kBytes, kBytes + 1, kBytes + 8}) {
    EXPECT_THROW(add(at), InternalError) << at;
    EXPECT_EQ(memory_[1], before) << at;
  }
}

}  // namespace
}  // namespace slackline
