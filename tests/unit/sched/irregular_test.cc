// The parts of irregular patterns: routes, addresses, options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/workloads/tasks/end_points.h"
#include "sched/workloads/tasks/global_address.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every way, walked.
TEST(Hierarchy, EveryMessageArrivesAndItsQueuesAreThoseCounted) {
  for (const auto& [ranks, cores, group] : {std::tuple{1u, 1u, 2u},
                                            {2u, 1u, 2u},
                                            {7u, 1u, 2u},
                                            {9u, 2u, 2u},
                                            {64u, 4u, 4u},
                                            {60u, 4u, 2u},
                                            {100u, 3u, 3u},
                                            {128u, 16u, 8u}}) {
    const Hierarchy hierarchy(ranks, cores, group);
    std::set<std::pair<std::uint32_t, std::uint32_t>> queues;
    std::uint32_t most = 0;
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (std::uint32_t to = 0; to < ranks; ++to) {
        if (from == to) continue;
        std::uint32_t hops = 0;
        for (std::uint32_t at = from; at != to; ++hops) {
          const std::uint32_t next = hierarchy.next(at, to);
          ASSERT_LT(next, ranks);
          ASSERT_NE(next, at);
          queues.insert({at, next});
          at = next;
          ASSERT_LE(hops, ranks);
        }
        EXPECT_EQ(hierarchy.hops(from, to), hops);
        most = std::max(most, hops);
      }
    }
    EXPECT_EQ(hierarchy.queues(), queues.size()) << ranks << " " << cores << " " << group;
    EXPECT_LE(hierarchy.most_hops(), most);
    EXPECT_GE(hierarchy.most_hops() + 1, most);
  }
}

TEST(Hierarchy, RoutersAreTheFirstNodesOfTheirGroups) {
  const Hierarchy hierarchy(64, 1, 4);  // groups of 4 nodes, and of 4 such groups
  EXPECT_EQ(hierarchy.next(5, 6), 6u);
  EXPECT_EQ(hierarchy.next(5, 9), 4u);
  EXPECT_EQ(hierarchy.next(4, 9), 8u);
  EXPECT_EQ(hierarchy.next(8, 9), 9u);
  EXPECT_EQ(hierarchy.next(4, 63), 0u);
  EXPECT_EQ(hierarchy.next(0, 63), 48u);
  EXPECT_EQ(hierarchy.next(48, 63), 60u);
  EXPECT_EQ(hierarchy.hops(5, 63), 5u);
}

TEST(GlobalAddress, LinearMemoryIsStripedInBlocks) {
  EXPECT_THAT(GlobalAddress::linear(0).pieces(64, 3), ElementsAre(LocalPiece{0, 0, 64}));
  EXPECT_THAT(GlobalAddress::linear(60).pieces(72, 3),
              ElementsAre(LocalPiece{0, 60, 4}, LocalPiece{1, 0, 64}, LocalPiece{2, 0, 4}));
  EXPECT_THAT(GlobalAddress::linear(64 * 3 + 8).pieces(8, 3), ElementsAre(LocalPiece{0, 72, 8}));
  // No two bytes share a place, and shares hold them all.
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    std::set<std::pair<std::uint32_t, std::uint64_t>> places;
    for (std::uint64_t byte = 0; byte < 1000; ++byte) {
      const LocalPiece at = GlobalAddress::linear(byte).delegated(1, ranks);
      EXPECT_TRUE(places.insert({at.rank, at.offset}).second);
      EXPECT_LT(at.offset, striped_share(1000, ranks));
    }
  }
}

TEST(GlobalAddress, TwoDimensionalOnesHaveFifteenBitsOfRank) {
  const GlobalAddress last = GlobalAddress::two_dimensional(32767, (1ull << 48) - 8);
  EXPECT_FALSE(last.is_linear());
  EXPECT_EQ(last.bits(), ~0ull - 7);
  EXPECT_THAT(last.pieces(8, 40000), ElementsAre(LocalPiece{32767, (1ull << 48) - 8, 8}));
  EXPECT_THROW(GlobalAddress::two_dimensional(32768, 0), InputError);
  EXPECT_THROW(GlobalAddress::two_dimensional(0, 1ull << 48), InputError);
  EXPECT_THROW(GlobalAddress::linear(1ull << 63), InputError);
}

TEST(GlobalAddress, ALinearDelegateStaysInItsBlock) {
  EXPECT_EQ(GlobalAddress::linear(56).delegated(8, 4).offset, 56u);
  EXPECT_THROW(GlobalAddress::linear(60).delegated(8, 4), InputError);
  EXPECT_EQ(GlobalAddress::two_dimensional(1, 60).delegated(8, 4).offset, 60u);
}

std::string refusal(const std::string& spec) {
  return testing::error_of([&] {
    // Whatever memory there is: what is wrong with a spec is not its size.
    compile(parse_spec(spec), MemoryLimit::of(~std::uint64_t{0}));
  });
}

