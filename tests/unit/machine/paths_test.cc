// What messages meet on their way, by figures worked out by hand.
#include "machine/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/error_of.h"
#include "tests/unit/analysis/program.h"

namespace slackline::machine {
namespace {

using sched::ChannelId;
using sched::RankId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Program;
using testing::us;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Two racks of two hosts, rank r on host r. NICs of 1 GB/s, uplinks of 0.5 GB/s; 1 us, and 250 ns
// for each switch after the first: two more from rack to rack.
const char* const kRacks =
    "two-level:racks=2,hosts=2,uplink=4Gbps,hop_latency=250ns,rate=8Gbps,latency=1us";

// A channel from every rank to every other: from `src` to `dst` it is 4 src + dst.
sched::Schedule all_pairs() {
  Program program(4);
  for (std::uint32_t src = 0; src < 4; ++src) {
    for (std::uint32_t dst = 0; dst < 4; ++dst) program.channel(src, dst);
  }
  return program.build();
}

struct Racks {
  Wiring wiring{parse_platform_spec(kRacks), 4};
  Paths paths;

  explicit Racks(const DelayPlan& plan = {}) : paths(all_pairs(), wiring, plan) {}

  PathId id(std::uint32_t src, std::uint32_t dst) const {
    return paths.of(ChannelId(4 * src + dst), false);
  }
  const Path& operator()(std::uint32_t src, std::uint32_t dst) const { return paths[id(src, dst)]; }
  std::vector<std::string> links(std::uint32_t src, std::uint32_t dst) const {
    std::vector<std::string> names;
    for (const LinkId link : paths.links(id(src, dst))) {
      names.push_back(wiring.links()[link.value].name);
    }
    return names;
  }
};

LinkRate rate(std::string link, std::uint64_t gbps, double at_us) {
  return {std::move(link), {gbps * 1'000'000'000}, us(at_us)};
}
Failure failed_link(std::string link, double at_us) {
  return {std::move(link), RankId::none(), us(at_us)};
}
Failure failed_rank(std::uint32_t rank, double at_us) { return {"", RankId(rank), us(at_us)}; }

TEST(Paths, HaveTheLatencyAndTheSlowestLinkOfTheirWay) {
  const Racks racks;
  EXPECT_DOUBLE_EQ(racks(0, 1).latency_s, 1e-6);
  EXPECT_DOUBLE_EQ(racks(0, 1).bytes_per_s, 1e9);
  EXPECT_THAT(racks.links(0, 1), ElementsAre("host-0.out", "host-1.in"));
  EXPECT_DOUBLE_EQ(racks(0, 3).latency_s, 1.5e-6);
  EXPECT_DOUBLE_EQ(racks(0, 3).bytes_per_s, 0.5e9);
  EXPECT_THAT(racks.links(0, 3),
              ElementsAre("host-0.out", "rack-0.up", "rack-1.down", "host-3.in"));
  EXPECT_THAT(racks.links(3, 0),
              ElementsAre("host-3.out", "rack-1.up", "rack-0.down", "host-0.in"));
  EXPECT_THAT(racks.links(2, 2), ElementsAre("host-2.out", "host-2.in"));
  EXPECT_EQ(racks(0, 3).cut_s, kNever);
  EXPECT_EQ(racks(0, 3).change_count, 0u);
  EXPECT_EQ(racks(0, 3).pair_bytes_per_s, 0);
  EXPECT_FALSE(racks.paths.may_fail());
  EXPECT_TRUE(racks.paths.cuts_s().empty());
  EXPECT_TRUE(racks.paths.link_changes().empty());
  // 1000 bytes from 5 us on.
  EXPECT_DOUBLE_EQ(racks.paths.sent_s(5e-6, racks.id(0, 1), 1'000), 6e-6);
  EXPECT_DOUBLE_EQ(racks.paths.sent_s(5e-6, racks.id(0, 3), 1'000), 7e-6);
}

// Replies go the other way; channels between the same ranks have one path.
TEST(Paths, AreOnePerOrderedPair) {
  const Racks racks;
  EXPECT_EQ(racks.paths.size(), 16u);
  for (std::uint32_t src = 0; src < 4; ++src) {
    for (std::uint32_t dst = 0; dst < 4; ++dst) {
      EXPECT_EQ(racks(src, dst).src, RankId(src));
      EXPECT_EQ(racks(src, dst).dst, RankId(dst));
      EXPECT_EQ(racks.paths.of(ChannelId(4 * src + dst), true), racks.id(dst, src));
    }
  }
  Program program(2);
  program.channel(0, 1);
  program.channel(0, 1);
  const Paths two(program.build(), Wiring(Platform(), 2), {});
  EXPECT_EQ(two.size(), 2u);
  EXPECT_EQ(two.of(ChannelId(0), false), two.of(ChannelId(1), false));
}

// What is told in brief is of the path itself, but for figures that are the same of another.
void expect_told_in_brief(const Racks& racks) {
  for (std::uint32_t src = 0; src < 4; ++src) {
    for (std::uint32_t dst = 0; dst < 4; ++dst) {
      const PathId id = racks.id(src, dst);
      const Path& path = racks.paths[id];
      const PathInBrief& brief = racks.paths.in_brief(id);
      EXPECT_EQ(brief.src_nic, path.src_nic);
      EXPECT_EQ(brief.dst_nic, path.dst_nic);
      EXPECT_LE(brief.like, id);
      if (path.change_count != 0) {
        EXPECT_EQ(brief.like, id);
      }
      const Path& like = racks.paths.like(id);
      EXPECT_EQ(like.from_switch, path.from_switch);
      EXPECT_EQ(like.to_switch, path.to_switch);
      EXPECT_EQ(like.local, path.local);
      EXPECT_EQ(like.scale_up, path.scale_up);
      EXPECT_EQ(like.passes_pcie, path.passes_pcie);
      EXPECT_EQ(like.latency_s, path.latency_s);
      EXPECT_EQ(like.bytes_per_s, path.bytes_per_s);
      EXPECT_EQ(like.pair_bytes_per_s, path.pair_bytes_per_s);
      EXPECT_EQ(like.cut_s, path.cut_s);
      EXPECT_EQ(like.change_count, path.change_count);
    }
  }
}

TEST(Paths, AreLikeOthersOfTheSameFigures) {
  const Racks plain;
  expect_told_in_brief(plain);
  EXPECT_EQ(plain.paths.in_brief(plain.id(0, 1)).like, plain.paths.in_brief(plain.id(3, 2)).like);
  EXPECT_EQ(plain.paths.in_brief(plain.id(0, 3)).like, plain.paths.in_brief(plain.id(2, 1)).like);
  EXPECT_NE(plain.paths.in_brief(plain.id(0, 1)).like, plain.paths.in_brief(plain.id(0, 2)).like);
  DelayPlan plan;
  plan.pairs.push_back({RankId(0), RankId(1), {2'000'000'000}});
  plan.pairs.push_back({RankId(2), RankId(0), {6'000'000'000}});
  plan.link_rates = {rate("rack-0.up", 16, 30), rate("rack-0.up", 1, 10)};
  plan.failures = {failed_rank(3, 7), failed_link("host-1.in", 5)};
  expect_told_in_brief(Racks(plan));
  plan.link_rates.clear();
  expect_told_in_brief(Racks(plan));
  plan.failures.clear();
  expect_told_in_brief(Racks(plan));
}

// A pair's own rate binds where it is below the links', and one way only.
TEST(Paths, APairHasARateOfItsOwn) {
  DelayPlan plan;
  plan.pairs.push_back({RankId(0), RankId(1), {2'000'000'000}});
  plan.pairs.push_back({RankId(0), RankId(2), {6'000'000'000}});
  const Racks racks(plan);
  EXPECT_DOUBLE_EQ(racks(0, 1).bytes_per_s, 0.25e9);
  EXPECT_DOUBLE_EQ(racks(0, 1).pair_bytes_per_s, 0.25e9);
  EXPECT_DOUBLE_EQ(racks(1, 0).bytes_per_s, 1e9);
  EXPECT_EQ(racks(1, 0).pair_bytes_per_s, 0);
  EXPECT_DOUBLE_EQ(racks(0, 2).bytes_per_s, 0.5e9);  // the uplink is slower
}

// The uplink has 0.5 GB/s until 10 us, 0.125 until 30 us and 2 from then on, when the NICs are what
// binds. 25,000 bytes that leave at 0 take 10 us for 5,000, 20 us for 2,500 and 17.5 us for 17,500.
TEST(Paths, FollowTheRatesOfTheirLinks) {
  DelayPlan plan;
  plan.link_rates = {rate("rack-0.up", 16, 30), rate("rack-0.up", 1, 10)};
  plan.link_rates.push_back(rate("rack-1.down", 16, 20));
  const Racks racks(plan);
  const PathId up = racks.id(0, 3);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(0, up), 0.5e9);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(9.9e-6, up), 0.5e9);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(10e-6, up), 0.125e9);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(29e-6, up), 0.125e9);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(31e-6, up), 1e9);
  EXPECT_DOUBLE_EQ(racks.paths.sent_s(0, up, 25'000), 47.5e-6);
  EXPECT_DOUBLE_EQ(racks.paths.sent_s(0, up, 5'000), 10e-6);      // ends as the rate changes
  EXPECT_DOUBLE_EQ(racks.paths.sent_s(8e-6, up, 1'250), 12e-6);   // 1,000, then 250
  EXPECT_DOUBLE_EQ(racks.paths.sent_s(10e-6, up, 1'250), 20e-6);  // begins as it changes
  EXPECT_DOUBLE_EQ(racks.paths.sent_s(40e-6, up, 1'000), 41e-6);  // after the last change
  // That of rack-1.down at 20 us changes nothing here, where rack-0.up is slower.
  EXPECT_EQ(racks(0, 3).change_count, 2u);
  EXPECT_EQ(racks(0, 1).change_count, 0u);
  EXPECT_EQ(racks(3, 0).change_count, 0u);
  // What a simulator is to do, by link and time.
  std::vector<std::string> told;
  for (const Paths::LinkChange& change : racks.paths.link_changes()) {
    told.push_back(racks.wiring.links()[change.link.value].name + " " +
                   std::to_string(static_cast<int>(change.at_s * 1e6 + 0.5)) + " us " +
                   std::to_string(static_cast<int>(change.bytes_per_s / 1e6)));
  }
  EXPECT_THAT(told,
              ElementsAre("rack-0.up 10 us 125", "rack-0.up 30 us 2000", "rack-1.down 20 us 2000"));
}

// At 0 it is the rate from the start, and no change.
TEST(Paths, TakeARateFromTheStart) {
  DelayPlan plan;
  plan.link_rates = {rate("host-1.in", 2, 0)};
  const Racks racks(plan);
  EXPECT_DOUBLE_EQ(racks(0, 1).bytes_per_s, 0.25e9);
  EXPECT_DOUBLE_EQ(racks(2, 1).bytes_per_s, 0.25e9);
  EXPECT_DOUBLE_EQ(racks(1, 0).bytes_per_s, 1e9);
  EXPECT_EQ(racks(0, 1).change_count, 0u);
}

// A pair's rate stays the bound while links change around it.
TEST(Paths, APairsRateBindsThroughChanges) {
  DelayPlan plan;
  plan.pairs.push_back({RankId(0), RankId(1), {2'000'000'000}});
  plan.link_rates = {rate("host-1.in", 1, 10), rate("host-1.in", 100, 20)};
  const Racks racks(plan);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(0, racks.id(0, 1)), 0.25e9);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(15e-6, racks.id(0, 1)), 0.125e9);
  EXPECT_DOUBLE_EQ(racks.paths.bytes_per_s(25e-6, racks.id(0, 1)), 0.25e9);
}

// A way is cut by the first of its links and ends to fail.
TEST(Paths, AreCutByTheFirstFailureOnTheirWay) {
  DelayPlan plan;
  plan.failures = {failed_link("rack-0.up", 40), failed_rank(3, 30), failed_link("host-0.in", 20),
                   failed_link("rack-0.up", 50)};
  const Racks racks(plan);
  EXPECT_TRUE(racks.paths.may_fail());
  EXPECT_DOUBLE_EQ(racks(0, 2).cut_s, 40e-6);
  EXPECT_DOUBLE_EQ(racks(0, 3).cut_s, 30e-6);  // before its uplink
  EXPECT_DOUBLE_EQ(racks(3, 2).cut_s, 30e-6);
  EXPECT_DOUBLE_EQ(racks(3, 0).cut_s, 20e-6);
  EXPECT_DOUBLE_EQ(racks(1, 0).cut_s, 20e-6);
  EXPECT_EQ(racks(0, 1).cut_s, kNever);  // out of host 0 and not up
  EXPECT_EQ(racks(2, 1).cut_s, kNever);  // down into rack 0
  EXPECT_DOUBLE_EQ(racks.paths.gone_s(RankId(3)), 30e-6);
  EXPECT_EQ(racks.paths.gone_s(RankId(0)), kNever);  // its link is, not the rank
  const std::vector<double> cuts(racks.paths.cuts_s().begin(), racks.paths.cuts_s().end());
  EXPECT_THAT(cuts, ElementsAre(::testing::DoubleEq(20e-6), ::testing::DoubleEq(30e-6),
                                ::testing::DoubleEq(40e-6)));
}

TEST(Paths, ARankFailsAtTheFirstOfItsTimes) {
  DelayPlan plan;
  plan.failures = {failed_rank(1, 9), failed_rank(1, 4)};
  const Racks racks(plan);
  EXPECT_DOUBLE_EQ(racks.paths.gone_s(RankId(1)), 4e-6);
  EXPECT_DOUBLE_EQ(racks(0, 1).cut_s, 4e-6);
  EXPECT_DOUBLE_EQ(racks(1, 1).cut_s, 4e-6);
}

std::string refusal_of(const DelayPlan& plan) {
  return testing::error_of([&] { const Racks racks(plan); });
}

TEST(Paths, RefuseWhatTheNetworkDoesNotHave) {
  DelayPlan plan;
  plan.link_rates = {rate("rack-2.up", 1, 0)};
  EXPECT_THAT(refusal_of(plan), HasSubstr("the platform has no link 'rack-2.up'"));
  plan.link_rates = {rate("rack-0.up", 0, 0)};
  EXPECT_THAT(refusal_of(plan), HasSubstr("a rate of 0"));
  plan.link_rates = {rate("rack-0.up", 1, 7), rate("rack-0.up", 2, 7)};
  EXPECT_THAT(refusal_of(plan), HasSubstr("two rates from the same moment on"));
  plan.link_rates.clear();
  plan.failures = {failed_link("host-4.in", 0)};
  EXPECT_THAT(refusal_of(plan), HasSubstr("the platform has no link 'host-4.in'"));
  plan.failures = {failed_rank(4, 0)};
  EXPECT_THAT(refusal_of(plan), HasSubstr("rank 4 does not exist; expected 0 to 3"));
}

}  // namespace
}  // namespace slackline::machine
