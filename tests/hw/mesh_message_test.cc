// Ranks that join, and what they tell each other.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::Mesh;
using hw::MeshOptions;
using testing::MeshRanks;
using Say = MeshRanks::Say;

Bytes bytes_of(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Bytes that say whose they are and where they stand.
Bytes pattern(std::size_t size, std::uint32_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 2654435761u + seed * 97u) >> 13);
  }
  return bytes;
}

class MeshMessages : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, MeshMessages, ::testing::Range(1u, 9u));

TEST_P(MeshMessages, AllGatherGivesWhatEveryRankGave) {
  const std::uint32_t ranks = GetParam();
  MeshRanks processes;
  processes.start_all(ranks, [](const MeshOptions& options, const Say& say) {
    Mesh mesh(options);
    std::string all;
    for (int round = 0; round < 3; ++round) {
      const std::string mine = fmt::format("{}:{};", mesh.rank(), round);
      for (const Bytes& bytes : mesh.all_gather(bytes_of(mine))) all += text_of(bytes);
      mesh.barrier();
    }
    say(all);
    say(fmt::format("{} here", mesh.ranks_on_this_host().size()));
  });
  std::string expected;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t r = 0; r < ranks; ++r) expected += fmt::format("{}:{};", r, round);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    EXPECT_EQ(processes.next(r), expected);
    EXPECT_EQ(processes.next(r), fmt::format("{} here", ranks));
    EXPECT_EQ(processes.next(r), "(end)");
  }
}

TEST_P(MeshMessages, MessagesOfATopicKeepTheirOrder) {
  const std::uint32_t ranks = GetParam();
  MeshRanks processes;
  processes.start_all(ranks, [](const MeshOptions& options, const Say& say) {
    Mesh mesh(options);
    constexpr std::uint32_t kTopics = 3;
    constexpr int kMessages = 200;
    std::mt19937 random(mesh.rank());
    // A sender of its own per topic; to all, itself included.
    std::vector<std::thread> senders;
    for (std::uint32_t topic = 0; topic < kTopics; ++topic) {
      senders.emplace_back([&mesh, topic, seed = random()] {
        std::mt19937 sizes(static_cast<std::uint32_t>(seed));
        for (int i = 0; i < kMessages; ++i) {
          const std::string head = fmt::format("{} {} {} ", mesh.rank(), topic, i);
          const std::string text = head + std::string(sizes() % 3000, 'x');
          for (std::uint32_t to = 0; to < mesh.ranks(); ++to) {
            mesh.send(to, topic, bytes_of(text));
          }
        }
      });
    }
    int wrong = 0;
    for (std::uint32_t topic = kTopics; topic-- > 0;) {
      for (std::uint32_t from = 0; from < mesh.ranks(); ++from) {
        for (int i = 0; i < kMessages; ++i) {
          const std::string text = text_of(mesh.receive(from, topic));
          wrong += !text.starts_with(fmt::format("{} {} {} ", from, topic, i));
        }
        wrong += mesh.try_receive(from, topic).has_value();
      }
    }
    for (std::thread& sender : senders) sender.join();
    mesh.barrier();
    say(fmt::format("{} wrong", wrong));
  });
  for (std::uint32_t r = 0; r < ranks; ++r) {
    EXPECT_EQ(processes.next(r), "0 wrong");
    EXPECT_EQ(processes.next(r), "(end)");
  }
}

// All sizes around where messages are cut into parts, and large ones of all ranks at once.
TEST(Mesh, LargeMessagesArriveWhole) {
  MeshRanks processes;
  processes.start_all(3, [](const MeshOptions& options, const Say& say) {
    Mesh mesh(options);
    const std::uint32_t next = (mesh.rank() + 1) % mesh.ranks();
    const std::uint32_t previous = (mesh.rank() + mesh.ranks() - 1) % mesh.ranks();
    constexpr std::size_t kPart = 256 << 10;
    const std::vector<std::size_t> sizes = {0,         1,         kPart - 1, kPart,
                                            kPart + 1, 2 * kPart, 9'000'000, 3 * kPart + 7};
    for (const std::size_t size : sizes) mesh.send(next, 7, pattern(size, mesh.rank()));
    for (const std::size_t size : sizes) {
      if (mesh.receive(previous, 7) != pattern(size, previous)) say(fmt::format("{}?", size));
    }
    mesh.barrier();
    say("done");
  });
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(processes.next(r), "done");
}

// Who leaves is heard to the end.
TEST(Mesh, FarewellComesAfterAllThatWasSent) {
  MeshRanks processes;
  processes.start_all(3, [](const MeshOptions& options, const Say& say) {
    Mesh mesh(options);
    if (mesh.rank() != 0) {
      mesh.send(0, 1, pattern(5'000'000, mesh.rank()));
      return;
    }
    usleep(100'000);
    for (std::uint32_t from = 1; from < 3; ++from) {
      say(mesh.receive(from, 1) == pattern(5'000'000, from) ? "whole" : "broken");
    }
    say(mesh.any_lost() ? "lost" : "none lost");
    try {
      mesh.receive(2, 1);
    } catch (const hw::PeerLost& error) {
      say(fmt::format("{}: {}", error.rank(), error.what()));
    }
    say(mesh.receive_within(std::chrono::seconds(30), 1, 1) ? "more" : "no more");
  });
  EXPECT_EQ(processes.next(0), "whole");
  EXPECT_EQ(processes.next(0), "whole");
  EXPECT_EQ(processes.next(0), "none lost");
  EXPECT_EQ(processes.next(0), "2: rank 2 has left, and rank 0 still waits for its word");
  EXPECT_EQ(processes.next(0), "no more");
  EXPECT_EQ(processes.next(1), "(end)");
  EXPECT_EQ(processes.next(2), "(end)");
}

TEST(Mesh, ClocksOfOneHostAreTheSame) {
  MeshRanks processes;
  processes.start_all(4, [](const MeshOptions& options, const Say& say) {
    Mesh mesh(options);
    for (int i = 0; i < 2; ++i) {
      mesh.follow_clock();
      const hw::ClockOffset clock = mesh.clock();
      say(fmt::format("{} {}", clock.offset_s, clock.error_s));
      say(mesh.followed_clock().is_one_clock() ? "one clock" : "several");
    }
    mesh.barrier();
  });
  for (std::uint32_t r = 0; r < 4; ++r) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(processes.next(r), "0 0");
      EXPECT_EQ(processes.next(r), "one clock");
    }
  }
}

}  // namespace
}  // namespace slackline
