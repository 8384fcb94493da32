// Operations may be added in any order of ranks: the schedule is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "sched/builder.h"

namespace slackline::sched {
namespace {

// Ranks 0 and 2 each take a ticket at rank 1, act on words that the ticket names, and put with a
// flag; rank 1 polls for both. `turns` says whose next operation is added; `told`: the builder
// knows that they take turns.
ScheduleBuilder added(const std::vector<std::uint32_t>& turns, bool told) {
  ScheduleBuilder b(3);
  if (told) b.take_turns();
  for (const std::uint32_t rank : {1, 0, 2}) b.add_buffer(RankId(rank), 64);
  const SliceRange word = b.add_slice({BufferId(0), 0, 8});
  const SliceRange own[] = {b.add_slice({BufferId(1), 8, 8}), {}, b.add_slice({BufferId(2), 8, 8})};
  const SliceRange flag[] = {
      b.add_slice({BufferId(0), 16, 8}), {}, b.add_slice({BufferId(0), 24, 8})};
  for (const std::uint32_t rank : {0, 2}) {
    Channel channel;
    channel.src = RankId(rank);
    channel.dst = RankId(1);
    b.add_channel(channel);
  }
  std::vector<std::vector<OpId>> made(3);
  for (const std::uint32_t rank : turns) {
    Op op;
    op.rank = RankId(rank);
    const std::size_t turn = made[rank].size();
    if (rank == 1) {
      op.kind = OpKind::kPoll;
      op.reads = flag[2 * turn];
      made[rank].push_back(b.add(op));
      continue;
    }
    op.channel = ChannelId(rank / 2);
    OpArguments arguments;
    if (turn == 0) {
      op.kind = OpKind::kFetchAdd;
      arguments.operand = {Operand::From::kLiteral, {}, 1};
    } else if (turn == 1) {
      op.kind = OpKind::kCompareSwap;
      arguments.operand = {Operand::From::kResult, made[rank][0], 1};
      arguments.compare = {Operand::From::kResult, made[rank][0], 3};
      arguments.address_offset = {Operand::From::kAttempt, made[rank][0], 8, 0, 16};
    } else {
      op.kind = OpKind::kPut;
      op.notify = Notify::kFlag;
    }
    op.reads = turn == 2 ? own[rank] : word;
    op.writes = turn == 2 ? flag[rank] : word;
    made[rank].push_back(turn == 2 ? b.add(op) : b.add(op, arguments));
  }
  for (const std::uint32_t rank : {0, 2}) {
    b.add_edge(made[rank][0], made[rank][1]);
    b.add_edge(made[rank][1], made[rank][2], On::kIssued);
    b.add_flag_match(made[rank][2], made[1][rank / 2]);
    Region region;
    region.entry = made[rank][1];
    region.count = 1;
    region.max_attempts = 2;
    region.outcome = RegionOutcome::kActual;
    b.add_region(region);
  }
  return b;
}

Schedule with_turns(const std::vector<std::uint32_t>& turns, bool told = false) {
  return added(turns, told).build();
}

TEST(BuilderGrouping, TheOrderOfRanksMakesNoDifference) {
  std::vector<std::uint32_t> turns = {0, 0, 0, 1, 1, 2, 2, 2};
  const Schedule grouped = with_turns(turns);
  EXPECT_EQ(grouped.arguments(grouped.op(OpId(6))).compare.op, OpId(5));
  EXPECT_EQ(grouped.op(OpId(4)).match, OpId(7));
  std::mt19937_64 random(1);
  for (int n = 0; n < 100; ++n) {
    std::shuffle(turns.begin(), turns.end(), random);
    const Schedule mixed = with_turns(turns, n % 2 == 0);
    for (std::uint32_t i = 0; i < mixed.op_count(); ++i) {
      EXPECT_EQ(mixed.op(OpId(i)).kind, grouped.op(OpId(i)).kind);
      EXPECT_EQ(mixed.op(OpId(i)).match, grouped.op(OpId(i)).match);
    }
    ASSERT_EQ(mixed.digest(), grouped.digest());
  }
}

TEST(BuilderGrouping, LongProgramsThatTakeTurns) {
  std::mt19937_64 random(2);
  for (const bool few : {false, true}) {
    const std::uint32_t ranks = few ? 5 : 1500;  // runs of another length
    ScheduleBuilder plain(ranks);
    ScheduleBuilder told(ranks);
    told.take_turns();
    std::vector<OpId> last(ranks);
    std::vector<OpId> last_told(ranks);
    for (int i = 0; i < 6000; ++i) {
      Op op;
      op.rank = RankId(static_cast<std::uint32_t>(random() % ranks));
      op.kind = random() % 2 == 0 ? OpKind::kCalc : OpKind::kJoin;
      op.step = static_cast<std::uint32_t>(i);
      OpArguments arguments;
      arguments.duration = Time{1 + static_cast<std::int64_t>(random() % 40)};
      const bool calc = op.kind == OpKind::kCalc;
      const OpId id = calc ? plain.add(op, arguments) : plain.add(op);
      const OpId id_told = calc ? told.add(op, arguments) : told.add(op);
      if (last[op.rank.value].valid()) {
        plain.add_edge(last[op.rank.value], id);
        told.add_edge(last_told[op.rank.value], id_told);
      }
      last[op.rank.value] = id;
      last_told[op.rank.value] = id_told;
    }
    EXPECT_TRUE(told.validate().empty());
    EXPECT_EQ(told.build().digest(), plain.build().digest());
  }
}

// Copies of up to 200 slices, more than stand together, and sums in place, whose result is what
// they read first. Whichever rank slices are said to be of, operations have theirs.
TEST(BuilderGrouping, SlicesOfRanksThatTakeTurns) {
  std::mt19937_64 random(3);
  for (const std::uint32_t ranks : {1u, 5u, 1500u}) {
    ScheduleBuilder plain(ranks);
    ScheduleBuilder told(ranks);
    told.take_turns();
    for (std::uint32_t r = 0; r < ranks; ++r) {
      plain.add_buffer(RankId(r), 4096);
      told.add_buffer(RankId(r), 4096);
    }
    for (int i = 0; i < 1000; ++i) {
      Op op;
      op.rank = RankId(static_cast<std::uint32_t>(random() % ranks));
      const RankId said(random() % 4 == 0 ? static_cast<std::uint32_t>(random() % ranks)
                                          : op.rank.value);
      std::vector<Slice> slices(random() % 8 == 0 ? random() % 200 : random() % 3);
      for (Slice& slice : slices) slice = {BufferId(op.rank.value), random() % 4088, 8};
      op.kind = slices.size() == 2 ? OpKind::kReduce : OpKind::kCopy;
      Op op_told = op;
      op.reads = plain.add_slices(slices, said);
      op_told.reads = told.add_slices(slices, said);
      op.writes = op.reads;
      op_told.writes = op_told.reads;
      if (slices.size() == 2) {
        op.writes.count = op_told.writes.count = 1;
      } else if (slices.size() == 1) {
        const Slice to{BufferId(op.rank.value), random() % 4088, 8};
        op.writes = plain.add_slice(to, said);
        op_told.writes = told.add_slice(to, said);
      }
      plain.add(op);
      told.add(op_told);
    }
    ASSERT_TRUE(told.validate().empty());
    EXPECT_EQ(told.build().digest(), plain.build().digest());
  }
}

TEST(BuilderGrouping, WhatNamesNoOperationIsFoundWhereTheyTakeTurns) {
  ScheduleBuilder b = added({0, 0, 0, 1, 1, 2, 2, 2}, true);
  ASSERT_TRUE(b.validate().empty());
  b.add_edge(OpId(0), OpId(20));  // behind rank 0's operations, before rank 1's
  ASSERT_EQ(b.validate().size(), 1u);
  EXPECT_NE(b.validate().front().message.find("an edge joins ops 0 and 8, but there are 8 ops"),
            std::string::npos)
      << b.validate().front().message;
  EXPECT_THROW(b.build(), InputError);

  ScheduleBuilder small(3);
  small.take_turns();
  Op op;
  op.rank = RankId(3);
  EXPECT_THROW(small.add(op), InputError);
  ScheduleBuilder late(1);
  op.rank = RankId(0);
  late.add(op);
  EXPECT_THROW(late.take_turns(), InternalError);
}

// Arguments that name no operation may be shared: by those of one rank where ranks take turns.
TEST(BuilderGrouping, EqualArgumentsStandOnce) {
  for (const bool told : {false, true}) {
    ScheduleBuilder b(2);
    if (told) b.take_turns();
    Op op;
    op.kind = OpKind::kCalc;
    OpArguments arguments;
    for (int i = 0; i < 100; ++i) {
      op.rank = RankId(static_cast<std::uint32_t>(i < 50 ? 0 : 1));
      arguments.duration = Time{i % 5 == 0 ? 7 : 38};
      b.add(op, arguments);
    }
    const Schedule made = b.build();
    for (std::uint32_t i = 0; i < 100; ++i) {
      EXPECT_EQ(made.arguments(made.op(OpId(i))).duration, Time{i % 5 == 0 ? 7 : 38});
    }
    EXPECT_LT(std::ranges::distance(made.argument_table()), 50);
  }
}

}  // namespace
}  // namespace slackline::sched
