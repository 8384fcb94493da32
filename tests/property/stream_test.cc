// Streams against the engines that have the schedule: the same times wherever a stream answers.
#include "analysis/engines/stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/longest_path.h"
#include "base/error.h"
#include "sched/pattern/pattern.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using analysis::Stream;
using machine::DelayPlan;
using machine::Platform;
using sched::RankId;
using sched::Spec;
using sched::Time;
using testing::Dice;

// Of those that can be streamed.
Spec random_spec(Dice& dice, std::string_view pattern) {
  const std::uint64_t block = 30'000 + dice.below(100'000);
  const std::uint64_t last = 20'001 + dice.below(static_cast<std::uint32_t>(block - 20'000));
  const std::uint32_t ranks = 1 + dice.below(40);
  return sched::parse_spec(fmt::format(
      "{}:ranks={},bytes={},block={},root={},in-flight={},lower={},first-block={}", pattern, ranks,
      block * dice.below(12) + last, block, dice.below(ranks), dice.one_in(4) ? 0 : 1,
      dice.one_in(2) ? "send" : "put", dice.one_in(2) ? "direct" : "copy"));
}

Platform random_platform(Dice& dice, const Spec& spec) {
  const bool fair = spec.transfers.in_flight == 1 && dice.one_in(3);
  Platform platform = testing::random_platform(
      dice, fair ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial);
  platform.o_post = Time{dice.pick({1'000, 150'000, 400'000})};
  if (platform.latency.count() == 0 && platform.o_complete.count() == 0) {
    platform.latency = Time{100'000};
  }
  return platform;
}

machine::Noise random_noise(Dice& dice) {
  using Kind = machine::Distribution::Kind;
  machine::Noise noise;
  noise.of.kind = dice.pick({Kind::kUniform, Kind::kUniform, Kind::kConstant, Kind::kExponential,
                             Kind::kLognormal, Kind::kTrace});
  noise.of.low = Time{dice.below(100'000)};
  noise.of.high = noise.of.low + Time{dice.below(3'000'000)};
  noise.of.mean = Time{dice.below(2'000'000)};
  noise.of.median = Time{dice.below(500'000)};
  noise.of.sigma = 1.1;
  noise.of.values = {Time{0}, Time{300'000}, Time{5'000'000}};
  if (dice.one_in(2)) noise.chance = {dice.below(1'000'001)};
  noise.whole_lane = !dice.one_in(3);
  if (dice.one_in(3)) noise.ranks = {RankId(0)};
  return noise;
}

DelayPlan random_delays(Dice& dice, std::uint32_t ranks) {
  DelayPlan plan;
  plan.seed = dice.below(1000);
  for (std::uint32_t i = dice.below(3); i > 0; --i) plan.noise.push_back(random_noise(dice));
  if (dice.one_in(2)) {
    plan.stragglers.push_back(
        {RankId(dice.below(ranks)), 1 + 0.37 * dice.below(9), Time{dice.below(200'000)}});
  }
  return plan;
}

class Streams : public ::testing::TestWithParam<std::string> {};

TEST_P(Streams, AreTheLongestPath) {
  std::uint32_t answered = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const Spec spec = random_spec(dice, GetParam());
    const Platform platform = random_platform(dice, spec);
    const DelayPlan plan = dice.one_in(3) ? DelayPlan{} : random_delays(dice, spec.multicast.ranks);
    const auto stream = analysis::stream(spec, platform, plan);
    ASSERT_EQ(analysis::why_not_streamed(spec, platform, plan), std::nullopt) << seed;
    const sched::Schedule schedule = compile(spec);
    const auto longest = analysis::longest_path({schedule, platform, plan});
    ASSERT_TRUE(stream);
    // One may find what the other does not need to ask for; but whoever answers is right.
    if (!stream->exact) continue;
    ++answered;
    const sched::Trace trace =
        longest ? *longest : analysis::run_analytic({schedule, platform, plan});
    const std::vector<double> finish_s = machine::rank_finish_s(schedule, trace.ops);
    SCOPED_TRACE(fmt::format("seed {}: {} on {}", seed, format_spec(spec), platform.spec()));
    if (longest) {
      ASSERT_EQ(stream->makespan_s, trace.makespan_s());
      ASSERT_EQ(stream->rank_finish_s, finish_s);
    } else {
      ASSERT_NEAR(stream->makespan_s, trace.makespan_s(), 1e-9 * trace.makespan_s());
    }
    EXPECT_FALSE(trace.contended);
    std::uint64_t received = 0;
    for (const std::uint64_t bytes : stream->received_bytes) received += bytes;
    EXPECT_GE(received, spec.multicast.bytes * (spec.multicast.ranks - 1));
  }
  EXPECT_GT(answered, 100u);
}

TEST_P(Streams, SampleAsSchedulesAre) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    Dice dice(seed + 1000);
    const Spec spec = random_spec(dice, GetParam());
    const Platform platform = random_platform(dice, spec);
    DelayPlan plan = random_delays(dice, spec.multicast.ranks);
    plan.noise.push_back(random_noise(dice));
    const sched::Schedule schedule = compile(spec);
    auto streamed = analysis::stream_samples(spec, platform, plan, {21, 2, {}});
    ASSERT_TRUE(streamed);
    std::vector<std::uint32_t> rest;
    for (std::uint32_t i = 0; i < 21; ++i) {
      if (streamed->exact[i] == 0) rest.push_back(i);
    }
    run_exactly(*streamed, rest, spec, platform, plan, {21, 2, {}});
    const machine::Samples samples =
        analysis::kAnalyticEngine.samples({schedule, platform, plan}, {21, 1, {}});
    for (std::uint32_t i = 0; i < 21; ++i) {
      SCOPED_TRACE(
          fmt::format("seed {}, sample {}: {} on {}", seed, i, format_spec(spec), platform.spec()));
      ASSERT_NEAR(streamed->samples.makespan_s[i], samples.makespan_s[i],
                  1e-12 * samples.makespan_s[i]);
      for (std::uint32_t r = 0; r < spec.multicast.ranks; ++r) {
        ASSERT_NEAR(streamed->samples.finish_s(i)[r], samples.finish_s(i)[r],
                    1e-12 * samples.makespan_s[i]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, Streams,
                         ::testing::Values("sequential", "chain", "binomial-tree",
                                           "binomial-pipeline", "circulant", "hybrid",
                                           "scatter-allgather", "binary-tree", "double-tree"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// One run, and many side by side, draw and add alike: to the last bit, whatever the instruction
// set.
TEST(StreamSamples, AreSingleStreams) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed + 5000);
    const Spec spec = random_spec(dice, "binomial-pipeline");
    const Platform platform = random_platform(dice, spec);
    DelayPlan plan = random_delays(dice, spec.multicast.ranks);
    const auto samples = analysis::stream_samples(spec, platform, plan, {11, 1, {}});
    ASSERT_TRUE(samples);
    const std::uint64_t first = plan.seed;
    for (std::uint32_t i = 0; i < 11; ++i) {
      plan.seed = first + i;
      const auto one = analysis::stream(spec, platform, plan);
      ASSERT_TRUE(one);
      ASSERT_EQ(one->exact, samples->exact[i] != 0);
      ASSERT_EQ(one->makespan_s, samples->samples.makespan_s[i]);
    }
  }
}

// Where lanes are reordered, the times stay near those of the event engine: noise of up to two
// posts against blocks of twelve and more.
TEST(Stream, IsNearWhereItIsNotExact) {
  const Platform platform = machine::load_platform("fractus");
  double worst = 0;
  std::uint32_t inexact = 0;
  for (const auto* pattern :
       {"binomial-pipeline", "circulant", "scatter-allgather", "double-tree"}) {
    const Spec spec = sched::parse_spec(fmt::format("{}:ranks=30,bytes=1MiB,block=32KiB", pattern));
    const sched::Schedule schedule = compile(spec);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      DelayPlan plan;
      plan.seed = seed;
      plan.noise.emplace_back().of.kind = machine::Distribution::Kind::kUniform;
      plan.noise.back().of.high = Time{400'000};
      const auto stream = analysis::stream(spec, platform, plan);
      ASSERT_TRUE(stream);
      inexact += stream->exact ? 0 : 1;
      const double exact_s = analysis::run_analytic({schedule, platform, plan}).makespan_s();
      worst = std::max(worst, std::abs(stream->makespan_s / exact_s - 1));
    }
  }
  EXPECT_GT(inexact, 10u);
  EXPECT_LT(worst, 0.03);
}

TEST(Stream, SaysWhyItCannot) {
  const Platform fractus = machine::load_platform("fractus");
  const auto why = [&](std::string_view spec, const Platform& platform,
                       const DelayPlan& plan = {}) {
    const Spec parsed = sched::parse_spec(spec);
    const auto reason = analysis::why_not_streamed(parsed, platform, plan);
    EXPECT_EQ(analysis::stream(parsed, platform, plan).has_value(), !reason.has_value()) << spec;
    return reason.value_or("");
  };
  const std::string pipeline = "binomial-pipeline:ranks=8,bytes=8MiB,block=1MiB";
  EXPECT_EQ(why(pipeline, fractus), "");
  EXPECT_EQ(why("ring-buffer:ranks=8,bytes=8KB", fractus),
            "ring-buffer has no steps, and its ranks do not all do the same");
  EXPECT_EQ(why(pipeline + ",messages=2", fractus), "there are several messages");
  EXPECT_EQ(why(pipeline + ",order=lockstep", fractus), "order is lockstep");
  EXPECT_EQ(why(pipeline + ",ready=none", fractus), "ready is not send");
  EXPECT_EQ(why(pipeline + ",start=all", fractus), "start is not pairwise");
  EXPECT_EQ(why(pipeline + ",window=2", fractus), "window is not 1");
  EXPECT_EQ(why(pipeline + ",in-flight=2", fractus), "in-flight is above 1");
  EXPECT_EQ(why(pipeline, machine::load_platform("apt")), "the network is no star");
  EXPECT_EQ(why(pipeline, machine::load_platform("fractus:placement=random:1")),
            "ranks have places, which may be wrong");
  EXPECT_EQ(why(pipeline + ",in-flight=0", machine::load_platform("fractus:nic=fair")),
            "fair NICs share among blocks in flight");
  EXPECT_EQ(why(pipeline, machine::load_platform("fractus:o_post=0")), "o_post is 0");
  EXPECT_EQ(why(pipeline, machine::load_platform("fractus:latency=0,o_complete=0")),
            "latency and o_complete are 0");
  EXPECT_EQ(why("chain:ranks=3,bytes=8200,block=8192", fractus),
            "a block is of at most the interleave size");
  const Platform interleaves = machine::load_platform("fractus:interleave=8KiB");
  EXPECT_EQ(why("chain:ranks=3,bytes=16KiB,block=8KiB", interleaves),
            "a block is of at most the interleave size");
  EXPECT_EQ(why("chain:ranks=3,bytes=16386,block=8193", interleaves), "");
  EXPECT_EQ(why("chain:ranks=3,bytes=0", fractus), "a block is of at most the interleave size");
  DelayPlan plan;
  plan.ops.push_back({sched::OpId(0), Time{1}});
  EXPECT_EQ(why(pipeline, fractus, plan), "the delay plan has more than noise and stragglers");
  plan.ops.clear();
  plan.stragglers.push_back({RankId(8), 2, Time{0}});
  EXPECT_THROW(analysis::stream(sched::parse_spec(pipeline), fractus, plan), InputError);
}

TEST(Stream, OfOneRankTakesNoTime) {
  const auto stream = analysis::stream(sched::parse_spec("binomial-pipeline:ranks=1,bytes=1MiB"),
                                       machine::load_platform("fractus"));
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->makespan_s, 0);
  EXPECT_EQ(stream->transfers, 0u);
}

}  // namespace
}  // namespace slackline
