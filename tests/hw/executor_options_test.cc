// What an executor posts, and in which order, seen from a transport that can be looked into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "hw/executor.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "tests/hw/loop_transport.h"

namespace slackline {
namespace {

using sched::OpId;
using sched::OpKind;
using sched::RankId;
using testing::Loop;
using testing::LoopTransport;

// All ranks of a schedule, driven by turns.
class Ranks {
 public:
  explicit Ranks(const sched::Schedule& schedule, Loop& loop) : schedule_(schedule) {
    for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
      transports_.push_back(std::make_unique<LoopTransport>(loop));
    }
  }
  LoopTransport& transport(std::uint32_t rank) { return *transports_[rank]; }
  hw::Executor& executor(std::uint32_t rank) { return *executors_[rank]; }

  void set_up(const std::function<hw::ExecutorOptions(std::uint32_t)>& options) {
    std::vector<hw::Greeting> greetings;
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) {
      executors_.push_back(
          std::make_unique<hw::Executor>(schedule_, RankId(r), *transports_[r], options(r)));
      greetings.push_back(hw::unpack_greeting(hw::pack(executors_[r]->greeting())));
    }
    for (auto& executor : executors_) executor->connect(greetings);
  }
  void begin() {
    for (auto& executor : executors_) executor->begin();
  }
  bool round() {
    bool moved = false;
    for (auto& executor : executors_) moved = executor->progress() || moved;
    return moved;
  }
  // False if it takes too long.
  bool finish() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      round();
      if (std::ranges::all_of(executors_, [](const auto& e) { return e->finished(); })) return true;
    }
    return false;
  }
  void expect_proved() {
    for (auto& executor : executors_) EXPECT_EQ(executor->first_breach().value_or(""), "");
  }

 private:
  const sched::Schedule& schedule_;
  std::vector<std::unique_ptr<LoopTransport>> transports_;
  std::vector<std::unique_ptr<hw::Executor>> executors_;
};

sched::Schedule compiled(const std::string& spec) {
  return sched::compile(sched::parse_spec(spec));
}

hw::ExecutorOptions plain(std::uint32_t /*rank*/) { return {}; }

TEST(ExecutorOptions, SeveralShareATransport) {
  // Two schedules over the same transports, whose completions a third party hands out.
  const sched::Schedule first = compiled("chain:ranks=3,bytes=1000,block=100");
  const sched::Schedule second = compiled("circulant:ranks=3,bytes=777,block=50");
  Loop loop;
  std::vector<std::unique_ptr<LoopTransport>> transports;
  std::vector<std::vector<std::unique_ptr<hw::Executor>>> executors(2);
  for (int r = 0; r < 3; ++r) transports.push_back(std::make_unique<LoopTransport>(loop));
  for (std::uint32_t e = 0; e < 2; ++e) {
    const sched::Schedule& schedule = e == 0 ? first : second;
    hw::ExecutorOptions options;
    options.first_channel = e == 0 ? 40 : 40 + static_cast<std::uint32_t>(first.channels().size());
    options.number = 5 + e;
    options.polls = false;
    std::vector<hw::Greeting> greetings;
    for (std::uint32_t r = 0; r < 3; ++r) {
      executors[e].push_back(
          std::make_unique<hw::Executor>(schedule, RankId(r), *transports[r], options));
      greetings.push_back(executors[e][r]->greeting());
    }
    for (auto& executor : executors[e]) executor->connect(greetings);
    for (auto& executor : executors[e]) executor->begin();
  }
  for (int round = 0; round < 1000; ++round) {
    for (std::uint32_t r = 0; r < 3; ++r) {
      for (auto& one : executors) one[r]->progress();
      std::array<hw::Completion, 3> completions;
      const std::size_t count = transports[r]->poll(completions);
      for (std::size_t c = 0; c < count; ++c) {
        const std::uint64_t number = completions[c].tag >> 32;
        ASSERT_TRUE(number == 5 || number == 6);
        executors[number - 5][r]->take(completions[c]);
      }
    }
  }
  for (auto& one : executors) {
    for (auto& executor : one) {
      EXPECT_TRUE(executor->finished());
      EXPECT_EQ(executor->first_breach().value_or(""), "");
      executor->close();
    }
  }
  EXPECT_EQ(loop.channels.begin()->first, 40);
  executors.clear();
  for (auto& transport : transports) {
    EXPECT_EQ(transport->open_ends, 0);
    EXPECT_EQ(transport->registered, 0);
  }
}

