// The last value that the builder takes of each kind, and the first that it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sched/builder.h"
#include "tests/unit/sched/builder_case.h"

namespace slackline::sched {
namespace {

using ::testing::StartsWith;

constexpr std::uint64_t kMost = (std::uint64_t{1} << 63) - 1;

// Of a schedule of two ranks, each with a buffer of 16 bytes and half of it as a slice, and a
// channel from the first to the second, to which `fill` adds.
template <class Fill>
std::string with(Fill&& fill) {
  ScheduleBuilder builder(2);
  builder.add_buffer(RankId(0), 16);
  builder.add_buffer(RankId(1), 16);
  builder.add_channel(joining(0, 1));
  builder.add_slice({BufferId(0), 0, 8});
  builder.add_slice({BufferId(1), 0, 8});
  fill(builder);
  return refusal(builder);
}

TEST(BuilderEdges, OfBuffersAndSlices) {
  EXPECT_EQ(with([](auto& b) { b.add_buffer(RankId(1), kMost); }), "");
  EXPECT_EQ(with([](auto& b) { b.add_buffer(RankId(1), kMost + 1); }),
            "buffer 2 has 9223372036854775808 bytes; expected at most 2^63 - 1");
  EXPECT_EQ(with([](auto& b) { b.add_slice({BufferId(0), 0, 16}); }), "");
  EXPECT_EQ(with([](auto& b) { b.add_slice({BufferId(0), 16, 0}); }), "");
  EXPECT_EQ(with([](auto& b) { b.add_slice({BufferId(0), 8, 8}); }), "");
  for (const Slice slice :
       {Slice{BufferId(0), 0, 17}, {BufferId(0), 17, 0}, {BufferId(0), 16, 1}}) {
    EXPECT_THAT(with([&](auto& b) { b.add_slice(slice); }), StartsWith("slice 2 (offset"));
  }
}

TEST(BuilderEdges, OfChannels) {
  EXPECT_EQ(with([](auto& b) { b.add_channel(joining(1, 1)); }), "");
  EXPECT_EQ(with([](auto& b) { b.add_channel(joining(2, 1)); }),
            "channel 1 joins ranks 2 and 1, but there are 2 ranks");
  EXPECT_EQ(with([](auto& b) { b.add_channel(joining(1, 2)); }),
            "channel 1 joins ranks 1 and 2, but there are 2 ranks");
  EXPECT_EQ(with([](auto& b) { b.channel(ChannelId(0)).credit_on = ChannelId(0); }), "");
  EXPECT_EQ(with([](auto& b) { b.channel(ChannelId(0)).credit_on = ChannelId(1); }),
            "channel 0 has its credits on channel 1, which does not exist");
  EXPECT_EQ(with([](auto& b) { b.channel(ChannelId(0)).bundle_delay = Time{0}; }), "");
}

TEST(BuilderEdges, OfOperations) {
  const auto with_op = [](OpKind kind, std::uint32_t rank, ChannelId channel, SliceRange reads,
                          SliceRange writes, std::uint32_t step = 0) {
    return with([&](auto& b) {
      Op op = op_of(kind, rank, channel);
      op.reads = reads;
      op.writes = writes;
      op.step = step;
      b.add(op);
    });
  };
  const ChannelId on(0);
  EXPECT_EQ(with_op(OpKind::kJoin, 1, {}, {}, {}, 0xfffffffeu), "");
  EXPECT_EQ(with_op(OpKind::kSend, 0, on, {2, 0}, {}), "");
  EXPECT_EQ(with_op(OpKind::kSend, 0, on, {3, 0}, {}),
            "op 0 (send) names slices that do not exist");
  EXPECT_EQ(with_op(OpKind::kRecv, 1, on, {}, {2, 1}),
            "op 0 (recv) names slices that do not exist");
  EXPECT_EQ(with_op(OpKind::kRecv, 1, on, {}, {0, 3}),
            "op 0 (recv) names slices that do not exist");
  EXPECT_EQ(with_op(OpKind::kSend, 0, ChannelId(1), {}, {}), "op 0 (send) needs a channel");
  // What of memory an operation takes, by its kind.
  for (const OpKind kind :
       {OpKind::kRecv, OpKind::kFlush, OpKind::kCalc, OpKind::kDelay, OpKind::kJoin}) {
    EXPECT_EQ(with_op(kind, kind == OpKind::kRecv ? 1 : 0, has_channel(kind) ? on : ChannelId(),
                      {0, 1}, {}),
              "op 0: a " + std::string(name(kind)) + " reads or writes nothing of memory");
  }
  for (const OpKind kind : {OpKind::kSend, OpKind::kPoll, OpKind::kFlush, OpKind::kCalc,
                            OpKind::kDelay, OpKind::kJoin}) {
    EXPECT_THAT(with_op(kind, 0, has_channel(kind) ? on : ChannelId(), {}, {0, 1}),
                ::testing::AllOf(StartsWith("op 0: a " + std::string(name(kind))),
                                 ::testing::EndsWith("writes nothing of memory")));
  }
  EXPECT_EQ(with_op(OpKind::kPoll, 0, {}, {0, 1}, {}), "");
  EXPECT_EQ(with_op(OpKind::kCopy, 0, {}, {0, 1}, {0, 1}), "");
  EXPECT_EQ(with_op(OpKind::kCopy, 0, {}, {1, 1}, {0, 1}),
            "op 0 (copy) reads memory of rank 1; expected rank 0");
  EXPECT_EQ(with_op(OpKind::kCopy, 0, {}, {0, 1}, {0, 2}),
            "op 0 (copy) writes memory of rank 1; expected rank 0");
  EXPECT_EQ(with_op(OpKind::kGet, 0, on, {1, 1}, {0, 2}),
            "op 0 (get) writes memory of rank 1; expected rank 0");
  EXPECT_EQ(with_op(OpKind::kRecv, 1, on, {}, {0, 1}),
            "op 0 (recv) writes memory of rank 0; expected rank 1");
  EXPECT_EQ(with_op(OpKind::kReduce, 0, {}, {0, 1}, {0, 1}), "");
}

TEST(BuilderEdges, OfAtomics) {
  const auto with_atomic = [](std::vector<Slice> reads, std::vector<Slice> writes) {
    return with([&](auto& b) {
      Op op = op_of(OpKind::kFetchAdd, 0, ChannelId(0));
      op.reads = b.add_slices(reads);
      op.writes = b.add_slices(writes);
      b.add(op);
    });
  };
  const Slice there{BufferId(1), 0, 8};
  const Slice here{BufferId(0), 0, 8};
  const char* const shape =
      "op 0: a fetch_add reads and writes one remote slice, and writes at most one local result";
  EXPECT_EQ(with_atomic({there}, {there}), "");
  EXPECT_EQ(with_atomic({there}, {there, here}), "");
  EXPECT_EQ(with_atomic({}, {there}), shape);
  EXPECT_EQ(with_atomic({there, there}, {there}), shape);
  EXPECT_EQ(with_atomic({there}, {}), shape);
  EXPECT_EQ(with_atomic({there}, {there, here, here}), shape);
  EXPECT_EQ(with_atomic({there}, {{BufferId(1), 8, 8}}), shape);
  EXPECT_EQ(with_atomic({there}, {there, there}),
            "op 0 (fetch_add) writes memory of rank 1; expected rank 0");
}

TEST(BuilderEdges, OfBytesThatOperationsName) {
  // A put that carries this many bytes, and a copy that is no message; then a get of one.
  const auto carrying = [](std::uint64_t bytes, bool one_more) {
    ScheduleBuilder b(2);
    b.add_buffer(RankId(0), kMost);
    b.add_buffer(RankId(1), kMost);
    const ChannelId on = b.add_channel(joining(0, 1));
    Op op = op_of(OpKind::kPut, 0, on);
    op.reads = b.add_slice({BufferId(0), 0, bytes});
    b.add(op);
    op = op_of(OpKind::kCopy, 0);
    op.reads = b.add_slice({BufferId(0), 0, kMost});
    op.writes = op.reads;
    b.add(op);
    if (one_more) {
      op = op_of(OpKind::kPut, 0, on);
      op.writes = b.add_slice({BufferId(1), 0, 1});  // without reads, what it writes counts
      b.add(op);
    }
    return refusal(b);
  };
  EXPECT_EQ(carrying(kMost, false), "");
  EXPECT_EQ(carrying(kMost - 1, true), "");
  EXPECT_EQ(carrying(kMost, true), "the messages carry 2^63 bytes or more in all; expected less");
}

TEST(BuilderEdges, OfArguments) {
  const auto with_arguments = [](OpKind kind, const OpArguments& arguments, std::uint64_t bytes = 8,
                                 std::uint32_t pieces = 1) {
    ScheduleBuilder b(1);
    b.add_buffer(RankId(0), 64);
    Op op = op_of(kind, 0, has_channel(kind) ? b.add_channel(joining(0, 0)) : ChannelId());
    const SliceRange piece = b.add_slices(std::vector<Slice>(pieces, {BufferId(0), 0, bytes}));
    if (kind == OpKind::kGet || is_atomic(kind)) op.reads = op.writes = piece;
    b.add(op, arguments);
    return refusal(b);
  };
  const Operand literal{Operand::From::kLiteral, {}, 1};
  const OpArguments compare{Time{0}, {}, literal, {}};
  const OpArguments address{Time{0}, {}, {}, literal};
  for (const std::uint64_t bytes : {1ull, 8ull, 9ull, 16ull}) {
    EXPECT_EQ(with_arguments(OpKind::kGet, compare, bytes), "");
  }
  for (const std::uint64_t bytes : {0ull}) {
    EXPECT_EQ(with_arguments(OpKind::kGet, compare, bytes),
              "op 0 (get) is tested, but does not read one piece of 1 byte or more");
  }
  EXPECT_EQ(with_arguments(OpKind::kGet, compare, 4, 2),
            "op 0 (get) is tested, but does not read one piece of 1 byte or more");
  EXPECT_EQ(with_arguments(OpKind::kDelay, {Time{5}, {}, {}, {}}), "");
  EXPECT_EQ(with_arguments(OpKind::kJoin, {Time{0}, {}, {}, {}}), "");
  EXPECT_EQ(with_arguments(OpKind::kJoin, address), "op 0 (join) has an operand it cannot have");
  EXPECT_EQ(with_arguments(OpKind::kGet, address), "");
  EXPECT_EQ(with_arguments(OpKind::kFetchOr, address), "");
  // A mask alone, and an expectation alone, are as little allowed as both.
  for (const auto& [mask, expect] :
       {std::pair{~0ull, Expect::kUnequal}, {255ull, Expect::kEqual}}) {
    EXPECT_EQ(with_arguments(OpKind::kCompareSwap, {Time{0}, literal, literal, {}, mask, expect}),
              "op 0 (compare_swap) has a mask or an expectation it cannot have");
    EXPECT_EQ(with_arguments(OpKind::kGet, {Time{0}, {}, literal, {}, mask, expect}), "");
  }
  EXPECT_EQ(with_arguments(OpKind::kGet, {Time{0}, {}, {}, {Operand::From::kLiteral, {}, 1, 0, 2}}),
            "op 0 (get) has a literal operand with more than its value");
  EXPECT_EQ(
      with_arguments(OpKind::kFetchAdd, {Time{0}, {Operand::From::kAttempt, OpId(1), 1}, {}, {}}),
      "op 0 (fetch_add) uses the attempt of op 1, which is not an operation of its rank");
}

TEST(BuilderEdges, OfOperandsOfOtherRanks) {
  const auto using_op = [](Operand::From from, std::uint32_t id) {
    ScheduleBuilder b(2);
    const ChannelId on = b.add_channel(joining(0, 0));
    b.add(op_of(OpKind::kGet, 0, on));
    b.add(op_of(OpKind::kGet, 1, b.add_channel(joining(1, 1))));
    b.add(op_of(OpKind::kJoin, 0));
    b.add(op_of(OpKind::kPut, 0, on), {Time{0}, {}, {}, {from, OpId(id), 1}});
    return refusal(b);
  };
  EXPECT_EQ(using_op(Operand::From::kResult, 0), "");
  EXPECT_EQ(using_op(Operand::From::kResult, 2),
            "op 3 (put) uses the result of op 2, which is not a get or an atomic of its rank");
  EXPECT_EQ(using_op(Operand::From::kAttempt, 2), "");
  EXPECT_EQ(using_op(Operand::From::kResult, 1),
            "op 3 (put) uses the result of op 1, which is not a get or an atomic of its rank");
  EXPECT_EQ(using_op(Operand::From::kAttempt, 1),
            "op 3 (put) uses the attempt of op 1, which is not an operation of its rank");
  EXPECT_EQ(using_op(Operand::From::kAttempt, 4),
            "op 3 (put) uses the attempt of op 4, which is not an operation of its rank");
}

TEST(BuilderEdges, OfEdgesAndFlags) {
  const auto joined = [](OpId pred, OpId succ) {
    return with([&](auto& b) {
      b.add(op_of(OpKind::kJoin, 0));
      b.add(op_of(OpKind::kJoin, 0));
      b.add_edge(pred, succ);
    });
  };
  EXPECT_EQ(joined(OpId(0), OpId(1)), "");
  EXPECT_EQ(joined(OpId(2), OpId(1)), "an edge joins ops 2 and 1, but there are 2 ops");
  EXPECT_EQ(joined(OpId(1), OpId(2)), "an edge joins ops 1 and 2, but there are 2 ops");
  const auto flagged = [](std::uint32_t put, std::uint32_t poll) {
    return with([&](auto& b) {
      Op op = op_of(OpKind::kPut, 0, ChannelId(0));
      op.notify = Notify::kFlag;
      b.add(op);                       // 0
      b.add(op);                       // 1
      b.add(op_of(OpKind::kPoll, 1));  // 2
      b.add(op_of(OpKind::kPoll, 1));  // 3
      op.notify = Notify::kImm;
      b.add(op);  // 4
      b.add_flag_match(OpId(0), OpId(2));
      b.add_flag_match(OpId(put), OpId(poll));
    });
  };
  EXPECT_EQ(flagged(1, 3), "");
  EXPECT_EQ(flagged(1, 2), "op 2 is matched by two flags");
  EXPECT_EQ(flagged(0, 3), "op 0 is matched by two flags");
  EXPECT_EQ(flagged(5, 3), "a flag joins ops 5 and 3, but there are 5 ops");
  EXPECT_EQ(flagged(1, 5), "a flag joins ops 1 and 5, but there are 5 ops");
  EXPECT_EQ(flagged(1, 4),
            "a flag joins a put that notifies by flag to a poll, not op 1 (put) to op 4 (put)");
  EXPECT_EQ(flagged(2, 3),
            "a flag joins a put that notifies by flag to a poll, not op 2 (poll) to op 3 (poll)");
  EXPECT_EQ(flagged(4, 3),
            "a flag joins a put that notifies by flag to a poll, not op 4 (put) to op 3 (poll)");
}

TEST(BuilderEdges, OfRegionsAndFacts) {
  const auto region = [](Region r) {
    return with([&](auto& b) {
      b.add(op_of(OpKind::kJoin, 0));
      b.add(op_of(OpKind::kJoin, 0));
      r.kind = RegionKind::kRepeat;
      b.add_region(r);
    });
  };
  const auto of = [](std::uint32_t entry, std::uint32_t count, std::uint32_t attempts = 1,
                     std::uint32_t p = 0, std::int64_t backoff = 0) {
    Region r;
    r.entry = OpId(entry);
    r.count = count;
    r.max_attempts = attempts;
    r.p = {p};
    r.backoff = Time{backoff};
    return r;
  };
  const char* const none = "region 0 holds no operations or some that do not exist";
  const char* const figures =
      "region 0 has no attempts, a probability above one million parts per million, or a negative "
      "backoff";
  EXPECT_EQ(region(of(0, 2, 1, 1'000'000)), "");
  EXPECT_EQ(region(of(1, 1)), "");
  EXPECT_EQ(region(of(1, 2)), "region 0 goes past the end of rank 0's program");
  EXPECT_EQ(region(of(2, 1)), none);
  EXPECT_EQ(region(of(0, 0)), none);
  EXPECT_EQ(region(of(0, 1, 0)), figures);
  EXPECT_EQ(region(of(0, 1, 1, 1'000'001)), figures);
  EXPECT_EQ(region(of(0, 1, 1, 0, -1)), figures);

  const auto fact = [](bool pre, const Fact& f) {
    return with([&](auto& b) { pre ? b.add_pre(f) : b.add_post(f); });
  };
  for (const bool pre : {true, false}) {
    const std::string side = pre ? "a pre fact" : "a post fact";
    EXPECT_EQ(fact(pre, {{BufferId(1), 16, 0}, ValueId(0), 0}), "");
    EXPECT_EQ(fact(pre, {{BufferId(1), 0, 16}, ValueId(0xffffffffu), kMost}), "");
    EXPECT_EQ(fact(pre, {{BufferId(2), 0, 1}, ValueId(0), 0}),
              side + " is about buffer 2, which does not exist");
    for (const Slice slice :
         {Slice{BufferId(1), 17, 0}, {BufferId(1), 0, 17}, {BufferId(1), 9, 8}}) {
      EXPECT_EQ(fact(pre, {slice, ValueId(0), 0}),
                side + " goes past the end of buffer 1, which has 16 bytes");
    }
    EXPECT_THAT(fact(pre, {{BufferId(1), 0, 1}, ValueId(0), kMost + 1}),
                StartsWith(side + " is about bytes of a value from 9223372036854775808 on"));
    EXPECT_THAT(fact(pre, {{BufferId(1), 0, 1}, ValueId(0), 0, 0}),
                StartsWith(side + " is about 0 values from 0 on"));
  }
  const Slice byte{BufferId(1), 0, 1};
  EXPECT_EQ(fact(true, {byte, ValueId(0), 0, 2}),
            "a pre fact is about 2 values from 0 on; expected 1");
  EXPECT_EQ(fact(false, {byte, ValueId(0), 0, 2}), "");
  EXPECT_EQ(fact(false, {byte, ValueId(0xfffffffdu), 0, 2}), "");
  EXPECT_THAT(fact(false, {byte, ValueId(0xfffffffeu), 0, 2}),
              StartsWith("a post fact is about 2"));
}

TEST(BuilderEdges, TwentyFindingsAreEnough) {
  ScheduleBuilder b(1);
  for (int i = 0; i < 30; ++i) b.add(op_of(OpKind::kJoin, 1));
  EXPECT_EQ(b.validate().size(), 20u);
  ScheduleBuilder c(1);
  for (int i = 0; i < 15; ++i) c.add_buffer(RankId(1), 1);
  for (int i = 0; i < 15; ++i) c.add_channel(joining(1, 1));
  EXPECT_EQ(c.validate().size(), 20u);
}

}  // namespace
}  // namespace slackline::sched
