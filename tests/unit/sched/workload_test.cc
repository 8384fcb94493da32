// The generators of irregular workloads, held to what is published of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "sched/workloads/tasks/access_stream.h"
#include "sched/workloads/tasks/hex_board.h"
#include "sched/workloads/tasks/hex_tree.h"
#include "sched/workloads/tasks/kronecker.h"
#include "sched/workloads/tasks/sha1.h"
#include "sched/workloads/tasks/uts_tree.h"
#include "tests/support/sanitized.h"

namespace slackline::sched {
namespace {

Sha1 sha1_of(const std::string& text) {
  std::string padded = text + '\x80';
  padded.resize((text.size() + 8) / 64 * 64 + 56);
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded += static_cast<char>(std::uint64_t{text.size()} * 8 >> shift);
  }
  Sha1 state = kSha1Start;
  for (std::size_t from = 0; from < padded.size(); from += 64) {
    Sha1Block block{};
    for (std::size_t i = 0; i < 64; ++i) {
      block[i / 4] = block[i / 4] << 8 | static_cast<std::uint8_t>(padded[from + i]);
    }
    state = sha1_compress(state, block);
  }
  return state;
}

// FIPS 180-4's examples.
TEST(Sha1, OfPublishedMessages) {
  EXPECT_EQ(sha1_of("abc"),
            (Sha1{0xa9993e36u, 0x4706816au, 0xba3e2571u, 0x7850c26cu, 0x9cd0d89du}));
  EXPECT_EQ(sha1_of(""), (Sha1{0xda39a3eeu, 0x5e6b4b0du, 0x3255bfefu, 0x95601890u, 0xafd80709u}));
  EXPECT_EQ(sha1_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            (Sha1{0x84983e44u, 0x1c3bd26eu, 0xbaae4aa1u, 0xf95129e5u, 0xe54670f1u}));
  EXPECT_EQ(sha1_of(std::string(1'000'000, 'a')),
            (Sha1{0x34aa973cu, 0xd4c4daa4u, 0xf61eeb2bu, 0xdbad2731u, 0x6534016fu}));
}

// The sample trees of the UTS benchmark: vertices, leaves and depth.
void expect_size(const char* name, std::uint64_t vertices, std::uint64_t leaves,
                 std::uint32_t depth) {
  if (testing::kSanitized) {  // a part of the tree is the same code
    EXPECT_GE(UtsTree(*uts_sample(name)).measure(100'000).vertices, 100'000u);
    return;
  }
  const UtsTree::Size size = UtsTree(*uts_sample(name)).measure();
  EXPECT_EQ(size.vertices, vertices) << name;
  EXPECT_EQ(size.leaves, leaves) << name;
  EXPECT_EQ(size.depth, depth) << name;
}
TEST(UtsTree, OfPublishedSizes) {
  expect_size("T1", 4'130'071, 3'305'118, 10);
  expect_size("T5", 4'147'582, 2'181'318, 20);
  expect_size("T2", 4'117'769, 2'342'762, 81);
  expect_size("T3", 4'112'897, 3'599'034, 1572);
  EXPECT_FALSE(uts_sample("T9").has_value());
}

// The published rule, which takes logarithms.
TEST(UtsTree, ThresholdsAreTheLogarithmsRule) {
  const UtsTree tree({UtsShape::kLinear, 6, 5, 7});
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    Sha1 vertex{};
    vertex[4] = static_cast<std::uint32_t>(draw(1, {i}));
    const std::uint32_t depth = i % 7;
    const double b = 5 * (1 - depth / 6.0);
    const double u = (vertex[4] & 0x7fffffffu) / 2147483648.0;
    const double many = std::floor(std::log(1 - u) / std::log(1 - 1 / (1 + b)));
    ASSERT_EQ(tree.children(vertex, depth), b > 0 ? static_cast<std::uint32_t>(many) : 0u);
  }
}

TEST(UtsTree, MeasuringStopsAtItsLimit) {
  EXPECT_LE(UtsTree(*uts_sample("T1")).measure(1000).vertices, 1200u);
}

TEST(Kronecker, IsDeterministicAndAsSkewedAsItsQuarters) {
  const auto edges = kronecker_edges(10, 16, 1);
  EXPECT_EQ(edges.size(), 16u << 10);
  EXPECT_EQ(edges, kronecker_edges(10, 16, 1));
  EXPECT_NE(edges, kronecker_edges(10, 16, 2));
  // An end has no bit set with (A + B)^scale = 0.76^10: the busiest vertex has that share of them.
  std::map<std::uint32_t, std::uint32_t> first;
  for (const auto& [u, v] : edges) ++first[u];
  std::uint32_t most = 0;
  for (const auto& [u, count] : first) most = std::max(most, count);
  EXPECT_NEAR(most / 16384.0, std::pow(0.76, 10), 0.012);
}

TEST(Kronecker, GraphIsSymmetricWithoutLoopsOrRepeats) {
  const Graph graph = graph_of(1u << 8, kronecker_edges(8, 16, 3));
  for (std::uint32_t u = 0; u < graph.vertices(); ++u) {
    const auto near = graph.neighbours(u);
    EXPECT_TRUE(std::is_sorted(near.begin(), near.end()));
    EXPECT_EQ(std::set(near.begin(), near.end()).size(), near.size());
    for (const std::uint32_t v : near) {
      EXPECT_NE(u, v);
      const auto back = graph.neighbours(v);
      EXPECT_TRUE(std::binary_search(back.begin(), back.end(), u));
    }
  }
}

// Levels by relaxing all edges until nothing changes.
TEST(BreadthFirst, LevelsAreShortestWays) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Graph graph = graph_of(1u << 6, kronecker_edges(6, 2, seed));
    std::vector<std::uint32_t> level(graph.vertices(), kUnreached);
    level[3] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t u = 0; u < graph.vertices(); ++u) {
        if (level[u] == kUnreached) continue;
        for (const std::uint32_t v : graph.neighbours(u)) {
          if (level[v] <= level[u] + 1) continue;
          level[v] = level[u] + 1;
          changed = true;
        }
      }
    }
    EXPECT_EQ(breadth_first_levels(graph, 3), level);
  }
}

