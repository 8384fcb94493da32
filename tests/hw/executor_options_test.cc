// What executors share: transports, memory, what is done already; and what of it they post.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "hw/executor.h"
#include "tests/hw/loop_ranks.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using sched::OpId;
using sched::OpKind;
using sched::RankId;
using testing::compiled;
using testing::Loop;
using testing::LoopRanks;
using testing::LoopTransport;
using testing::plain;

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
    LoopRanks ranks(schedule, loop);
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

TEST(ExecutorOptions, NoRoomIsNoHarm) {
  const sched::Schedule schedule = compiled("circulant:ranks=5,bytes=2000,block=100,lower=put");
  for (std::size_t room = 1; room <= 3; ++room) {
    Loop loop;
    LoopRanks ranks(schedule, loop);
    for (std::uint32_t r = 0; r < 5; ++r) {
      ranks.transport(r).room = ranks.transport(r).room_per_poll = room;
    }
    ranks.set_up(plain);
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    ranks.expect_proved();
  }
}

// A put in two pieces finds no room, and neither does a message behind it on its channel; those of
// another go on meanwhile.
TEST(ExecutorOptions, AChannelWithoutRoomHoldsUpNoOther) {
  testing::Draft draft;
  draft.ranks = 2;
  const sched::ChannelId full = draft.channel(0, 1);
  const sched::ChannelId other = draft.channel(0, 1);
  const sched::BufferId from = draft.buffer(0, 64);
  const sched::BufferId to = draft.buffer(1, 64);
  draft.pre.push_back({{from, 0, 64}, sched::ValueId(0), 0});
  draft.add(OpKind::kPut, 0, full, {{from, 0, 16}}, {{to, 0, 8}, {to, 24, 8}});
  draft.post.push_back({{to, 24, 8}, sched::ValueId(0), 8});
  draft.send(full, {{from, 0, 8}});
  for (int i = 0; i < 3; ++i) draft.send(other, {{from, 0, 8}});
  draft.recv(full, {{to, 8, 8}});
  for (int i = 0; i < 3; ++i) draft.recv(other, {{to, 16, 8}});
  const sched::Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up(plain);
  ranks.transport(0).full = {0};
  ranks.begin();
  for (int i = 0; i < 10; ++i) ranks.round();
  const auto channels = [&] {
    std::vector<std::uint32_t> found;
    for (const hw::WorkRequest& request : ranks.transport(0).posted) {
      found.push_back(request.channel);
    }
    return found;
  };
  EXPECT_EQ(channels(), std::vector<std::uint32_t>(3, 1));
  ranks.transport(0).full.clear();
  ASSERT_TRUE(ranks.finish());
  ranks.expect_proved();
  EXPECT_EQ(channels(), (std::vector<std::uint32_t>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(ranks.transport(0).posted.back().kind, hw::RequestKind::kSend);
}

// However many have none.
TEST(ExecutorOptions, ManyChannelsWithoutRoomHoldUpNoOther) {
  constexpr std::uint32_t kFull = 100;
  testing::Draft draft;
  draft.ranks = 2;
  std::vector<sched::ChannelId> ways;
  for (std::uint32_t c = 0; c <= kFull; ++c) ways.push_back(draft.channel(0, 1));
  const sched::BufferId from = draft.buffer(0, 8);
  const sched::BufferId to = draft.buffer(1, 8);
  draft.pre.push_back({{from, 0, 8}, sched::ValueId(0), 0});
  for (const sched::ChannelId way : ways) draft.send(way, {{from, 0, 8}});
  const OpId last = draft.recv(ways.back(), {{to, 0, 8}});
  for (std::uint32_t c = 0; c < kFull; ++c) draft.edge(last, draft.recv(ways[c], {{to, 0, 8}}));
  draft.post.push_back({{to, 0, 8}, sched::ValueId(0), 0});
  const sched::Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up(plain);
  for (std::uint32_t c = 0; c < kFull; ++c) ranks.transport(0).full.insert(c);
  ranks.begin();
  for (int i = 0; i < 10; ++i) ranks.round();
  ASSERT_EQ(ranks.transport(0).posted.size(), 1u);
  EXPECT_EQ(ranks.transport(0).posted[0].channel, kFull);
  ranks.transport(0).full.clear();
  ASSERT_TRUE(ranks.finish());
  ranks.expect_proved();
}

TEST(ExecutorOptions, IterationsStartAfresh) {
  const sched::Schedule schedule = compiled("double-tree:ranks=5,bytes=2000,block=100");
  Loop loop;
  LoopRanks ranks(schedule, loop);
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

// What atomics fetch is the same in each iteration, whether or not all else is filled.
TEST(ExecutorOptions, WordsStartAfreshInAnyCase) {
  testing::Draft draft;
  draft.ranks = 2;
  const sched::ChannelId channel = draft.channel(0, 1);
  const sched::Slice word{draft.buffer(1, 16), 8, 8};
  draft.pre.push_back({word, sched::ValueId(3), 0});
  draft.atomic(OpKind::kFetchAdd, channel, word);
  sched::Operand& operand = draft.ops.back().arguments.emplace().operand;
  operand.from = sched::Operand::From::kLiteral;
  operand.value = 5;
  const sched::Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up(plain);
  std::vector<std::uint64_t> fetched;
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (std::uint32_t r = 0; iteration > 0 && r < 2; ++r) ranks.executor(r).reset(iteration == 1);
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    fetched.push_back(ranks.executor(0).results().front());
  }
  EXPECT_NE(fetched[0], 0u);
  EXPECT_EQ(fetched[1], fetched[0]);
  EXPECT_EQ(fetched[2], fetched[0]);
}

// However late it begins: the makespan of all ranks is not that.
TEST(ExecutorOptions, ARankWithoutOperationsFinishesAtTheStart) {
  testing::Draft draft;
  draft.ranks = 2;
  draft.add(OpKind::kJoin, 0);
  const sched::Schedule schedule = draft.build();
  for (const bool timestamps : {true, false}) {
    Loop loop;
    LoopRanks ranks(schedule, loop);
    hw::ExecutorOptions options;
    options.timestamps = timestamps;
    ranks.set_up_alike(options);
    const auto start = hw::Executor::Clock::now() - std::chrono::seconds(5);
    for (std::uint32_t r = 0; r < 2; ++r) ranks.executor(r).begin(start);
    ASSERT_TRUE(ranks.finish());
    EXPECT_GE(ranks.executor(0).finish_s(), timestamps ? 0 : 5);
    EXPECT_EQ(ranks.executor(1).finish_s(), 0) << timestamps;
  }
}

TEST(ExecutorOptions, NobodyWaitsForTheSilent) {
  for (const char* const lowered : {"", ",lower=put", ",ready=none,in-flight=0"}) {
    const sched::Schedule schedule =
        compiled(std::string("binomial-pipeline:ranks=6,bytes=4000,block=100") + lowered);
    Loop loop;
    LoopRanks ranks(schedule, loop);
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

}  // namespace
}  // namespace slackline
