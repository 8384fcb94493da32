#include "sched/builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/unit/sched/builder_case.h"

namespace slackline::sched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Builder, RefusesNumbersOfRanks) {
  EXPECT_THROW(ScheduleBuilder(0), InputError);
  EXPECT_THROW(ScheduleBuilder((1u << 24) + 1), InputError);
  EXPECT_NO_THROW(ScheduleBuilder(1u << 24));
}

TEST(Builder, BuildsNothing) {
  const Schedule schedule = ScheduleBuilder(3).build();
  EXPECT_EQ(schedule.rank_count(), 3u);
  EXPECT_EQ(schedule.op_count(), 0u);
  EXPECT_EQ(schedule.step_count(), 0u);
  EXPECT_EQ(schedule.first_op(RankId(2)), schedule.end_op(RankId(2)));
}

TEST(Builder, GroupsByRankAndRenumbers) {
  ScheduleBuilder builder(2);
  const ChannelId on = builder.add_channel(joining(1, 0));
  const OpId a = builder.add(op_of(OpKind::kFetchAdd, 1, on));
  builder.add_buffer(RankId(0), 8);
  const SliceRange word = builder.add_slice({BufferId(0), 0, 8});
  const OpId b = builder.add(op_of(OpKind::kJoin, 0));
  Op later = op_of(OpKind::kFetchAdd, 1, on);
  later.reads = word;
  later.writes = word;
  later.step = 4;
  OpArguments arguments;
  arguments.operand = {Operand::From::kResult, a, 2};
  const OpId c = builder.add(later, arguments);
  const OpId d = builder.add(op_of(OpKind::kJoin, 0));
  builder.add_edge(a, c, On::kIssued);
  builder.add_edge(b, d);
  EXPECT_THAT(refusal(builder), HasSubstr("op 0: a fetch_add reads and writes one remote slice"));

  ScheduleBuilder again(2);
  again.add_channel(joining(1, 0));
  again.add_buffer(RankId(0), 8);
  again.add_slice({BufferId(0), 0, 8});
  Op first = later;
  first.step = 0;
  again.add(first);
  again.add(op_of(OpKind::kJoin, 0));
  again.add(later, arguments);
  again.add(op_of(OpKind::kJoin, 0));
  again.add_edge(a, c, On::kIssued);
  again.add_edge(b, d);
  const Schedule schedule = again.build();
  EXPECT_EQ(schedule.first_op(RankId(1)), OpId(2));
  EXPECT_EQ(schedule.op(OpId(0)).kind, OpKind::kJoin);
  EXPECT_EQ(schedule.op(OpId(3)).kind, OpKind::kFetchAdd);
  EXPECT_EQ(schedule.arguments(schedule.op(OpId(3))).operand.op, OpId(2));
  EXPECT_THAT(schedule.edges(),
              ElementsAre(Edge{OpId(0), OpId(1), On::kDone}, Edge{OpId(2), OpId(3), On::kIssued}));
  EXPECT_EQ(schedule.step_count(), 5u);
}

TEST(Builder, EdgesAreSortedAndOnce) {
  ScheduleBuilder builder(1);
  for (int i = 0; i < 3; ++i) builder.add(op_of(OpKind::kJoin, 0));
  builder.add_edge(OpId(1), OpId(2));
  builder.add_edge(OpId(0), OpId(2));
  builder.add_edge(OpId(1), OpId(2), On::kIssued);
  builder.add_edge(OpId(1), OpId(2));
  builder.add_edge(OpId(0), OpId(2));
  builder.add_edge(OpId(0), OpId(1));
  builder.add_edge(OpId(0), OpId(1));
  const Schedule schedule = builder.build();
  EXPECT_THAT(schedule.edges(),
              ElementsAre(Edge{OpId(0), OpId(1), On::kDone}, Edge{OpId(0), OpId(2), On::kDone},
                          Edge{OpId(1), OpId(2), On::kIssued}, Edge{OpId(1), OpId(2), On::kDone}));
  EXPECT_EQ(schedule.edges_into(OpId(0)).size(), 0u);
  EXPECT_EQ(schedule.edges_into(OpId(1)).size(), 1u);
  EXPECT_EQ(schedule.edges_into(OpId(2)).size(), 3u);
}