TEST(BreadthFirst, EveryBadParentIsFound) {
  const Graph graph = graph_of(1u << 6, kronecker_edges(6, 4, 1));
  const std::uint32_t root = busiest_vertex(graph);
  const auto level = breadth_first_levels(graph, root);
  std::vector<std::uint32_t> parents(graph.vertices(), kUnreached);
  parents[root] = root;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (const std::uint32_t u : graph.neighbours(v)) {
      if (level[v] != kUnreached && v != root && level[u] + 1 == level[v]) parents[v] = u;
    }
  }
  ASSERT_EQ(parents_defect(graph, root, parents), std::nullopt);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (std::uint32_t other = 0; other < graph.vertices(); ++other) {
      const auto near = graph.neighbours(v);
      const bool sound = v == root ? other == root
                                   : level[v] != kUnreached && level[other] + 1 == level[v] &&
                                         std::binary_search(near.begin(), near.end(), other);
      std::vector<std::uint32_t> changed = parents;
      changed[v] = other;
      ASSERT_EQ(parents_defect(graph, root, changed) == std::nullopt, sound) << v << " " << other;
    }
    std::vector<std::uint32_t> lost = parents;
    lost[v] = kUnreached;
    ASSERT_EQ(parents_defect(graph, root, lost).has_value(), parents[v] != kUnreached);
  }
}

TEST(Accesses, AreUniformAndTheirOwn) {
  std::map<std::uint64_t, std::uint32_t> count;
  for (std::uint64_t k = 0; k < 64'000; ++k) ++count[access_of(1, 5, k, 64).word];
  ASSERT_EQ(count.size(), 64u);
  for (const auto& [word, n] : count) EXPECT_NEAR(n, 1000, 160) << word;  // five deviations
  EXPECT_NE(access_of(1, 5, 0, 1 << 30).word, access_of(1, 6, 0, 1 << 30).word);
  EXPECT_NE(access_of(1, 5, 0, 1 << 30).word, access_of(2, 5, 0, 1 << 30).word);
}

TEST(Hex, AFullBoardHasOneWinner) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::vector<std::uint8_t> cells = HexBoard().empty_cells();
    for (auto left = static_cast<std::uint32_t>(cells.size()); left > 1; --left) {
      std::swap(cells[left - 1], cells[below(draw(seed, {left}), left)]);
    }
    const HexBoard board(cells);
    EXPECT_NE(board.joins(HexPlayer::kFirst), board.joins(HexPlayer::kSecond));
    EXPECT_EQ(hex_playout(HexBoard(), seed),
              board.joins(HexPlayer::kFirst) ? HexPlayer::kFirst : HexPlayer::kSecond);
  }
}

TEST(Hex, LinesJoin) {
  std::vector<std::uint8_t> moves;
  for (std::uint8_t i = 0; i < kHexSide; ++i) {
    EXPECT_FALSE(HexBoard(moves).joins(HexPlayer::kFirst));
    moves.push_back(static_cast<std::uint8_t>(i * kHexSide + 4));
    if (i + 1u < kHexSide) moves.push_back(static_cast<std::uint8_t>(i * kHexSide + 7));
  }
  EXPECT_TRUE(HexBoard(moves).joins(HexPlayer::kFirst));
  EXPECT_FALSE(HexBoard(moves).joins(HexPlayer::kSecond));
}

TEST(HexTree, LogarithmsAreRight) {
  for (const std::uint32_t n : {1u, 2u, 3u, 7u, 100u, 1023u, 1'000'003u, 4'000'000'000u}) {
    EXPECT_NEAR(log_of_count(n), std::log(n), 1e-12 * std::max(1.0, std::log(n))) << n;
  }
}

TEST(HexTree, CountsEveryPlayoutOnceAndSpreadsItsOwners) {
  HexTree tree(16, 1);
  constexpr std::uint32_t kRollouts = 600;
  for (std::uint32_t r = 0; r < kRollouts; ++r) {
    std::vector<std::uint32_t> path{0};
    for (HexTree::Step step = tree.descend(0);; step = tree.descend(step.vertex)) {
      if (step.vertex != path.back()) path.push_back(step.vertex);
      if (step.fresh) break;
    }
    const std::uint32_t wins = tree.play_out(path.back(), 16, r);
    for (const std::uint32_t v : path) tree.update(v, 16, wins);
  }
  EXPECT_EQ(tree.vertex(0).visits, 16 * kRollouts);
  EXPECT_EQ(tree.size(), kRollouts + 1);
  std::set<std::uint32_t> owners;
  for (std::uint32_t v = 0; v < tree.size(); ++v) {
    const HexVertex& here = tree.vertex(v);
    EXPECT_EQ(here.under_way, 0u);
    std::uint32_t below_it = 0;
    for (const std::uint32_t c : here.children) below_it += tree.vertex(c).visits;
    EXPECT_EQ(here.visits, below_it + (v == 0 ? 0 : 16));
    owners.insert(here.owner);
  }
  EXPECT_EQ(owners.size(), 16u);
  EXPECT_GT(tree.vertex(0).children.size(), 100u);  // every move is tried before one is again
}

}  // namespace
}  // namespace slackline::sched
