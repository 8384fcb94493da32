// Meshes whose ranks are not all connected from the beginning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bitset>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "hw/mesh/gathering.h"
#include "hw/mesh/neighbours.h"
#include "hw/mesh/wire.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/support/asked_count.h"
#include "tests/support/sanitized.h"

namespace slackline {
namespace {

using hw::are_neighbours;
using hw::Bytes;
using hw::Mesh;
using hw::MeshOptions;
using testing::MeshRanks;
using namespace std::chrono_literals;

TEST(Neighbours, AreFewAndConnectAllRanksWhoeverIsGone) {
  constexpr std::uint32_t kMost = 200;
  using Ranks = std::bitset<kMost>;
  for (std::uint32_t n = 1; n <= kMost; ++n) {
    std::vector<Ranks> neighbours(n);
    for (std::uint32_t one = 0; one < n; ++one) {
      for (std::uint32_t other = 0; other < n; ++other) {
        neighbours[one][other] = are_neighbours(one, other, n, 1);
      }
    }
    for (std::uint32_t gone = 0; gone < n; ++gone) {
      Ranks reached, asked;
      if (n > 1) reached.set(gone == 0 ? 1 : 0);
      while (asked != reached) {
        for (std::uint32_t one = 0; one < n; ++one) {
          if (!reached[one] || asked[one]) continue;
          asked.set(one);
          reached |= neighbours[one];
          reached.reset(gone);
        }
      }
      ASSERT_EQ(reached.count(), n - 1) << n << " ranks without " << gone;
    }
    for (std::uint32_t one = 0; one < n; ++one) {
      std::uint32_t count = 0;
      for (std::uint32_t other = 0; other < n; ++other) {
        count += are_neighbours(one, other, n, 1) ? 1 : 0;
        EXPECT_EQ(are_neighbours(one, other, n, 1), are_neighbours(other, one, n, 1));
        EXPECT_EQ(are_neighbours(one, other, n, n), one != other);
      }
      EXPECT_LE(count, one == 0 ? n - 1 : hw::neighbours_of_rank(n, 1));
    }
  }
  EXPECT_EQ(hw::neighbours_of_rank(64), 63);
  EXPECT_EQ(hw::neighbours_of_rank(512), 19);
  EXPECT_FALSE(are_neighbours(1, 4, 512));
}

Bytes given_by(std::uint32_t rank) {
  Bytes bytes((rank * 7919) % 50);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(rank + i);
  return bytes;
}

// All ranks of one gathering, in one process: each tells neighbours alone.
TEST(Gathering, BringsAllToAllOverNeighboursAlone) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    std::vector<hw::Gathering> ranks;
    for (std::uint32_t r = 0; r < n; ++r) ranks.emplace_back(r, n, given_by(r));
    int rounds = 0;
    for (; !ranks[0].done(); ++rounds) {
      std::vector<Bytes> told;
      for (const hw::Gathering& rank : ranks) told.push_back(rank.told());
      for (std::uint32_t r = 0; r < n; ++r) {
        const std::uint32_t from = ranks[r].from();
        ASSERT_TRUE(are_neighbours(r, from, n, 1));
        ASSERT_EQ(n == 1 ? r : (from + n - (r + n - ranks[r].to()) % n) % n, r);
        ranks[r].take(told[from]);
      }
    }
    EXPECT_EQ(1u << rounds >= n, true);
    EXPECT_EQ(rounds == 0 || 1u << (rounds - 1) < n, true);
    for (hw::Gathering& rank : ranks) {
      ASSERT_TRUE(rank.done());
      const std::vector<Bytes> all = std::move(rank).all();
      ASSERT_EQ(all.size(), n);
      for (std::uint32_t r = 0; r < n; ++r) ASSERT_EQ(all[r], given_by(r));
    }
  }
}

TEST(Gathering, RefusesWhatIsNoPartOfIt) {
  const Bytes own(5);
  const auto refused = [&](const Bytes& bytes) {
    hw::Gathering gathering(1, 3, own);
    try {
      gathering.take(bytes);
    } catch (const hw::WireError&) {
      return true;
    }
    return false;
  };
  const Bytes right = hw::Gathering(2, 3, own).told();
  EXPECT_FALSE(refused(right));
  for (std::size_t size = 0; size < right.size(); ++size) {
    EXPECT_TRUE(refused(Bytes(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(size))));
  }
  Bytes more = right;
  more.push_back(std::byte{0});
  EXPECT_TRUE(refused(more));
  EXPECT_TRUE(refused(hw::WireWriter().u64(~std::uint64_t{0}).raw(own).take()));
}