TEST(Builder, MatchesTheKthMessageWithTheKthReceive) {
  // Receives before sends, sends before receives, and puts with immediate among sends; a put that
  // does not notify takes no part.
  for (const std::string order : {"ssrr", "rrss", "srsr", "rssr", "ssr", "rrs", "ipr", "isrpr"}) {
    for (const std::uint32_t src : {0u, 1u}) {
      ScheduleBuilder builder(2);
      const ChannelId on = builder.add_channel(joining(src, 1 - src));
      for (const char c : order) {
        Op op = op_of(c == 'r'   ? OpKind::kRecv
                      : c == 's' ? OpKind::kSend
                                 : OpKind::kPut,
                      c == 'r' ? 1 - src : src, on);
        op.notify = c == 'i' ? Notify::kImm : Notify::kNone;
        builder.add(op);
      }
      const Schedule schedule = builder.build();
      std::vector<OpId> sources;
      std::vector<OpId> receives;
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        if (is_fifo_source(schedule.ops()[i])) sources.emplace_back(i);
        if (schedule.ops()[i].kind == OpKind::kRecv) receives.emplace_back(i);
        if (schedule.ops()[i].kind == OpKind::kPut && !is_fifo_source(schedule.ops()[i])) {
          EXPECT_FALSE(schedule.ops()[i].match.valid());
        }
      }
      const std::size_t pairs = std::min(sources.size(), receives.size());
      for (std::size_t k = 0; k < sources.size(); ++k) {
        EXPECT_EQ(schedule.op(sources[k]).match, k < pairs ? receives[k] : OpId()) << order;
      }
      for (std::size_t k = 0; k < receives.size(); ++k) {
        EXPECT_EQ(schedule.op(receives[k]).match, k < pairs ? sources[k] : OpId()) << order;
      }
    }
  }
}

TEST(Builder, MatchesFlags) {
  ScheduleBuilder builder(2);
  const ChannelId on = builder.add_channel(joining(1, 0));
  Op put = op_of(OpKind::kPut, 1, on);
  put.notify = Notify::kFlag;
  const OpId from = builder.add(put);
  const OpId to = builder.add(op_of(OpKind::kPoll, 0));
  builder.add_flag_match(from, to);
  const Schedule schedule = builder.build();
  EXPECT_EQ(schedule.op(OpId(0)).match, OpId(1));
  EXPECT_EQ(schedule.op(OpId(1)).match, OpId(0));
}

TEST(Builder, RefusesFlagsThatDoNotFit) {
  const auto with = [](auto&& fill) {
    ScheduleBuilder builder(2);
    const ChannelId on = builder.add_channel(joining(0, 1));
    Op put = op_of(OpKind::kPut, 0, on);
    put.notify = Notify::kFlag;
    builder.add(put);                         // 0
    builder.add(op_of(OpKind::kPoll, 1));     // 1
    builder.add(op_of(OpKind::kPoll, 0));     // 2
    builder.add(op_of(OpKind::kPut, 0, on));  // 3, without a flag
    fill(builder);
    return refusal(builder);
  };
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add_flag_match(OpId(0), OpId(9)); }),
            "a flag joins ops 0 and 9, but there are 4 ops");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add_flag_match(OpId(0), OpId(2)); }),
            "op 2 (poll) is of rank 0, but its put writes to rank 1");
  EXPECT_THAT(with([](ScheduleBuilder& b) { b.add_flag_match(OpId(3), OpId(1)); }),
              HasSubstr("not op 3 (put) to op 1 (poll)"));
  EXPECT_EQ(with([](ScheduleBuilder& b) {
              b.add_flag_match(OpId(0), OpId(1));
              b.add_flag_match(OpId(0), OpId(1));
            }),
            "op 0 is matched by two flags");
}

