// Streams may be longer than schedules: what they count must not come round.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/engines/stream.h"
#include "analysis/engines/stream_noise.h"
#include "tests/support/error_of.h"

namespace slackline::analysis {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& spec, const machine::DelayPlan& plan = {}) {
  return testing::error_of([&] {
    stream(sched::parse_spec(spec), machine::parse_platform_spec("star:rate=100Gbps,o_post=1us"),
           plan);
  });
}

TEST(StreamLimits, DrawsOfARanksLaterOperationsAreItsOwn) {
  machine::DelayPlan plan;
  plan.seed = 7;
  plan.noise.resize(1);
  plan.noise[0].of.kind = machine::Distribution::Kind::kUniform;
  plan.noise[0].of.high = sched::Time{1'000'000'000};
  StreamFigures figures;
  figures.ranks = 2;
  const OneNoise noise(plan, figures);
  constexpr std::uint64_t kRound = std::uint64_t{1} << 32;
  for (const std::uint64_t index : {std::uint64_t{0}, kRound - 1, kRound, kRound + 1, 5 * kRound}) {
    double lane_s[1];
    double post_s[1];
    std::int64_t inexact[1] = {0};
    noise.draw(1, index, Hold::kPost, lane_s, post_s, inexact);
    EXPECT_DOUBLE_EQ(lane_s[0], sched::seconds(plan.noise[0].of.draw(7, 1, 0, index))) << index;
  }
}

TEST(StreamLimits, BytesThatNoSumHoldsAreRefused) {
  // 2^62 bytes, sent four times by the root of a tree of 16: 2^64.
  const std::string tree =
      "binomial-tree:ranks=16,bytes=4611686018427387904,"
      "block=4611686018427387904";
  EXPECT_EQ(refusal(tree),
            "bytes: 4611686018427387904 to 15 ranks: the messages carry 2^63 bytes or more in all; "
            "expected less");
  EXPECT_EQ(refusal("binomial-tree:ranks=2,bytes=4611686018427387904,block=4611686018427387904"),
            "");
}

TEST(StreamLimits, AStragglersTimesEnd) {
  machine::DelayPlan plan;
  plan.stragglers = {{sched::RankId(1), 1e300, {}}};
  const std::string spec = "binomial-tree:ranks=2,bytes=1MiB,block=1MiB";
  EXPECT_EQ(refusal(spec, plan),
            "delay plan: straggler 1: delays of 106 days or more; expected less");
  // Posts of 1 us; a copy takes far longer, but only where there is one.
  plan.stragglers[0].slowdown = 1e12;
  EXPECT_EQ(refusal(spec, plan), "");
  EXPECT_THAT(refusal(spec + ",first-block=copy", plan), HasSubstr("delays of 106 days or more"));
  plan.stragglers[0].rank = sched::RankId(0);
  EXPECT_EQ(refusal(spec + ",first-block=copy", plan), "");
}

}  // namespace
}  // namespace slackline::analysis