MeshOptions sparse(MeshOptions options) {
  options.full_up_to = 1;
  return options;
}

std::size_t word(const Bytes& bytes) {
  std::size_t sum = bytes.size() * 31;
  for (const std::byte one : bytes) sum = sum * 33 + std::to_integer<std::size_t>(one);
  return sum;
}

Bytes random_bytes(std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(random() % 3 == 0 ? random() % 700'000 : random() % 100);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random());
  return bytes;
}

// Everybody tells everybody something at once, so that those that are no neighbours call each
// other, many from both sides; then all leave.
TEST(SparseMesh, AllTellAll) {
  constexpr std::uint32_t kRanks = 13;
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    ranks.start(sparse(ranks.options(r, kRanks)),
                [](const MeshOptions& options, const MeshRanks::Say& say) {
                  Mesh mesh(options);
                  for (std::uint32_t round = 0; round < 5; ++round) {
                    const auto all = mesh.all_gather(given_by(mesh.rank() + round));
                    for (std::uint32_t from = 0; from < kRanks; ++from) {
                      if (all[from] != given_by(from + round)) say("gathered wrongly");
                    }
                  }
                  for (std::uint32_t to = 0; to < kRanks; ++to) {
                    for (std::uint32_t i = 0; i < 3; ++i) {
                      mesh.send(to, i % 2, random_bytes(mesh.rank() * 1000 + to * 10 + i));
                    }
                  }
                  for (std::uint32_t from = kRanks; from-- > 0;) {
                    for (const std::uint32_t i : {1u, 0u, 2u}) {
                      const Bytes got = mesh.receive(from, i % 2);
                      if (word(got) != word(random_bytes(from * 1000 + mesh.rank() * 10 + i))) {
                        say(fmt::format("wrong from {}", from));
                      }
                    }
                  }
                  say(fmt::format("{} lost", mesh.lost().size()));
                });
  }
  for (std::size_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "0 lost");
  for (std::size_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "(end)");
}

// Pairs that are no neighbours meet at random moments, from one side, the other or both.
TEST(SparseMesh, PairsMeetAtAnyMoment) {
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    constexpr std::uint32_t kRanks = 9;
    MeshRanks ranks;
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      ranks.start(sparse(ranks.options(r, kRanks)),
                  [seed](const MeshOptions& options, const MeshRanks::Say& say) {
                    Mesh mesh(options);
                    std::mt19937 random(seed * 100 + options.rank);
                    mesh.barrier();
                    for (std::uint32_t to = 0; to < kRanks; ++to) {
                      std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
                      mesh.send((to + options.rank) % kRanks, 3,
                                random_bytes(static_cast<std::uint32_t>(random())));
                    }
                    // Who leaves early is no loss for who hears it late.
                    std::uint32_t heard = 0;
                    for (std::uint32_t from = 0; from < kRanks; ++from) {
                      if (mesh.receive_within(30s, from, 3)) ++heard;
                    }
                    say(fmt::format("{} heard, {} lost", heard, mesh.lost().size()));
                  });
    }
    for (std::size_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "9 heard, 0 lost");
    for (std::size_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "(end)");
  }
}

TEST(SparseMesh, WhoWaitsForARankThatHasLeftIsTold) {
  constexpr std::uint32_t kRanks = 12;  // of 12, ranks 1 and 4 are no neighbours
  ASSERT_FALSE(are_neighbours(1, 4, kRanks, 1));
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    MeshOptions options = sparse(ranks.options(r, kRanks));
    options.failure_timeout = 3s;
    ranks.start(options, [](const MeshOptions& own, const MeshRanks::Say& say) {
      Mesh mesh(own);
      mesh.barrier();
      if (own.rank == 4) return say("leaves");
      if (own.rank == 1) {
        try {
          mesh.receive(4, 1);
        } catch (const hw::PeerLost& error) {
          say(fmt::format("{}: {}", error.rank(), error.what()));
        }
        say(mesh.receive_within(20s, 4, 1) ? "heard" : "not heard");
        mesh.send(4, 1, Bytes(10));
      }
      say(fmt::format("{} lost", mesh.lost().size()));
    });
  }
  EXPECT_EQ(ranks.next(4), "leaves");
  EXPECT_EQ(ranks.next(1), "4: rank 4 has left, and rank 1 still waits for its word");
  EXPECT_EQ(ranks.next(1), "not heard");
  for (std::size_t r = 0; r < kRanks; ++r) {
    if (r != 4) {
      EXPECT_EQ(ranks.next(r), "0 lost");
    }
    EXPECT_EQ(ranks.next(r), "(end)");
  }
}