TEST(Builder, RefusesTablesThatDoNotFit) {
  const auto with = [](auto&& fill) {
    ScheduleBuilder builder(2);
    builder.add_buffer(RankId(0), 16);
    builder.add_buffer(RankId(1), 16);
    builder.add_channel(joining(0, 1));
    builder.add_slice({BufferId(0), 0, 8});
    builder.add_slice({BufferId(1), 0, 8});
    fill(builder);
    return refusal(builder);
  };
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add_buffer(RankId(2), 1); }),
            "buffer 2 belongs to rank 2, but there are 2 ranks");
  EXPECT_EQ(with([](ScheduleBuilder& b) {
              b.add_slice({BufferId(2), 0, 1});
            }),
            "slice 2 is in buffer 2, which does not exist");
  EXPECT_EQ(with([](ScheduleBuilder& b) {
              b.add_slice({BufferId(0), 9, 8});
            }),
            "slice 2 (offset 9, 8 bytes) goes past the end of buffer 0, which has 16 bytes");
  EXPECT_THAT(with([](ScheduleBuilder& b) {
                b.add_slice({BufferId(0), ~0ull, 2});
              }),
              HasSubstr("goes past the end of buffer 0"));
  EXPECT_THAT(with([](ScheduleBuilder& b) {
                b.add_slice({BufferId(0), 2, ~0ull});
              }),
              HasSubstr("goes past the end of buffer 0"));
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add_channel(joining(0, 5)); }),
            "channel 1 joins ranks 0 and 5, but there are 2 ranks");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.channel(ChannelId(0)).credit_on = ChannelId(7); }),
            "channel 0 has its credits on channel 7, which does not exist");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.channel(ChannelId(0)).credit_batch = 0; }),
            "channel 0 has a credit batch of 0; expected at least 1");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.channel(ChannelId(0)).bundle_delay = Time{-1}; }),
            "channel 0 has a negative bundle delay");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add(op_of(OpKind::kJoin, 2)); }),
            "op 0 (join) belongs to rank 2, but there are 2 ranks");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add(op_of(OpKind::kSend, 0)); }),
            "op 0 (send) needs a channel");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add(op_of(OpKind::kJoin, 0, ChannelId(0))); }),
            "op 0: a join has no channel");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add(op_of(OpKind::kSend, 1, ChannelId(0))); }),
            "op 0 (send) of rank 1 is on channel 0, whose source is rank 0");
  EXPECT_EQ(with([](ScheduleBuilder& b) { b.add(op_of(OpKind::kRecv, 0, ChannelId(0))); }),
            "op 0 (recv) of rank 0 is on channel 0, whose destination is rank 1");
  EXPECT_EQ(with([](ScheduleBuilder& b) {
              Op op = op_of(OpKind::kSend, 0, ChannelId(0));
              op.notify = Notify::kImm;
              b.add(op);
            }),
            "op 0: only a put notifies, not a send");
  EXPECT_EQ(with([](ScheduleBuilder& b) {
              Op op = op_of(OpKind::kJoin, 0);
              op.step = 0xffffffff;
              b.add(op);
            }),
            "op 0 (join) has step 4294967295; expected less");
  const auto with_op = [&](OpKind kind, std::uint32_t rank, ChannelId channel, SliceRange reads,
                           SliceRange writes) {
    return with([&](ScheduleBuilder& b) {
      Op op = op_of(kind, rank, channel);
      op.reads = reads;
      op.writes = writes;
      b.add(op);
    });
  };
  const ChannelId on(0);
  EXPECT_EQ(with_op(OpKind::kSend, 0, on, {1, 2}, {}),
            "op 0 (send) names slices that do not exist");
  EXPECT_EQ(with_op(OpKind::kSend, 0, on, {0xffffffff, 0xffffffff}, {}),
            "op 0 (send) names slices that do not exist");
  EXPECT_EQ(with_op(OpKind::kSend, 0, on, {0, 1}, {1, 1}), "op 0: a send writes nothing of memory");
  EXPECT_EQ(with_op(OpKind::kRecv, 1, on, {1, 1}, {}),
            "op 0: a recv reads or writes nothing of memory");
  EXPECT_EQ(with_op(OpKind::kSend, 0, on, {1, 1}, {}),
            "op 0 (send) reads memory of rank 1; expected rank 0");
  EXPECT_EQ(with_op(OpKind::kPut, 0, on, {0, 1}, {0, 1}),
            "op 0 (put) writes memory of rank 0; expected rank 1");
  EXPECT_EQ(with_op(OpKind::kGet, 0, on, {0, 1}, {0, 1}),
            "op 0 (get) reads memory of rank 0; expected rank 1");
  EXPECT_EQ(with_op(OpKind::kFetchAdd, 0, on, {0, 1}, {0, 1}),
            "op 0 (fetch_add) reads memory of rank 0; expected rank 1");
  EXPECT_EQ(with_op(OpKind::kReduce, 0, {}, {0, 1}, {}), "op 0: a reduce writes one slice, not 0");
  EXPECT_EQ(with_op(OpKind::kGet, 0, on, {1, 1}, {0, 1}), "");
}