TEST(ExecutorOptions, MessagesArriveInGivenMemory) {
  for (const char* const lowered : {"", ",lower=put"}) {
    const sched::Schedule schedule =
        compiled(std::string("binomial-pipeline:ranks=4,bytes=1000,block=100") + lowered);
    Loop loop;
    Ranks ranks(schedule, loop);
    // Every buffer of rank 2 is ours.
    std::vector<std::vector<std::byte>> memory(schedule.buffers().size());
    ranks.set_up([&](std::uint32_t rank) {
      hw::ExecutorOptions options;
      for (std::uint32_t b = 0; rank == 2 && b < memory.size(); ++b) {
        if (schedule.buffers()[b].rank != RankId(2)) continue;
        memory[b].resize(schedule.buffers()[b].bytes);
        const hw::LocalMemory registered = ranks.transport(2).register_memory(memory[b]);
        options.memory.push_back({sched::BufferId(b), memory[b], registered});
      }
      return options;
    });
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    ranks.expect_proved();
    int facts = 0;
    for (const sched::Fact& fact : schedule.contract().post) {
      if (schedule.buffers()[fact.slice.buffer.value].rank != RankId(2)) continue;
      for (std::uint64_t i = 0; i < fact.slice.bytes; ++i) {
        ASSERT_EQ(memory[fact.slice.buffer.value][fact.slice.offset + i],
                  hw::value_byte(fact.value, fact.value_offset + i));
      }
      ++facts;
    }
    EXPECT_GT(facts, 0);
  }
}

TEST(ExecutorOptions, GivenMemoryMustFit) {
  const sched::Schedule schedule = compiled("chain:ranks=2,bytes=100,block=100");
  Loop loop;
  LoopTransport transport(loop);
  std::vector<std::byte> memory(99);
  hw::ExecutorOptions options;
  const std::uint32_t mine = schedule.buffers()[0].rank == RankId(0) ? 0 : 1;
  options.memory.push_back({sched::BufferId(mine), memory, {}});
  EXPECT_THROW(hw::Executor(schedule, RankId(0), transport, options), InternalError);
  options.memory[0].buffer = sched::BufferId(1 - mine);
  EXPECT_THROW(hw::Executor(schedule, RankId(0), transport, options), InternalError);
}

TEST(ExecutorOptions, WhatIsDoneBeforeIsNotDoneAgain) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100,ready=none");
  Loop loop;
  Ranks ranks(schedule, loop);
  ranks.set_up(plain);
  // Rank 1 has its first block already, and rank 0 knows.
  OpId receive;
  for (OpId id = schedule.first_op(RankId(1)); id < schedule.end_op(RankId(1)) && !receive.valid();
       ++id.value) {
    if (schedule.op(id).kind == OpKind::kRecv) receive = id;
  }
  const OpId send = schedule.op(receive).match;
  const sched::Slice slice = schedule.slices(schedule.op(receive).writes).front();
  const sched::Slice from = schedule.slices(schedule.op(send).reads).front();
  std::ranges::copy(ranks.executor(0).memory().at(from),
                    ranks.executor(1).memory().at(slice).begin());
  ranks.executor(1).set_done(receive);
  ranks.executor(0).set_done(send);
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  ranks.expect_proved();
  EXPECT_EQ(ranks.transport(0).posted.size(), 9);
  EXPECT_EQ(ranks.executor(1).times()[receive.value - schedule.first_op(RankId(1)).value].done_s,
            0);
}