TEST(SparseMesh, SurvivorsThatAreNoNeighboursCanTalk) {
  constexpr std::uint32_t kRanks = 12;
  for (const std::size_t victim : {std::size_t{0}, std::size_t{2}}) {
    MeshRanks ranks;
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      ranks.start(sparse(ranks.options(r, kRanks)),
                  [victim](const MeshOptions& options, const MeshRanks::Say& say) {
                    Mesh mesh(options);
                    mesh.barrier();
                    say("joined");
                    try {
                      mesh.receive(static_cast<std::uint32_t>(victim), 1);
                    } catch (const hw::PeerLost& error) {
                      say(fmt::format("{} lost", error.rank()));
                    }
                    const std::uint32_t other = options.rank == 1 ? 4 : 1;
                    if (options.rank == 1 || options.rank == 4) {
                      mesh.send(other, 4, Bytes(100));
                      say(mesh.receive_within(30s, other, 4) ? "heard" : "not heard");
                    }
                    std::this_thread::sleep_for(300ms);
                    say(fmt::format("{} in all", mesh.lost().size()));
                  });
    }
    for (std::size_t r = 0; r < kRanks; ++r) ASSERT_EQ(ranks.next(r), "joined");
    ranks.signal(victim, SIGKILL);
    for (std::size_t r = 0; r < kRanks; ++r) {
      if (r == victim) continue;
      EXPECT_EQ(ranks.next(r), fmt::format("{} lost", victim));
      if (r == 1 || r == 4) {
        EXPECT_EQ(ranks.next(r), "heard");
      }
      EXPECT_EQ(ranks.next(r), "1 in all");
      EXPECT_EQ(ranks.next(r), "(end)");
    }
  }
}

// More ranks than are all connected: SLACKLINE_MESH_RANKS says how many. When one of them ends, all
// others name it, whether they are its neighbours or not, and wait for a rank that is there or not.
TEST(SparseMesh, ManyRanksJoinGatherAndNameALostOne) {
  const std::uint32_t count =
      testing::asked_count("SLACKLINE_MESH_RANKS", testing::kSanitized ? 66 : 80);
  ASSERT_GT(count, hw::kFullMeshRanks);
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < count; ++r) {
    MeshOptions options = ranks.options(r, count);
    options.join_timeout = 120s;
    ranks.start(options, [](const MeshOptions& own, const MeshRanks::Say& say) {
      const auto begin = std::chrono::steady_clock::now();
      Mesh mesh(own);
      const auto joined = std::chrono::steady_clock::now();
      for (int i = 0; i < 10; ++i) {
        const auto all = mesh.all_gather(given_by(own.rank));
        for (std::uint32_t from = 0; from < own.ranks; ++from) {
          if (all[from] != given_by(from)) return say("gathered wrongly");
        }
      }
      mesh.barrier();
      const std::chrono::duration<double> join_time = joined - begin;
      const std::chrono::duration<double> gather_time = std::chrono::steady_clock::now() - joined;
      say(fmt::format("there {} {}", join_time.count(), gather_time.count() / 10));
      // Half of them in the mesh, half of them where they sleep otherwise.
      if (own.rank % 2 == 0) {
        try {
          mesh.receive(0, 1);
          return say("heard what nobody said");
        } catch (const hw::PeerLost&) {
        }
      } else {
        pollfd entry{mesh.lost_descriptor(), POLLIN, 0};
        while (poll(&entry, 1, -1) != 1) {
        }
      }
      const auto lost = mesh.lost();
      say(fmt::format("lost {} of {}", lost[0].rank, lost.size()));
    });
  }
  std::string slowest;
  for (std::uint32_t r = 0; r < count; ++r) {
    slowest = ranks.next(r);
    ASSERT_THAT(slowest, ::testing::StartsWith("there ")) << "rank " << r;
  }
  RecordProperty("join_s_and_gather_s", slowest);
  const std::uint32_t victim = count / 3;
  ranks.signal(victim, SIGKILL);
  for (std::uint32_t r = 0; r < count; ++r) {
    if (r == victim) continue;
    ASSERT_EQ(ranks.next(r), fmt::format("lost {} of 1", victim));
  }
}

}  // namespace
}  // namespace slackline