TEST(Builder, CountsWordsAlone) {
  const auto with = [](std::uint64_t bytes, int picoseconds) {
    ScheduleBuilder builder(1);
    builder.add_buffer(RankId(0), 2 * bytes);
    Op op = op_of(OpKind::kReduce, 0);
    op.reads = builder.add_slices(std::vector<Slice>{{BufferId(0), 0, bytes}});
    op.writes = builder.add_slice({BufferId(0), bytes, bytes});
    OpArguments arguments;
    arguments.duration = Time{picoseconds};
    builder.add(op, arguments);
    return refusal(builder);
  };
  EXPECT_EQ(with(8, 5), "");
  EXPECT_EQ(with(8, -5), "op 0 (reduce) has a duration it cannot have");
  EXPECT_EQ(with(16, 5), "op 0 (reduce) has a duration it cannot have");
  EXPECT_EQ(with(4, 5), "op 0 (reduce) has a duration it cannot have");
}

TEST(Builder, RefusesArgumentsThatDoNotFit) {
  const auto with = [](OpKind kind, const OpArguments& arguments) {
    ScheduleBuilder builder(1);
    const ChannelId on = builder.add_channel(joining(0, 0));
    builder.add_buffer(RankId(0), 8);
    Op op = op_of(kind, 0, has_channel(kind) ? on : ChannelId());
    if (is_atomic(kind)) op.reads = op.writes = builder.add_slice({BufferId(0), 0, 8});
    builder.add(op, arguments);
    return refusal(builder);
  };
  const Operand literal{Operand::From::kLiteral, {}, 1};
  const Operand result{Operand::From::kResult, OpId(0), 1};
  const auto lasting = [](int picoseconds) { return OpArguments{Time{picoseconds}, {}, {}, {}}; };
  const auto operand = [](const Operand& o) { return OpArguments{Time{0}, o, {}, {}}; };
  const auto compare = [](const Operand& o) { return OpArguments{Time{0}, {}, o, {}}; };
  const auto address = [](const Operand& o) { return OpArguments{Time{0}, {}, {}, o}; };
  EXPECT_EQ(with(OpKind::kCalc, lasting(5)), "");
  EXPECT_EQ(with(OpKind::kCalc, lasting(-5)), "op 0 (calc) has a duration it cannot have");
  EXPECT_EQ(with(OpKind::kJoin, lasting(5)), "op 0 (join) has a duration it cannot have");
  EXPECT_EQ(with(OpKind::kPut, operand(literal)), "op 0 (put) has an operand it cannot have");
  EXPECT_EQ(with(OpKind::kFetchAdd, operand(literal)), "");
  EXPECT_EQ(with(OpKind::kFetchAdd, compare(literal)), "");
  EXPECT_EQ(with(OpKind::kPut, compare(literal)), "op 0 (put) has an operand it cannot have");
  EXPECT_EQ(with(OpKind::kGet, compare(literal)),
            "op 0 (get) is tested, but does not read one piece of 1 byte or more");
  const auto masked = [](const Operand& o) {
    return OpArguments{Time{0}, {}, o, {}, 255, Expect::kUnequal};
  };
  EXPECT_EQ(with(OpKind::kFetchAdd, masked(literal)), "");
  for (const auto& [kind, compared] :
       {std::pair{OpKind::kFetchAdd, Operand{}}, std::pair{OpKind::kCompareSwap, literal}}) {
    EXPECT_EQ(with(kind, masked(compared)),
              fmt::format("op 0 ({}) has a mask or an expectation it cannot have", name(kind)));
  }
  const Operand attempt{Operand::From::kAttempt, OpId(0), 8, 16, 4096};
  EXPECT_EQ(with(OpKind::kPut, address(attempt)), "");
  EXPECT_EQ(with(OpKind::kPut, address({Operand::From::kAttempt, OpId(7), 1})),
            "op 0 (put) uses the attempt of op 7, which is not an operation of its rank");
  EXPECT_EQ(with(OpKind::kPut, address({Operand::From::kLiteral, {}, 1, 2})),
            "op 0 (put) has a literal operand with more than its value");
  EXPECT_EQ(with(OpKind::kCompareSwap, compare(literal)), "");
  EXPECT_EQ(with(OpKind::kPut, address(literal)), "");
  EXPECT_EQ(with(OpKind::kSend, address(literal)), "op 0 (send) has an operand it cannot have");
  EXPECT_EQ(with(OpKind::kPut, address(result)),
            "op 0 (put) uses the result of op 0, which is not a get or an atomic of its rank");
}

TEST(Builder, RefusesEdgesThatDoNotFit) {
  const auto with = [](OpId pred, OpId succ) {
    ScheduleBuilder builder(2);
    builder.add(op_of(OpKind::kJoin, 0));
    builder.add(op_of(OpKind::kJoin, 1));
    builder.add_edge(pred, succ);
    return refusal(builder);
  };
  EXPECT_EQ(with(OpId(0), OpId(2)), "an edge joins ops 0 and 2, but there are 2 ops");
  EXPECT_EQ(with(OpId(0), OpId(1)),
            "an edge joins op 0 of rank 0 to op 1 of rank 1; edges join operations of one rank");
}

