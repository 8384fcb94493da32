// What other ranks send and nobody takes has a bound: the rank that sent most of it is named, and
// no more of it is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/hw/mesh_ranks.h"
#include "tests/support/sanitized.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::Mesh;
using hw::MeshOptions;
using testing::MeshRanks;
using ::testing::StartsWith;
using Say = MeshRanks::Say;

constexpr std::uint64_t kBound = 8 << 20;
constexpr std::uint32_t kTaken = 1;  // topics
constexpr std::uint32_t kNotTaken = 2;

std::uint64_t memory_held() {
  std::uint64_t all_pages = 0;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> all_pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Rank 0 takes words of the first topic alone. What it throws, and how much memory it takes then.
void take_words(const MeshOptions& options, const Say& say) {
  MeshOptions bounded = options;
  bounded.most_unread_bytes = kBound;
  Mesh mesh(bounded);
  const std::uint64_t before = memory_held();
  try {
    for (;;) mesh.receive(2, kTaken);
  } catch (const hw::PeerLost& error) {
    say(fmt::format("{}: {}", error.rank(), error.what()));
  }
  const std::uint64_t now = memory_held();
  // A sanitizer holds much more beside it.
  const bool little = testing::kSanitized || now < before + 3 * kBound;
  say(little ? "little" : fmt::format("{} bytes", now - before));
}

// Rank 1 sends without end, and rank 2 a little now and then, which is taken.
template <class Flood>
void expect_rank_1_named(const Flood& flood) {
  MeshRanks processes;
  processes.start_all(3, [&](const MeshOptions& options, const Say& say) {
    if (options.rank == 0) return take_words(options, say);
    Mesh mesh(options);
    if (options.rank == 1) flood(mesh);
    while (!mesh.any_lost()) {
      if (options.rank == 2) mesh.send(0, kTaken, Bytes(1000));
      usleep(1000);
    }
  });
  EXPECT_THAT(processes.next(0), StartsWith("1: rank 1 is lost: it sent "));
  EXPECT_EQ(processes.next(0), "little");
}

TEST(MeshUnread, ManyMessagesThatNobodyTakesAreBounded) {
  expect_rank_1_named([](Mesh& mesh) {
    while (!mesh.any_lost()) {
      mesh.send(0, kNotTaken, Bytes(100'000));
      usleep(100);
    }
  });
}

TEST(MeshUnread, OneLongMessageIsBoundedBeforeItsEnd) {
  expect_rank_1_named([](Mesh& mesh) { mesh.send(0, kNotTaken, Bytes(32 * kBound)); });
}

// Each of them takes memory, though it has no bytes.
TEST(MeshUnread, EmptyMessagesOfManyTopicsAreBounded) {
  expect_rank_1_named([](Mesh& mesh) {
    for (std::uint32_t topic = 100; !mesh.any_lost(); ++topic) {
      mesh.send(0, topic, {});
      if (topic % 100 == 0) usleep(100);
    }
  });
}

TEST(MeshUnread, WhatIsTakenDoesNotCount) {
  MeshRanks processes;
  processes.start_all(2, [](const MeshOptions& options, const Say& say) {
    MeshOptions bounded = options;
    bounded.most_unread_bytes = kBound;
    Mesh mesh(bounded);
    // In all twenty times the bound, and never more than half of it at a time.
    for (std::uint32_t round = 0; round < 40; ++round) {
      for (std::uint32_t topic = 0; topic < 4; ++topic) {
        mesh.send(1 - mesh.rank(), 4 * round + topic, Bytes(kBound / 8));
      }
      for (std::uint32_t topic = 0; topic < 4; ++topic) {
        mesh.receive(1 - mesh.rank(), 4 * round + topic);
      }
      mesh.barrier();
    }
    say("all taken");
  });
  EXPECT_EQ(processes.next(0), "all taken");
  EXPECT_EQ(processes.next(1), "all taken");
}

}  // namespace
}  // namespace slackline
