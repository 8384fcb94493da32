// Operations may be added in any order of ranks: the schedule is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sched/builder.h"

namespace slackline::sched {
namespace {

// Ranks 0 and 2 each take a ticket at rank 1, act on words that the ticket names, and put with a
// flag; rank 1 polls for both. `turns` says whose next operation is added.
Schedule with_turns(const std::vector<std::uint32_t>& turns) {
  ScheduleBuilder b(3);
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
  return b.build();
}

TEST(BuilderGrouping, TheOrderOfRanksMakesNoDifference) {
  std::vector<std::uint32_t> turns = {0, 0, 0, 1, 1, 2, 2, 2};
  const Schedule grouped = with_turns(turns);
  EXPECT_EQ(grouped.arguments(grouped.op(OpId(6))).compare.op, OpId(5));
  EXPECT_EQ(grouped.op(OpId(4)).match, OpId(7));
  std::mt19937_64 random(1);
  for (int n = 0; n < 100; ++n) {
    std::shuffle(turns.begin(), turns.end(), random);
    const Schedule mixed = with_turns(turns);
    for (std::uint32_t i = 0; i < mixed.op_count(); ++i) {
      EXPECT_EQ(mixed.op(OpId(i)).kind, grouped.op(OpId(i)).kind);
      EXPECT_EQ(mixed.op(OpId(i)).match, grouped.op(OpId(i)).match);
    }
    ASSERT_EQ(mixed.digest(), grouped.digest());
  }
}

}  // namespace
}  // namespace slackline::sched
