// What is tried, in which order: blocks, placements that differ, racks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/advice/advise.h"
#include "base/error.h"

namespace slackline::analysis {
namespace {

AdviceRequest request_for(const std::string& platform, std::uint32_t ranks) {
  AdviceRequest request;
  request.ranks = ranks;
  request.bytes = 1 << 20;
  request.platform = machine::parse_platform_spec(platform);
  request.patterns = {"chain"};
  request.blocks = {1 << 18};
  for (const char* placement : {"packed", "round-robin", "random:4", "packed"}) {
    request.placements.push_back(machine::parse_placement(placement, "placement"));
  }
  return request;
}

std::vector<std::string> rows(const std::vector<Candidate>& candidates) {
  std::vector<std::string> all;
  for (const Candidate& c : candidates) {
    all.push_back(fmt::format("{} {} {} {}{}", c.spec.pattern, c.spec.multicast.block_bytes,
                              machine::format_placement(c.platform.placement), c.racks,
                              c.needs_rack_map ? "!" : ""));
  }
  return all;
}

using Rows = std::vector<std::string>;

TEST(AdviceCandidates, BlocksAreThoseWorthTrying) {
  using Blocks = std::vector<std::uint64_t>;
  EXPECT_EQ(usual_blocks(0), (Blocks{1}));
  EXPECT_EQ(usual_blocks(1), (Blocks{1}));
  EXPECT_EQ(usual_blocks(4096), (Blocks{4096}));
  EXPECT_EQ(usual_blocks(4097), (Blocks{4096, 4097}));
  EXPECT_EQ(usual_blocks(16384), (Blocks{4096, 8192, 16384}));
  // A 1024th of the message and 16 MiB are the ends.
  const Blocks of_8_mib = usual_blocks(8 << 20);
  EXPECT_EQ(of_8_mib.front(), 8192u);
  EXPECT_EQ(of_8_mib.back(), 8u << 20);
  EXPECT_EQ(of_8_mib.size(), 11u);
  EXPECT_EQ(usual_blocks(16 << 20).back(), 16u << 20);
  EXPECT_EQ(usual_blocks((16 << 20) + 1).back(), 16u << 20);
  EXPECT_EQ(usual_blocks(std::uint64_t{16} << 30), (Blocks{16 << 20}));
  // Where no power of two is left there is the message itself.
  EXPECT_EQ(usual_blocks(std::uint64_t{1} << 40), (Blocks{std::uint64_t{1} << 40}));
}

TEST(AdviceCandidates, StripesAreTriedWhereTheyTakeSeveralNics) {
  using Stripes = std::vector<std::uint32_t>;
  const auto usual = [](const char* platform) {
    return usual_stripes(machine::parse_platform_spec(platform));
  };
  EXPECT_EQ(usual("star:rate=100Gbps"), (Stripes{1}));
  EXPECT_EQ(usual("star:rate=100Gbps,rails=4"), (Stripes{1}));  // all would take one
  EXPECT_EQ(usual("star:rate=100Gbps,rails=4,rail=channel"), (Stripes{1, 4}));
  EXPECT_EQ(usual("star:rate=100Gbps,rails=2,rail=pair"), (Stripes{1, 2}));
  AdviceRequest request = request_for("star:rate=100Gbps,rails=2,rail=channel", 4);
  request.patterns = {"chain", "ring-buffer"};  // of which the second has none
  request.stripes = {3, 1, 3};
  std::vector<std::uint32_t> tried;
  for (const Candidate& c : candidates_of(request).candidates) tried.push_back(c.spec.stripes);
  EXPECT_EQ(tried, (Stripes{1, 3, 1}));
}

TEST(AdviceCandidates, PlacementsCountOnceForTheSameHosts) {
  EXPECT_EQ(rows(candidates_of(request_for("star:rate=100Gbps", 6)).candidates),
            (Rows{"chain 262144 packed "}));
  EXPECT_EQ(rows(candidates_of(request_for("two-level:racks=2,hosts=4", 6)).candidates),
            (Rows{"chain 262144 packed ", "chain 262144 round-robin ", "chain 262144 random:4 "}));
  // One rack: packed and round-robin come to the same.
  EXPECT_EQ(rows(candidates_of(request_for("two-level:racks=1,hosts=6", 6)).candidates),
            (Rows{"chain 262144 packed ", "chain 262144 random:4 "}));
}

TEST(AdviceCandidates, BlocksAreCutSortedAndTakenOnce) {
  AdviceRequest request = request_for("star:rate=100Gbps", 4);
  request.blocks = {1 << 21, 4096, 1 << 20, 8192, 4096};
  EXPECT_EQ(rows(candidates_of(request).candidates),
            (Rows{"chain 4096 packed ", "chain 8192 packed ", "chain 1048576 packed "}));
  request.bytes = 0;
  EXPECT_EQ(rows(candidates_of(request).candidates), (Rows{"chain 1 packed "}));
  // What has no blocks comes once.
  request.patterns = {"ring-buffer"};
  EXPECT_EQ(candidates_of(request).candidates.size(), 1u);
  request.patterns = {"no-such"};
  EXPECT_THROW(candidates_of(request), InputError);
}

TEST(AdviceCandidates, RacksAreTheUsualAndThePlatforms) {
  const auto racks = [](const std::string& platform, std::uint32_t ranks,
                        const std::string& placement = "packed") {
    AdviceRequest request = request_for(platform, ranks);
    request.patterns = {"hybrid"};
    request.placements = {machine::parse_placement(placement, "placement")};
    Rows all;
    for (const Candidate& c : candidates_of(request).candidates) {
      EXPECT_EQ(c.spec.multicast.rack_of_rank.size(), ranks);
      all.push_back(c.racks + (c.needs_rack_map ? "!" : ""));
    }
    return all;
  };
  EXPECT_EQ(racks("star:rate=100Gbps", 9), (Rows{"3 runs"}));
  EXPECT_EQ(racks("two-level:racks=1,hosts=9", 9), (Rows{"3 runs"}));
  EXPECT_EQ(racks("two-level:racks=3,hosts=3", 9), (Rows{"the 3 racks"}));
  EXPECT_EQ(racks("two-level:racks=2,hosts=4", 8), (Rows{"3 runs", "the 2 racks"}));
  EXPECT_EQ(racks("two-level:racks=2,hosts=8", 9), (Rows{"3 runs", "the 2 racks!"}));
  EXPECT_EQ(racks("two-level:racks=2,hosts=4", 8, "round-robin"), (Rows{"3 runs", "the 2 racks!"}));
  EXPECT_EQ(racks("two-level:racks=8,hosts=2", 9, "round-robin"), (Rows{"3 runs", "the 8 racks!"}));
  // Every rank a rack of its own is none.
  EXPECT_EQ(racks("two-level:racks=9,hosts=1", 9), (Rows{"3 runs"}));
}

TEST(AdviceCandidates, LargeOnesAreSkipped) {
  AdviceRequest request = request_for("star:rate=100Gbps", 4);
  const std::uint64_t ops = candidates_of(request).candidates.front().ops;
  EXPECT_GT(ops, 0u);
  request.most_ops = ops;
  EXPECT_EQ(candidates_of(request).candidates.size(), 1u);
  request.most_ops = ops - 1;
  const CandidateTable table = candidates_of(request);
  EXPECT_TRUE(table.candidates.empty());
  EXPECT_EQ(table.skipped.size(), 1u);
}

}  // namespace
}  // namespace slackline::analysis
