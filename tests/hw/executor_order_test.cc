// In which order an executor posts, and when: issue policies, bounds and delays.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "hw/executor.h"
#include "sched/builder.h"
#include "tests/hw/loop_ranks.h"

namespace slackline {
namespace {

using sched::OpId;
using sched::RankId;
using testing::compiled;
using testing::Loop;
using testing::LoopRanks;

// Rank 0 sends a message of each of these sizes to a rank of its own, all ready when a calculation
// ends that holds the lane; made ready in the order of `ready`, as far as that is given.
sched::Schedule fan_out(const std::vector<std::uint64_t>& bytes,
                        const std::vector<std::uint32_t>& ready) {
  const auto count = static_cast<std::uint32_t>(bytes.size());
  sched::ScheduleBuilder builder(count + 1);
  sched::Op op;
  op.rank = RankId(0);
  op.kind = sched::OpKind::kCalc;
  sched::OpArguments arguments;
  arguments.duration = sched::Time{20'000'000'000};
  builder.add(op, arguments);
  std::vector<OpId> delays;
  for (std::uint32_t i = 0; i < ready.size(); ++i) {
    op.kind = sched::OpKind::kDelay;
    arguments.duration = sched::Time{1'000'000'000ll * (1 + ready[i])};
    delays.push_back(builder.add(op, arguments));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    sched::Channel channel;
    channel.src = RankId(0);
    channel.dst = RankId(i + 1);
    op = {};
    op.rank = RankId(0);
    op.kind = sched::OpKind::kSend;
    op.channel = builder.add_channel(channel);
    op.reads = builder.add_slice({builder.add_buffer(RankId(0), bytes[i]), 0, bytes[i]});
    const OpId send = builder.add(op);
    if (!delays.empty()) builder.add_edge(delays[i], send);
    op.kind = sched::OpKind::kRecv;
    op.rank = RankId(i + 1);
    op.reads = {};
    op.writes = builder.add_slice({builder.add_buffer(RankId(i + 1), bytes[i]), 0, bytes[i]});
    builder.add(op);
  }
  return builder.build();
}

std::vector<std::uint32_t> channels_of(const std::vector<hw::WorkRequest>& posted) {
  std::vector<std::uint32_t> channels;
  for (const hw::WorkRequest& request : posted) channels.push_back(request.channel);
  return channels;
}

std::vector<std::uint32_t> shuffled(std::uint32_t count, std::uint32_t seed) {
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t i = 0; i < count; ++i) order[i] = i;
  std::mt19937 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

TEST(ExecutorOrder, PoliciesChooseWhoIsPosted) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    const std::vector<std::uint32_t> place = shuffled(12, seed);  // of each message in the order
    const sched::Schedule schedule = fan_out(std::vector<std::uint64_t>(12, 10), place);
    std::vector<double> slack_s(schedule.op_count(), 0.5);
    for (std::uint32_t i = 0; i < 12; ++i) slack_s[1 + 12 + i] = 1 - 0.01 * place[i];
    std::vector<std::uint32_t> by_place(12);
    for (std::uint32_t i = 0; i < 12; ++i) by_place[place[i]] = i;
    for (const machine::IssuePolicy policy :
         {machine::IssuePolicy::kInOrder, machine::IssuePolicy::kReady,
          machine::IssuePolicy::kLeastSlack}) {
      Loop loop;
      LoopRanks ranks(schedule, loop);
      hw::ExecutorOptions options;
      options.order = {policy, slack_s};
      ranks.set_up_alike(options);
      ranks.begin();
      ASSERT_TRUE(ranks.finish());
      std::vector<std::uint32_t> expected = by_place;
      if (policy == machine::IssuePolicy::kInOrder) std::ranges::sort(expected);
      if (policy == machine::IssuePolicy::kLeastSlack) std::ranges::reverse(expected);
      EXPECT_EQ(channels_of(ranks.transport(0).posted), expected) << name(policy);
    }
  }
}

TEST(ExecutorOrder, LargeMessagesInFlightAreBounded) {
  const sched::Schedule schedule = fan_out({9000, 9000, 100, 9000, 9000, 4096, 9000}, {});
  Loop loop;
  LoopRanks ranks(schedule, loop);
  hw::ExecutorOptions options;
  options.order.sends_in_flight = 2;
  ranks.set_up_alike(options);
  ranks.transport(0).held = true;
  ranks.begin();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (ranks.transport(0).posted.size() < 4 && std::chrono::steady_clock::now() < deadline) {
    ranks.round();
  }
  for (int i = 0; i < 100; ++i) ranks.round();
  // Two large ones and the small ones between; the rest when these are done.
  EXPECT_EQ(channels_of(ranks.transport(0).posted), (std::vector<std::uint32_t>{0, 1, 2, 5}));
  ranks.transport(0).held = false;
  ASSERT_TRUE(ranks.finish());
  EXPECT_EQ(channels_of(ranks.transport(0).posted),
            (std::vector<std::uint32_t>{0, 1, 2, 5, 3, 4, 6}));
}

// The delays of a plan, on a platform on which nothing takes any time.
machine::Delays delays_of(const machine::DelayPlan& plan, const sched::Schedule& schedule) {
  return machine::Delays(plan, schedule, machine::Platform{});
}

bool run_delayed(LoopRanks& ranks, const machine::Delays& delays) {
  hw::ExecutorOptions options;
  options.delays = &delays;
  ranks.set_up_alike(options);
  ranks.begin();
  return ranks.finish();
}

constexpr sched::Time kLate{50'000'000'000};  // 50 ms

TEST(ExecutorOrder, ADelayedOperationIsAloneLate) {
  const sched::Schedule schedule = fan_out({10, 10, 10}, {});
  machine::DelayPlan plan;
  plan.ops.push_back({OpId(1), kLate, false, RankId(0)});
  const machine::Delays delays = delays_of(plan, schedule);
  // A process that stands still from before the others are due until after the delay finds all due
  // at once. Then it is done again.
  for (int left = 100;; --left) {
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ASSERT_TRUE(run_delayed(ranks, delays));
    const auto times = ranks.executor(0).times();
    if (left != 0 && times[2].issued_s >= 0.05) continue;
    EXPECT_EQ(channels_of(ranks.transport(0).posted), (std::vector<std::uint32_t>{1, 2, 0}));
    EXPECT_GE(times[1].issued_s - times[1].ready_s, 0.05);
    EXPECT_EQ(times[1].ready_s, 0);
    return;
  }
}

TEST(ExecutorOrder, ADelayedLaneIsLateAltogether) {
  const sched::Schedule schedule = fan_out({10, 10, 10}, {});
  machine::DelayPlan plan;
  plan.ops.push_back({OpId(1), kLate, true, RankId(0)});
  const machine::Delays delays = delays_of(plan, schedule);
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ASSERT_TRUE(run_delayed(ranks, delays));
  const auto times = ranks.executor(0).times();
  EXPECT_EQ(channels_of(ranks.transport(0).posted), (std::vector<std::uint32_t>{0, 1, 2}));
  // After the calculation, which takes 20 ms.
  EXPECT_GE(times[1].issued_s, 0.07);
  EXPECT_GE(times[2].issued_s, times[1].issued_s);
  EXPECT_EQ(times[2].cause, OpId(1));
}

TEST(ExecutorOrder, NoiseIsWhatSimulationDraws) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  machine::DelayPlan plan;
  plan.seed = 17;
  machine::Noise noise;
  noise.of.kind = machine::Distribution::Kind::kExponential;
  noise.of.mean = sched::Time{2'000'000'000};
  noise.whole_lane = false;
  plan.noise.push_back(noise);
  plan.stragglers.push_back({RankId(1), 1, sched::Time{1'000'000'000}});
  const machine::Delays delays = delays_of(plan, schedule);
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ASSERT_TRUE(run_delayed(ranks, delays));
  ranks.expect_proved();
  double all_s = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const RankId rank = schedule.ops()[i].rank;
    const sched::OpTimes& times =
        ranks.executor(rank.value).times()[i - schedule.first_op(rank).value];
    const double delay_s = delays.post_delay_s(OpId(i)) + delays.lane_delay_s(OpId(i));
    EXPECT_GE(times.issued_s - times.ready_s, delay_s * (1 - 1e-9)) << describe(schedule, OpId(i));
    all_s += delay_s;
  }
  EXPECT_GT(all_s, 0.05);
}

TEST(ExecutorOrder, WithoutTimestampsOnlyTheEndIsTimed) {
  const sched::Schedule schedule = fan_out({10, 10}, {});
  Loop loop;
  LoopRanks ranks(schedule, loop);
  hw::ExecutorOptions options;
  options.timestamps = false;
  ranks.set_up_alike(options);
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  EXPECT_EQ(ranks.executor(0).clock_reads(), 0);
  EXPECT_GE(ranks.executor(0).finish_s(), 0.02);
}

}  // namespace
}  // namespace slackline