// Any two edges of seven operations of three ranks, which stand rank by rank or do not.
TEST(Builder, FindsEachEdgeBetweenRanks) {
  for (const std::vector<std::uint32_t>& rank_of : std::vector<std::vector<std::uint32_t>>{
           {0, 0, 1, 1, 1, 3, 3}, {0, 3, 1, 1, 0, 1, 3}, {1, 1, 1, 1, 1, 1, 1}}) {
    const auto ops = static_cast<std::uint32_t>(rank_of.size());
    for (std::uint32_t n = 0; n < ops * ops * ops * ops; ++n) {
      const std::uint32_t ends[] = {n % ops, n / ops % ops, n / ops / ops % ops,
                                    n / ops / ops / ops};
      ScheduleBuilder builder(4);
      for (const std::uint32_t rank : rank_of) builder.add(op_of(OpKind::kJoin, rank));
      builder.add_edge(OpId(ends[0]), OpId(ends[1]));
      builder.add_edge(OpId(ends[2]), OpId(ends[3]));
      const std::size_t expected = (rank_of[ends[0]] != rank_of[ends[1]] ? 1 : 0) +
                                   (rank_of[ends[2]] != rank_of[ends[3]] ? 1 : 0);
      ASSERT_EQ(builder.validate().size(), expected) << n;
    }
  }
}

TEST(Builder, RegionsAreRunsOfOneRanksProgram) {
  const auto with = [](OpId entry, std::uint32_t count, std::uint32_t attempts = 1) {
    ScheduleBuilder builder(2);
    for (const std::uint32_t rank : {0u, 1u, 0u, 1u, 1u}) builder.add(op_of(OpKind::kJoin, rank));
    Region region;
    region.entry = entry;
    region.count = count;
    region.max_attempts = attempts;
    builder.add_region(region);
    return refusal(builder);
  };
  // Other ranks' operations may be added in between.
  EXPECT_EQ(with(OpId(0), 2), "");
  EXPECT_EQ(with(OpId(1), 3), "");
  EXPECT_EQ(with(OpId(0), 3), "region 0 goes past the end of rank 0's program");
  EXPECT_EQ(with(OpId(2), 2), "region 0 goes past the end of rank 0's program");
  EXPECT_EQ(with(OpId(1), 0xffffffff), "region 0 goes past the end of rank 1's program");
  EXPECT_EQ(with(OpId(0), 0), "region 0 holds no operations or some that do not exist");
  EXPECT_EQ(with(OpId(), 1), "region 0 holds no operations or some that do not exist");
  EXPECT_THAT(with(OpId(0), 1, 0), HasSubstr("region 0 has no attempts"));
}

TEST(Builder, RefusesFactsThatDoNotFit) {
  ScheduleBuilder builder(1);
  builder.add_buffer(RankId(0), 8);
  builder.add_post({{BufferId(0), 4, 5}, ValueId(0), 0});
  EXPECT_EQ(refusal(builder), "a post fact goes past the end of buffer 0, which has 8 bytes");
  builder = ScheduleBuilder(1);
  builder.add_pre({{BufferId(0), 0, 0}, ValueId(0), 0});
  EXPECT_EQ(refusal(builder), "a pre fact is about buffer 0, which does not exist");
}

TEST(Builder, FindsNoMoreThanAreOfUse) {
  ScheduleBuilder builder(1);
  for (int i = 0; i < 100; ++i) builder.add(op_of(OpKind::kSend, 0));
  EXPECT_GE(builder.validate().size(), 20u);
  EXPECT_LT(builder.validate().size(), 25u);
}

TEST(Builder, IsEmptyAfterwards) {
  ScheduleBuilder builder(1);
  builder.add(op_of(OpKind::kJoin, 0));
  builder.set_title("title");
  builder.set_message_bytes(5);
  const Schedule first = builder.build();
  EXPECT_EQ(first.op_count(), 1u);
  EXPECT_EQ(first.title(), "title");
  EXPECT_EQ(first.message_bytes(), 5u);
  const Schedule second = builder.build();
  EXPECT_EQ(second.op_count(), 0u);
  EXPECT_EQ(second.title(), "");
}

}  // namespace
}  // namespace slackline::sched