TEST(IrregularSpecs, BadOnesAreNamed) {
  for (const auto& [spec, why] : {
           std::pair{"random-access:ranks=2,tasks=0", "tasks: "},
           {"random-access:ranks=2,accesses=0", "accesses: "},
           {"random-access:ranks=2,words=0", "words: "},
           {"random-access:ranks=2,words=2147483648,accesses=1", "words: "},
           {"random-access:ranks=40000,address=2d,accesses=1,tasks=1,words=1", "at most 32768"},
           {"random-access:ranks=2,record=0", "record: 0 bytes"},
           {"random-access:ranks=2,record=20", "multiple of 8"},
           {"random-access:ranks=2,by=magic", "by: 'magic'; expected delegate"},
           {"random-access:ranks=2,access=swap", "access: 'swap'"},
           {"random-access:ranks=2,by=cached,cache-bytes=0", "cache-bytes: 0"},
           {"random-access:ranks=2,by=cached,cache-bytes=12", "multiple of 8"},
           {"random-access:ranks=2,by=cached,home=others", "home: others with by=cached"},
           {"random-access:ranks=2,cache=exclusive", "cache: exclusive with by=delegate"},
           {"random-access:ranks=2,by=magic,cache=exclusive", "by: 'magic'; expected delegate"},
           {"random-access:ranks=2,resident=4", "switch-miss: 0 with resident=4; expected no less"},
           {"tree-search:ranks=2,resident=4,switch-miss=37ns", "than switch, 38ns"},
           {"hex-search:ranks=2,switch-miss=90ns", "switch-miss: 90ns with resident=0"},
           {"random-access:ranks=2,by=cached,uses=3", "uses: 3 of a block that nobody owns"},
           {"random-access:ranks=2,aggregation=destination,flush=32", "flush: 32 bytes"},
           {"random-access:ranks=2,aggregation=hierarchical,group=1", "group: 1"},
           {"random-access:ranks=16777216,tasks=64", "operations; expected at most"},
           {"random-access:ranks=8192,tasks=65536,accesses=1", "tasks: 65536"},
           {"random-access:ranks=2,accesses=2147483648", "operations"},
           {"random-access:ranks=2,switch=never", "switch: "},
           {"random-access:ranks=2,age=2000000s", "age: "},
           {"random-access:ranks=2,scale=3", "not an option of random-access"},
           {"tree-search:ranks=2,tree=T9", "tree: 'T9'"},
           {"tree-search:ranks=2,tree=T1L", "more than 16777216 vertices"},
           {"tree-search:ranks=2,tree=T3,depth=4", "binomial"},
           {"breadth-first-search:ranks=2,scale=25", "scale: 25"},
           {"breadth-first-levels:ranks=2,scale=25", "scale: 25"},
           {"breadth-first-levels:ranks=2,edge-factor=1025", "edge-factor: 1025"},
           {"breadth-first-levels:ranks=2,record=8", "record: 8 bytes"},
           {"breadth-first-levels:ranks=5000", "ranks: 5000; expected 1 to 4096"},
           {"breadth-first-levels:ranks=2,tasks=3", "tasks: not an option"},
           {"breadth-first-levels:ranks=2,scale=6,work=3600s", "a level: "},
           {"random-access:ranks=2,by=cached,cache=exclusive,words=8", "a block of 32 at least"},
           {"random-access:ranks=2,by=cached,cache=exclusive,uses=0", "uses: "},
           {"random-access:ranks=16777216,by=cached,cache=exclusive,uses=2147483648,"
            "accesses=2147483648",
            "operations; expected at most"},
           {"random-access:ranks=1,home=others", "home: others"},
           {"random-access:ranks=2,words=4,home=others", "home: others"},
           {"breadth-first-search:ranks=2,scale=0", "scale: "},
           {"hex-search:ranks=2,rollouts=0", "rollouts: "},
           {"hex-search:ranks=2,playouts=5000", "playouts: 5000"},
           {"chain:ranks=2,bytes=8,tasks=3", "tasks: not an option of chain"},
       }) {
    EXPECT_THAT(refusal(spec), HasSubstr(why)) << spec;
  }
}

TEST(IrregularSpecs, AreWrittenAndReadBack) {
  for (const char* text :
       {"random-access:ranks=4",
        "random-access:ranks=4,by=cached,seed=7,tasks=2,switch=50ns,record=40,"
        "aggregation=hierarchical,flush=2KiB,age=10us,cores=2,group=2,accesses=5,words=9,"
        "access=write,address=2d,cache=write-only,cache-bytes=64B",
        "tree-search:ranks=3,work=1us,tree=T5,depth=4",
        "breadth-first-search:ranks=3,scale=4,edge-factor=2,threshold=1",
        "breadth-first-levels:ranks=3,scale=4,edge-factor=2,work=1ns,handler=2ns,record=24,seed=5",
        "random-access:ranks=4,by=cached,cache=exclusive,cache-bytes=64,uses=3,accesses=4",
        "random-access:ranks=4,home=others,accesses=4,resident=3,switch-miss=90ns,work=5ns",
        "hex-search:ranks=3,handler=1us,rollouts=5,playouts=2,bundle=trad"}) {
    const Spec spec = parse_spec(text);
    EXPECT_EQ(format_spec(parse_spec(format_spec(spec))), format_spec(spec));
    EXPECT_EQ(compile(spec).digest(), compile(parse_spec(format_spec(spec))).digest());
  }
  EXPECT_EQ(format_spec(parse_spec("random-access:ranks=4,tasks=16,by=delegate")),
            "random-access:ranks=4");
}

}  // namespace
}  // namespace slackline::sched