TEST(ExecutorOptions, NoRoomIsNoHarm) {
  const sched::Schedule schedule = compiled("circulant:ranks=5,bytes=2000,block=100,lower=put");
  for (std::size_t room = 1; room <= 3; ++room) {
    Loop loop;
    Ranks ranks(schedule, loop);
    for (std::uint32_t r = 0; r < 5; ++r) {
      ranks.transport(r).room = ranks.transport(r).room_per_poll = room;
    }
    ranks.set_up(plain);
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    ranks.expect_proved();
  }
}

TEST(ExecutorOptions, IterationsStartAfresh) {
  const sched::Schedule schedule = compiled("double-tree:ranks=5,bytes=2000,block=100");
  Loop loop;
  Ranks ranks(schedule, loop);
  ranks.set_up(plain);
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (std::uint32_t r = 0; iteration > 0 && r < 5; ++r) {
      ranks.executor(r).reset(true);
      EXPECT_EQ(ranks.executor(r).first_breach().has_value(), r > 0);
    }
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    ranks.expect_proved();
  }
}

TEST(ExecutorOptions, NobodyWaitsForTheSilent) {
  for (const char* const lowered : {"", ",lower=put", ",ready=none,in-flight=0"}) {
    const sched::Schedule schedule =
        compiled(std::string("binomial-pipeline:ranks=6,bytes=4000,block=100") + lowered);
    Loop loop;
    Ranks ranks(schedule, loop);
    for (std::uint32_t r = 0; r < 6; ++r) ranks.transport(r).in_order = true;
    ranks.set_up(plain);
    ranks.begin();
    ASSERT_TRUE(ranks.finish()) << lowered;
    ranks.expect_proved();
    std::size_t silent = 0;
    for (std::uint32_t r = 0; r < 6; ++r) {
      for (const hw::WorkRequest& request : ranks.transport(r).posted) {
        silent += request.signalled ? 0 : 1;
      }
      for (const sched::OpTimes& times : ranks.executor(r).times()) {
        EXPECT_LE(times.ready_s, times.issued_s);
        EXPECT_LE(times.issued_s, times.done_s);
        EXPECT_LT(times.done_s, 20);
      }
    }
    EXPECT_GT(silent, 0) << lowered;
  }
}

