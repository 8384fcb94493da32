// Stragglers and noise, resolved against schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "machine/delays.h"
#include "machine/lane.h"
#include "sched/builder.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::OpId;
using sched::OpKind;
using sched::RankId;
using sched::Time;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Time us(std::int64_t count) { return Time{count * 1'000'000}; }

// Adds an operation of every kind that needs no other half, with a time or 1000 bytes.
void add_one_of_each(sched::ScheduleBuilder& builder, RankId rank, sched::BufferId buffer,
                     sched::ChannelId channel) {
  const auto add = [&](OpKind kind) {
    sched::Op op;
    op.kind = kind;
    op.rank = rank;
    if (sched::is_initiator(kind) || kind == OpKind::kRecv) op.channel = channel;
    if (kind == OpKind::kCopy) {
      op.reads = builder.add_slice({buffer, 0, 1000});
      op.writes = builder.add_slice({buffer, 1000, 1000});
    }
    sched::OpArguments arguments;
    arguments.duration = us(2);
    if (kind == OpKind::kCalc || kind == OpKind::kDelay) {
      builder.add(op, arguments);
    } else {
      builder.add(op);
    }
  };
  for (const OpKind kind : {OpKind::kJoin, OpKind::kSend, OpKind::kDelay, OpKind::kCopy,
                            OpKind::kCalc, OpKind::kJoin, OpKind::kSend}) {
    add(kind);
  }
}

// Ranks 0 … n − 1 with one of each; before them, rank i has `ahead[i]` joins.
sched::Schedule some_ranks(const std::vector<int>& ahead, int rounds = 1) {
  sched::ScheduleBuilder builder(static_cast<std::uint32_t>(ahead.size()));
  for (std::uint32_t r = 0; r < ahead.size(); ++r) {
    const sched::BufferId buffer = builder.add_buffer(RankId(r), 4000);
    sched::Channel channel;
    channel.src = RankId(r);
    channel.dst = RankId((r + 1) % static_cast<std::uint32_t>(ahead.size()));
    const sched::ChannelId id = builder.add_channel(channel);
    sched::Op join;
    join.rank = RankId(r);
    for (int i = 0; i < ahead[r]; ++i) builder.add(join);
    for (int i = 0; i < rounds; ++i) add_one_of_each(builder, RankId(r), buffer, id);
  }
  return builder.build();
}

