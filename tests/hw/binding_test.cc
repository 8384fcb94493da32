// Where ranks sit: by the rule, on machines of every kind, and for real on this one.
#include "hw/binding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "hw/host_cores.h"
#include "hw/mesh/wire.h"
#include "tests/hw/session_ranks.h"

namespace slackline {
namespace {

using hw::Binding;
using hw::RankSeat;
using ::testing::ElementsAre;
using testing::MeshRanks;
using Cores = std::vector<std::uint32_t>;

Cores upto(std::uint32_t count) {
  Cores cores(count);
  std::iota(cores.begin(), cores.end(), 0u);
  return cores;
}

int by_fours(std::uint32_t core) { return static_cast<int>(core / 4); }
int unknown(std::uint32_t) { return -1; }

TEST(Binding, Names) {
  for (const Binding binding : {Binding::kNone, Binding::kCore, Binding::kNuma}) {
    EXPECT_EQ(hw::binding_named(hw::name(binding)), binding);
  }
  EXPECT_EQ(hw::binding_named("socket"), std::nullopt);
  EXPECT_EQ(hw::binding_named(""), std::nullopt);
}

TEST(Binding, EachRankHasACoreInTurn) {
  const std::vector<RankSeat> ranks(5, RankSeat{{2, 3, 7}, -1});
  EXPECT_THAT(hw::seats_of(Binding::kCore, ranks, unknown),
              ElementsAre(Cores{2}, Cores{3}, Cores{7}, Cores{2}, Cores{3}));
}

TEST(Binding, CoresNearTheTransportComeFirst) {
  const std::vector<RankSeat> ranks(10, RankSeat{upto(8), 1});
  EXPECT_THAT(hw::seats_of(Binding::kCore, ranks, by_fours),
              ElementsAre(Cores{4}, Cores{5}, Cores{6}, Cores{7}, Cores{0}, Cores{1}, Cores{2},
                          Cores{3}, Cores{4}, Cores{5}));
}

// As a launcher may have done it.
TEST(Binding, RanksStayOnTheCoresThatTheyAreAllowed) {
  const std::vector<RankSeat> ranks{{{3}, -1}, {{0, 1}, -1}, {{0, 1}, -1}, {{3, 4}, -1}};
  EXPECT_THAT(hw::seats_of(Binding::kCore, ranks, unknown),
              ElementsAre(Cores{3}, Cores{0}, Cores{1}, Cores{4}));
}

TEST(Binding, ToANodeNearTheTransportWhileItHasRoom) {
  const std::vector<RankSeat> ranks(6, RankSeat{upto(8), 1});
  const auto seats = hw::seats_of(Binding::kNuma, ranks, by_fours);
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(seats[r], (Cores{4, 5, 6, 7})) << r;
  for (std::size_t r = 4; r < 6; ++r) EXPECT_EQ(seats[r], (Cores{0, 1, 2, 3})) << r;
}

TEST(Binding, ToNodesInTurnWhereNoneIsNear) {
  const std::vector<RankSeat> ranks(3, RankSeat{{1, 2, 4, 5}, -1});
  EXPECT_THAT(hw::seats_of(Binding::kNuma, ranks, by_fours),
              ElementsAre(Cores{1, 2}, Cores{4, 5}, Cores{1, 2}));
}

TEST(Binding, WhereNoNodeIsKnownTheRankKeepsItsCores) {
  const std::vector<RankSeat> ranks(2, RankSeat{{1, 2}, 0});
  EXPECT_THAT(hw::seats_of(Binding::kNuma, ranks, unknown), ElementsAre(Cores{1, 2}, Cores{1, 2}));
  EXPECT_THAT(hw::seats_of(Binding::kNone, ranks, by_fours), ElementsAre(Cores{1, 2}, Cores{1, 2}));
}

// Any masks and nodes: seats are allowed ones, and while a rank could have a core for itself it
// has.
TEST(Binding, OnAnyMachine) {
  std::mt19937 random(22);
  const auto below = [&](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  for (int run = 0; run < 2000; ++run) {
    const std::uint32_t cores = 1 + below(12);
    const std::uint32_t per_node = 1 + below(5);
    const auto node_of = [&](std::uint32_t core) { return static_cast<int>(core / per_node); };
    std::vector<RankSeat> ranks(1 + below(16));
    for (RankSeat& rank : ranks) {
      for (std::uint32_t c = 0; c < cores; ++c) {
        if (below(3) != 0) rank.cores.push_back(c);
      }
      if (rank.cores.empty()) rank.cores = {below(cores)};
      rank.near = static_cast<int>(below(5)) - 1;
    }
    std::map<std::uint32_t, int> used;
    const auto seats = hw::seats_of(Binding::kCore, ranks, node_of);
    ASSERT_EQ(seats.size(), ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const Cores& allowed = ranks[r].cores;
      ASSERT_EQ(seats[r].size(), 1u);
      const std::uint32_t seat = seats[r].front();
      ASSERT_THAT(allowed, ::testing::Contains(seat));
      for (const std::uint32_t other : allowed) {
        ASSERT_LE(used[seat], used[other]);
        const bool nearer = node_of(other) == ranks[r].near && node_of(seat) != ranks[r].near;
        ASSERT_FALSE(nearer && used[other] == used[seat]);
      }
      ++used[seat];
    }
    for (const Binding binding : {Binding::kNuma, Binding::kNone}) {
      const auto wide = hw::seats_of(binding, ranks, node_of);
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        ASSERT_FALSE(wide[r].empty());
        std::set<int> nodes;
        for (const std::uint32_t core : wide[r]) nodes.insert(node_of(core));
        if (binding == Binding::kNuma) {
          ASSERT_EQ(nodes.size(), 1u);
        }
        // All that it is allowed there.
        for (const std::uint32_t core : ranks[r].cores) {
          ASSERT_EQ(std::count(wide[r].begin(), wide[r].end(), core), nodes.count(node_of(core)));
        }
        ASSERT_TRUE(std::includes(ranks[r].cores.begin(), ranks[r].cores.end(), wide[r].begin(),
                                  wide[r].end()));
      }
    }
  }
}

TEST(Binding, WhatRanksTellIsReadWithCare) {
  for (const RankSeat& seat : {RankSeat{{0}, -1}, RankSeat{{3, 4, 65'535}, 1}}) {
    hw::Bytes bytes = encode(seat);
    const RankSeat read = hw::decode_rank_seat(bytes);
    EXPECT_EQ(read.cores, seat.cores);
    EXPECT_EQ(read.near, seat.near);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      EXPECT_THROW(hw::decode_rank_seat(std::span(bytes).first(cut)), hw::WireError) << cut;
    }
    bytes.push_back(std::byte{0});
    EXPECT_THROW(hw::decode_rank_seat(bytes), hw::WireError);
  }
  for (const Cores& none : {Cores{}, Cores{65'536}, Cores{1, 1}, Cores{2, 1}}) {
    EXPECT_THROW(hw::decode_rank_seat(encode(RankSeat{none, 0})), hw::WireError);
  }
  EXPECT_EQ(hw::decode_rank_seat(encode(RankSeat{{0}, 65'536})).near, -1);
  // More cores than bytes: nothing is taken for them.
  EXPECT_THROW(hw::decode_rank_seat(hw::WireWriter().u32(0).u32(4'000'000'000).take()),
               hw::WireError);
}

TEST(Binding, CrowdsAreTold) {
  std::vector<RankSeat> ranks(2, RankSeat{{0, 1}, -1});
  EXPECT_EQ(hw::crowding(Binding::kCore, ranks, "h"), "");
  ranks.push_back({{1}, -1});
  EXPECT_EQ(hw::crowding(Binding::kCore, ranks, "h"),
            "--bind core: 3 ranks share 2 cores of h, and take turns there");
  ranks.assign(2, RankSeat{{7}, -1});
  EXPECT_EQ(hw::crowding(Binding::kNuma, ranks, "h"),
            "--bind numa: 2 ranks share 1 core of h, and take turns there");
}

// The mesh's thread is there before, and keeps all cores.
TEST(Binding, RanksOfThisHostAreBound) {
  const Cores all = hw::allowed_cores();
  const auto ranks = static_cast<std::uint32_t>(std::min<std::size_t>(all.size() + 1, 5));
  for (const Binding binding : {Binding::kCore, Binding::kNuma}) {
    MeshRanks processes;
    processes.start_all(ranks, [&](const hw::MeshOptions& options, const MeshRanks::Say& say) {
      hw::Mesh mesh(options);
      const auto transport = testing::transport_named("shm");
      const auto notes = hw::bind_rank(binding, mesh, *transport);
      say(fmt::format("{}", fmt::join(notes, "; ")));
      say(hw::core_list(hw::allowed_cores()));
    });
    const std::vector<RankSeat> seats(ranks, RankSeat{all, -1});
    const auto expected =
        hw::seats_of(binding, seats, [](std::uint32_t core) { return hw::node_of_core(core); });
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::string note = processes.next(r);
      EXPECT_EQ(note.empty(), ranks <= all.size()) << note;
      EXPECT_EQ(processes.next(r), hw::core_list(expected[r])) << r;
    }
  }
}

}  // namespace
}  // namespace slackline