// Rank 0 sends a message of each of these sizes to a rank of its own, all ready when a calculation
// ends that holds the lane; made ready in the order of `ready`, as far as that is given.
sched::Schedule fan_out(const std::vector<std::uint64_t>& bytes,
                        const std::vector<std::uint32_t>& ready) {
  const auto count = static_cast<std::uint32_t>(bytes.size());
  sched::ScheduleBuilder builder(count + 1);
  sched::Op op;
  op.rank = RankId(0);
  op.kind = OpKind::kCalc;
  sched::OpArguments arguments;
  arguments.duration = sched::Time{20'000'000'000};
  builder.add(op, arguments);
  std::vector<OpId> delays;
  for (std::uint32_t i = 0; i < ready.size(); ++i) {
    op.kind = OpKind::kDelay;
    arguments.duration = sched::Time{1'000'000'000ll * (1 + ready[i])};
    delays.push_back(builder.add(op, arguments));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    sched::Channel channel;
    channel.src = RankId(0);
    channel.dst = RankId(i + 1);
    op = {};
    op.rank = RankId(0);
    op.kind = OpKind::kSend;
    op.channel = builder.add_channel(channel);
    op.reads = builder.add_slice({builder.add_buffer(RankId(0), bytes[i]), 0, bytes[i]});
    const OpId send = builder.add(op);
    if (!delays.empty()) builder.add_edge(delays[i], send);
    op.kind = OpKind::kRecv;
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

TEST(ExecutorOptions, PoliciesChooseWhoIsPosted) {
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
      Ranks ranks(schedule, loop);
      ranks.set_up([&](std::uint32_t) {
        hw::ExecutorOptions options;
        options.order = {policy, slack_s};
        return options;
      });
      ranks.begin();
      ASSERT_TRUE(ranks.finish());
      std::vector<std::uint32_t> expected = by_place;
      if (policy == machine::IssuePolicy::kInOrder) std::ranges::sort(expected);
      if (policy == machine::IssuePolicy::kLeastSlack) std::ranges::reverse(expected);
      EXPECT_EQ(channels_of(ranks.transport(0).posted), expected) << name(policy);
    }
  }
}

TEST(ExecutorOptions, LargeMessagesInFlightAreBounded) {
  const sched::Schedule schedule = fan_out({9000, 9000, 100, 9000, 9000, 4096, 9000}, {});
  Loop loop;
  Ranks ranks(schedule, loop);
  ranks.set_up([&](std::uint32_t) {
    hw::ExecutorOptions options;
    options.order.sends_in_flight = 2;
    return options;
  });
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

constexpr sched::Time kLate{50'000'000'000};  // 50 ms

TEST(ExecutorOptions, ADelayedOperationIsAloneLate) {
  const sched::Schedule schedule = fan_out({10, 10, 10}, {});
  machine::DelayPlan plan;
  plan.ops.push_back({OpId(1), kLate, false, RankId(0)});
  const machine::Delays delays = delays_of(plan, schedule);
  Loop loop;
  Ranks ranks(schedule, loop);
  ranks.set_up([&](std::uint32_t) {
    hw::ExecutorOptions options;
    options.delays = &delays;
    return options;
  });
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  const auto times = ranks.executor(0).times();
  EXPECT_EQ(channels_of(ranks.transport(0).posted), (std::vector<std::uint32_t>{1, 2, 0}));
  EXPECT_GE(times[1].issued_s - times[1].ready_s, 0.05);
  EXPECT_EQ(times[1].ready_s, 0);
}

TEST(ExecutorOptions, ADelayedLaneIsLateAltogether) {
  const sched::Schedule schedule = fan_out({10, 10, 10}, {});
  machine::DelayPlan plan;
  plan.ops.push_back({OpId(1), kLate, true, RankId(0)});
  const machine::Delays delays = delays_of(plan, schedule);
  Loop loop;
  Ranks ranks(schedule, loop);
  ranks.set_up([&](std::uint32_t) {
    hw::ExecutorOptions options;
    options.delays = &delays;
    return options;
  });
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  const auto times = ranks.executor(0).times();
  EXPECT_EQ(channels_of(ranks.transport(0).posted), (std::vector<std::uint32_t>{0, 1, 2}));
  // After the calculation, which takes 20 ms.
  EXPECT_GE(times[1].issued_s, 0.07);
  EXPECT_GE(times[2].issued_s, times[1].issued_s);
  EXPECT_EQ(times[2].cause, OpId(1));
}

TEST(ExecutorOptions, NoiseIsWhatSimulationDraws) {
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
  Ranks ranks(schedule, loop);
  ranks.set_up([&](std::uint32_t) {
    hw::ExecutorOptions options;
    options.delays = &delays;
    return options;
  });
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
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

TEST(ExecutorOptions, WithoutTimestampsOnlyTheEndIsTimed) {
  const sched::Schedule schedule = fan_out({10, 10}, {});
  Loop loop;
  Ranks ranks(schedule, loop);
  ranks.set_up([&](std::uint32_t) {
    hw::ExecutorOptions options;
    options.timestamps = false;
    return options;
  });
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  EXPECT_EQ(ranks.executor(0).clock_reads(), 0);
  EXPECT_GE(ranks.executor(0).finish_s(), 0.02);
}

}  // namespace
}  // namespace slackline