Platform platform() {
  Platform out;
  out.o_post = Time{300'000};
  out.copy_rate = {8'000'000'000};  // 1000 bytes in 1 us
  return out;
}

Noise uniform_noise(std::int64_t high_us) {
  Noise noise;
  noise.of.kind = Distribution::Kind::kUniform;
  noise.of.high = us(high_us);
  return noise;
}

// What a rank's operations that hold a lane are delayed by, in their order.
std::vector<double> lane_delays_s(const Delays& delays, const sched::Schedule& schedule,
                                  std::uint32_t rank) {
  std::vector<double> out;
  for (OpId id = schedule.first_op(RankId(rank)); id < schedule.end_op(RankId(rank)); ++id.value) {
    if (holds_lane(schedule.op(id).kind)) {
      out.push_back(delays.lane_delay_s(id));
    } else {
      EXPECT_EQ(delays.lane_delay_s(id), 0.0) << "what holds no lane";
    }
    EXPECT_EQ(delays.post_delay_s(id), 0.0);
  }
  return out;
}

TEST(Lane, TimesOfEveryKind) {
  const sched::Schedule schedule = some_ranks({0});
  // join, send, delay, copy, calc, join, send
  const double expected_us[] = {0, 0.3, 0, 1, 2, 0, 0.3};
  const bool holds[] = {false, true, false, true, true, false, true};
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    EXPECT_DOUBLE_EQ(lane_time_s(schedule, platform(), op) * 1e6, expected_us[i]);
    EXPECT_EQ(holds_lane(op.kind), holds[i]);
  }
  for (int kind = 0; kind < sched::kOpKinds; ++kind) {
    const auto k = static_cast<OpKind>(kind);
    EXPECT_EQ(is_posted(k), sched::is_initiator(k) || k == OpKind::kRecv);
    if (is_posted(k)) {
      EXPECT_TRUE(holds_lane(k));
    }
  }
}

TEST(Delays, OfAStragglerAreSharesOfItsLaneTimes) {
  const sched::Schedule schedule = some_ranks({1, 0, 2});
  DelayPlan plan;
  plan.stragglers = {{RankId(1), 1.5, Time{7}}, {RankId(2), 3, Time{0}}};
  const Delays delays(plan, schedule, platform());
  const auto ps = [](std::int64_t count) { return sched::seconds(Time{count}); };
  EXPECT_EQ(lane_delays_s(delays, schedule, 0), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(lane_delays_s(delays, schedule, 1),
            (std::vector<double>{ps(150'007), ps(500'007), ps(1'000'007), ps(150'007)}));
  EXPECT_EQ(lane_delays_s(delays, schedule, 2),
            (std::vector<double>{ps(600'000), ps(2'000'000), ps(4'000'000), ps(600'000)}));
}

TEST(Delays, OfAStragglerAddToOthersUpToTheLongestTime) {
  const sched::Schedule schedule = some_ranks({0});
  DelayPlan plan;
  plan.ops = {{OpId(1), us(1), true}};
  plan.stragglers = {{RankId(0), 2, us(10)}};
  EXPECT_EQ(Delays(plan, schedule, platform()).lane_delay_s(OpId(1)),
            sched::seconds(Time{11'300'000}));
  plan.stragglers = {{RankId(0), 1e300, us(10)}};
  EXPECT_THAT(testing::error_of([&] { Delays(plan, schedule, platform()); }),
              ::testing::AllOf(StartsWith("delay plan: op 1 (send, rank 0): "),
                               HasSubstr("delays of 106 days or more in all; expected less")));
  plan.stragglers = {{RankId(0), 4e12, us(10)}};
  EXPECT_GT(Delays(plan, schedule, platform()).lane_delay_s(OpId(1)), 1e6);
  plan = {};
  plan.stragglers = {{RankId(0), 1, Time{0}}};
  EXPECT_TRUE(Delays(plan, schedule, platform()).empty());
}

TEST(Delays, OfNoiseAreTheDistributionsDraws) {
  const sched::Schedule schedule = some_ranks({0, 3});
  DelayPlan plan;
  plan.seed = 9;
  plan.noise = {uniform_noise(5), uniform_noise(7)};
  plan.noise[1].ranks = {RankId(1)};
  const Delays delays(plan, schedule, platform());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    std::vector<double> expected;
    for (std::uint64_t i = 0; i < 4; ++i) {
      Time sum = plan.noise[0].of.draw(9, rank, 0, i);
      if (rank == 1) sum += plan.noise[1].of.draw(9, rank, 2, i);
      expected.push_back(sched::seconds(sum));
    }
    EXPECT_EQ(lane_delays_s(delays, schedule, rank), expected);
  }
}

TEST(Delays, OfNoiseDoNotDependOnOthers) {
  const sched::Schedule schedule = some_ranks({0, 0, 0});
  DelayPlan plan;
  plan.seed = 1;
  plan.noise = {uniform_noise(5)};
  const std::vector<double> before_s =
      lane_delays_s(Delays(plan, schedule, platform()), schedule, 1);

  // Another rank has more to do, there are more ranks, what holds no lane stands between.
  for (const std::vector<int>& ahead :
       {std::vector<int>{9, 0, 0}, {0, 0, 0, 0, 0}, {0, 5, 0}, {0, 0}}) {
    const sched::Schedule other = some_ranks(ahead);
    EXPECT_EQ(lane_delays_s(Delays(plan, other, platform()), other, 1), before_s);
  }
  // The rank itself goes on: what it did first keeps its draws.
  const sched::Schedule longer = some_ranks({0, 0, 0}, 3);
  std::vector<double> first_s = lane_delays_s(Delays(plan, longer, platform()), longer, 1);
  ASSERT_EQ(first_s.size(), 3 * before_s.size());
  first_s.resize(before_s.size());
  EXPECT_EQ(first_s, before_s);
  // Another platform.
  EXPECT_EQ(lane_delays_s(Delays(plan, schedule, Platform{}), schedule, 1), before_s);
  // Other ranks are spared.
  plan.noise[0].ranks = {RankId(1)};
  const Delays only(plan, schedule, platform());
  EXPECT_EQ(lane_delays_s(only, schedule, 1), before_s);
  EXPECT_EQ(lane_delays_s(only, schedule, 0), (std::vector<double>{0, 0, 0, 0}));
  // One more noise, which takes no time: the first keeps its draws.
  plan.noise.push_back(uniform_noise(0));
  EXPECT_EQ(lane_delays_s(Delays(plan, schedule, platform()), schedule, 1), before_s);
  // Another seed, another rank, another noise: other draws.
  EXPECT_NE(lane_delays_s(Delays(plan, schedule, platform()), schedule, 0), before_s);
  plan.seed = 2;
  EXPECT_NE(lane_delays_s(Delays(plan, schedule, platform()), schedule, 1), before_s);
}

// The chance decides whether an operation is struck, not how hard.
TEST(Delays, OfNoiseStrikeByChance) {
  const sched::Schedule schedule = some_ranks({0, 0}, 2000);
  DelayPlan plan;
  plan.noise = {uniform_noise(5)};
  plan.noise[0].of.low = us(1);
  const std::vector<double> always_s =
      lane_delays_s(Delays(plan, schedule, platform()), schedule, 1);
  ASSERT_EQ(always_s.size(), 8000u);
  int struck_before = 0;
  for (const std::uint32_t chance : {0u, 10'000u, 250'000u, 999'999u}) {
    plan.noise[0].chance.value = chance;
    const Delays delays(plan, schedule, platform());
    const std::vector<double> sometimes_s = lane_delays_s(delays, schedule, 1);
    int struck = 0;
    for (std::size_t i = 0; i < always_s.size(); ++i) {
      if (sometimes_s[i] == 0) continue;
      ++struck;
      ASSERT_EQ(sometimes_s[i], always_s[i]);
    }
    const double expected = 8000.0 * chance / 1e6;
    EXPECT_NEAR(struck, expected, 6 * std::sqrt(expected + 1));
    EXPECT_GE(struck, struck_before) << "who is struck at a small chance is so at a larger one";
    struck_before = struck;
    EXPECT_EQ(delays.empty(), chance == 0);
  }
}

TEST(Delays, OfNoiseMayBeOfTheOperationAlone) {
  const sched::Schedule schedule = some_ranks({0});
  DelayPlan plan;
  plan.noise = {uniform_noise(5)};
  const Delays of_lane(plan, schedule, platform());
  plan.noise[0].whole_lane = false;
  const Delays of_op(plan, schedule, platform());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    EXPECT_EQ(of_op.post_delay_s(OpId(i)), of_lane.lane_delay_s(OpId(i)));
    EXPECT_EQ(of_op.lane_delay_s(OpId(i)), 0.0);
  }
}

TEST(Delays, IgnoreWhatHappensToTheNetwork) {
  const sched::Schedule schedule = some_ranks({0, 0});
  DelayPlan plan;
  plan.seed = 5;
  plan.link_rates = {{"anything", sched::Rate{1}, us(1)}};
  plan.failures = {{"", RankId(1), us(1)}};
  EXPECT_FALSE(plan.empty());
  EXPECT_TRUE(Delays(plan, schedule, platform()).empty());
}

}  // namespace
}  // namespace slackline::machine
