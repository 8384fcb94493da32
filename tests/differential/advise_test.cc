// Advice against brute force: SimGrid runs every candidate, and the one advised is the fastest.
#include "analysis/advice/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "sched/compile.h"
#include "sim/file_wiring.h"
#include "sim/makespans.h"

namespace slackline {
namespace {

using analysis::AdviceRequest;
using analysis::Candidate;
using analysis::CandidateTable;

std::vector<double> run_in_simgrid(std::span<const Candidate* const> candidates) {
  sim::MakespanRuns runs;
  runs.count = static_cast<std::uint32_t>(candidates.size());
  runs.jobs = 2;
  runs.schedule = [&](std::uint32_t i) { return sched::compile(candidates[i]->spec); };
  runs.platform = [&](std::uint32_t i) -> const machine::Platform& {
    return candidates[i]->platform;
  };
  return sim::simgrid_makespans(runs);
}

AdviceRequest request_for(const std::string& platform, std::uint32_t ranks, std::uint64_t bytes) {
  AdviceRequest request;
  request.ranks = ranks;
  request.bytes = bytes;
  request.platform = machine::load_platform(platform);
  for (const sched::PatternEntry& entry : sched::plan_patterns()) {
    request.patterns.emplace_back(entry.name);
  }
  request.patterns.emplace_back("ring-buffer");
  for (const std::uint64_t block : analysis::usual_blocks(bytes)) {
    if (block * 16 >= bytes) request.blocks.push_back(block);
  }
  for (const char* placement : {"packed", "round-robin", "random:4"}) {
    request.placements.push_back(machine::parse_placement(placement, "placement"));
  }
  return request;
}

TEST(Advise, TakesWhatBruteForceFindsFastest) {
  struct Case {
    const char* platform;
    std::uint32_t ranks;
    std::uint64_t bytes;
  };
  for (const Case& c : {
           Case{"fractus", 7, 1 << 20},
           Case{"star:rate=40Gbps,latency=5us,nic=fair", 6, 300'000},
           Case{"two-level:racks=3,hosts=4,oversubscription=4", 12, 1 << 20},
           Case{"two-level:racks=4,hosts=4,oversubscription=8", 11, 4 << 20},
           Case{"two-level:racks=2,hosts=8,oversubscription=6,nic=fair", 12, 1 << 20},
           Case{"fat-tree:down=4x4,up=1x2,parallel=1x1", 14, 1 << 20},
           Case{"fat-tree:down=2x3x2,up=1x1x1,parallel=1x1x1", 12, 2 << 20},
           Case{"torus:dims=4x4", 13, 1 << 20},
           Case{"apt", 40, 100'000},
       }) {
    const AdviceRequest request = request_for(c.platform, c.ranks, c.bytes);
    CandidateTable table = analysis::candidates_of(request);
    ASSERT_TRUE(table.skipped.empty());
    analysis::predict(table.candidates, sim::wiring_of, 2, {});
    std::uint32_t ran = 0;
    const analysis::Confirmed confirmed =
        analysis::confirm(table.candidates, {},
                          [&](std::span<const Candidate* const> candidates) {
                            ran += static_cast<std::uint32_t>(candidates.size());
                            return run_in_simgrid(candidates);
                          },
                          {});
    EXPECT_EQ(confirmed.count, ran);
    EXPECT_EQ(confirmed.open, 0u) << c.platform;
    EXPECT_LT(ran, table.candidates.size()) << c.platform;

    std::vector<const Candidate*> all;
    for (const Candidate& candidate : table.candidates) all.push_back(&candidate);
    const std::vector<double> times_s = run_in_simgrid(all);
    const std::uint32_t taken = analysis::ranking(table.candidates).front();
    ASSERT_TRUE(table.candidates[taken].confirmed_s.has_value());
    EXPECT_EQ(*table.candidates[taken].confirmed_s, times_s[taken]);
    const double best_s = *std::min_element(times_s.begin(), times_s.end());
    EXPECT_LE(times_s[taken], best_s * (1 + 1e-8)) << c.platform;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double near_s = 1e-9 * times_s[i] + 1e-11;
      const std::string what = format_spec(all[i]->spec) + " on " + all[i]->platform.spec();
      // A flow of SimGrid's that shares a link may end some picoseconds early.
      EXPECT_LE(all[i]->floor_s, times_s[i] * (1 + 1e-6)) << what;
      if (!all[i]->contended) {
        EXPECT_NEAR(all[i]->predicted_s, times_s[i], near_s) << what;
      }
    }
  }
}

TEST(Advise, StopsAtItsBudgetAndSaysWhatIsOpen) {
  const AdviceRequest request =
      request_for("two-level:racks=3,hosts=4,oversubscription=4", 12, 1 << 20);
  CandidateTable table = analysis::candidates_of(request);
  analysis::predict(table.candidates, sim::wiring_of, 2, {});
  const analysis::Confirmed few = analysis::confirm(table.candidates, {1, 0}, run_in_simgrid, {});
  EXPECT_GT(few.open, 0u);
  std::uint32_t open = 0;
  const double best_s = *table.candidates[analysis::ranking(table.candidates).front()].confirmed_s;
  for (const Candidate& c : table.candidates) {
    const double floor_s = c.floor_s * (c.contended ? 1 - 1e-6 : 1);
    open += !c.confirmed_s && floor_s < best_s * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_EQ(few.open, open);
}

TEST(Advise, ConfirmsAPlacementOfEachKindAmongNearTies) {
  AdviceRequest request = request_for("two-level:racks=3,hosts=4,oversubscription=1", 12, 1 << 20);
  request.patterns = {"binomial-pipeline"};
  CandidateTable table = analysis::candidates_of(request);
  analysis::predict(table.candidates, sim::wiring_of, 2, {});
  analysis::confirm(table.candidates, {1, 0}, run_in_simgrid, {});
  std::vector<machine::Placement::Kind> kinds;
  for (const Candidate& c : table.candidates) {
    if (c.confirmed_s) kinds.push_back(c.platform.placement.kind);
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  EXPECT_EQ(kinds.size(), 3u);
}

TEST(Candidates, AreTheTable) {
  // A star has one placement, and racks of its own choosing.
  AdviceRequest request = request_for("fractus", 9, 1 << 20);
  request.patterns = {"chain", "hybrid", "ring-buffer"};
  request.blocks = {1 << 18, 1 << 20, 1 << 21};
  CandidateTable table = analysis::candidates_of(request);
  ASSERT_EQ(table.candidates.size(), 2u * 2 + 1);
  EXPECT_EQ(table.candidates[2].racks, "3 runs");

  // 14 ranks on racks of 4: no even runs.
  request = request_for("two-level:racks=4,hosts=4,oversubscription=2", 14, 1 << 20);
  request.patterns = {"hybrid"};
  request.blocks = {1 << 18};
  table = analysis::candidates_of(request);
  ASSERT_EQ(table.candidates.size(), 6u);
  EXPECT_EQ(table.candidates[1].racks, "the 4 racks");
  EXPECT_TRUE(table.candidates[1].needs_rack_map);
  EXPECT_EQ(table.candidates[1].spec.multicast.rack_of_rank,
            (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3}));
  EXPECT_EQ(table.candidates[3].spec.multicast.rack_of_rank,
            (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1}));

  request.most_ops = 10;
  table = analysis::candidates_of(request);
  EXPECT_TRUE(table.candidates.empty());
  EXPECT_EQ(table.skipped.size(), 6u);

  request.patterns = {"chian"};
  EXPECT_THROW(analysis::candidates_of(request), InputError);
  request.patterns = {"chain"};
  request.ranks = 17;
  EXPECT_THROW(analysis::candidates_of(request), InputError);
}

TEST(Candidates, UsualBlocksSuitTheMessage) {
  EXPECT_EQ(analysis::usual_blocks(0), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(analysis::usual_blocks(1), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(analysis::usual_blocks(10'000), (std::vector<std::uint64_t>{4096, 8192, 10'000}));
  const std::vector<std::uint64_t> large = analysis::usual_blocks(64 << 20);
  EXPECT_EQ(large.front(), 64u << 10);
  EXPECT_EQ(large.back(), 16u << 20);
  EXPECT_FALSE(analysis::usual_blocks(~std::uint64_t{0} >> 1).empty());
}

}  // namespace
}  // namespace slackline
