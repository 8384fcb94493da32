// The rule on flags: what a poll may look at, what stands there before, and who may read it. Each
// schedule here that is refused ends with wrong bytes when it is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/sched/verify_pair.h"

namespace slackline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A put of a value with a flag, its poll, and a copy of what it brought.
struct Flagged : Pair {
  BufferId sink = buffer(1, kBytes);
  OpId put_op;
  OpId poll_op;

  explicit Flagged(std::vector<Slice> target, std::vector<Slice> flag) {
    std::uint64_t bytes = 0;
    for (const Slice& slice : target) bytes += slice.bytes;
    put_op = add(OpKind::kPut, 0, there, {at_from(0, bytes)}, std::move(target), Notify::kFlag);
    poll_op = poll(1, std::move(flag));
    Draft::flag(put_op, poll_op);
  }
  OpId take(const Slice& landed) {
    const OpId op = copy(1, landed, {sink, 0, landed.bytes});
    edge(poll_op, op);
    return op;
  }
};

TEST(VerifyFlags, TheLastBytesOfThePutAreAFlag) {
  for (const std::uint64_t bytes : {1u, 3u, 8u}) {
    Flagged d({{BufferId(1), 0, 8}}, {{BufferId(1), 8 - bytes, bytes}});
    d.take(d.at_to());
    d.post.push_back({{d.sink, 0, 8}, ValueId(0), 0});
    EXPECT_THAT(check(d), IsEmpty());
  }
}

TEST(VerifyFlags, AScatteredPutEndsInItsLastSlice) {
  Flagged right({{BufferId(1), 8, 7}, {BufferId(1), 0, 1}, {BufferId(1), 4, 0}},
                {{BufferId(1), 0, 1}});
  EXPECT_THAT(check(right), IsEmpty());
  Flagged wrong({{BufferId(1), 0, 1}, {BufferId(1), 8, 7}}, {{BufferId(1), 0, 1}});
  EXPECT_THAT(check(wrong),
              ElementsAre("flag: op 1 (poll, rank 1) polls bytes [0, 1) of buffer 1 on rank 1; "
                          "expected the end of bytes [8, 15) of buffer 1 on rank 1, which op 0 "
                          "(put, rank 0) writes last"));
}

TEST(VerifyFlags, TheFirstBytesOfAPutAreNone) {
  EXPECT_THAT(check(Flagged({{BufferId(1), 0, 8}}, {{BufferId(1), 0, 4}})),
              ElementsAre(HasSubstr("flag: op 1 (poll, rank 1) polls bytes [0, 4)")));
}

TEST(VerifyFlags, MoreThanThePutWritesIsNone) {
  EXPECT_THAT(check(Flagged({{BufferId(1), 0, 4}}, {{BufferId(1), 3, 4}})),
              ElementsAre(HasSubstr("flag: op 1 (poll, rank 1) polls bytes [3, 7)")));
  EXPECT_THAT(check(Flagged({{BufferId(1), 4, 4}}, {{BufferId(1), 0, 8}})),
              ElementsAre(HasSubstr("flag: op 1 (poll, rank 1) polls bytes [0, 8)")));
}

TEST(VerifyFlags, APollLooksAtOneSliceWithBytes) {
  EXPECT_THAT(check(Flagged({{BufferId(1), 0, 8}}, {})),
              ElementsAre("flag: op 1 (poll, rank 1) looks at 0 slices of 0 bytes; expected one of "
                          "at least 1 byte"));
  EXPECT_THAT(check(Flagged({{BufferId(1), 0, 8}}, {{BufferId(1), 8, 0}})),
              ElementsAre(HasSubstr("looks at 1 slices of 0 bytes")));
  EXPECT_THAT(check(Flagged({{BufferId(1), 0, 8}}, {{BufferId(1), 6, 1}, {BufferId(1), 7, 1}})),
              ElementsAre(HasSubstr("looks at 2 slices of 2 bytes")));
  EXPECT_THAT(check(Flagged({}, {{BufferId(1), 0, 1}})),
              ElementsAre("flag: op 1 (poll, rank 1) polls bytes [0, 1) of buffer 1 on rank 1, but "
                          "op 0 (put, rank 0) writes no bytes"));
}

TEST(VerifyFlags, AFixedOffsetMovesTheFlag) {
  Flagged d({{BufferId(1), 0, 4}}, {{BufferId(1), 11, 1}});
  OpArguments arguments;
  arguments.address_offset = {Operand::From::kLiteral, {}, 8};
  d.ops[d.put_op.value].arguments = arguments;
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyFlags, APreFactStandsInTheFlag) {
  Flagged d({{BufferId(1), 0, 8}}, {{BufferId(1), 7, 1}});
  d.pre.push_back({{BufferId(1), 0, 16}, ValueId(1), 0});
  d.take(d.at_to());
  EXPECT_THAT(check(d),
              ElementsAre("flag: op 1 (poll, rank 1) polls bytes [7, 8) of buffer 1 on "
                          "rank 1 for op 0 (put, rank 0), but before it value 1 from byte "
                          "7 stands there; expected zeros"));
}

TEST(VerifyFlags, AnOrderedReceiveWroteTheFlag) {
  Pair e;
  e.send(e.there, {e.at_from()});
  const OpId heard = e.recv(e.back);
  const OpId raised = e.put(e.there, e.at_from(), e.at_to(), Notify::kFlag);
  e.edge(heard, raised);
  const OpId received = e.recv(e.there, {e.at_to()});
  e.edge(received, e.send(e.back));
  const OpId seen = e.poll(1, {e.at_to(7, 1)});
  e.edge(received, seen);
  e.flag(raised, seen);
  EXPECT_THAT(check(e), ElementsAre(HasSubstr("flag: op 5 (poll, rank 1) polls bytes [7, 8)")));
}

TEST(VerifyFlags, AnOrderedCopyWroteTheFlag) {
  Pair d;
  const BufferId own = d.buffer(1, 8);
  d.pre.push_back({{own, 0, 8}, ValueId(3), 0});
  const OpId told = d.recv(d.back);
  const OpId put = d.put(d.there, d.at_from(), d.at_to(), Notify::kFlag);
  d.edge(told, put);
  const OpId copy = d.copy(1, {own, 0, 8}, d.at_to());
  d.edge(copy, d.send(d.back));
  const OpId poll = d.poll(1, {d.at_to(7, 1)});
  d.edge(copy, poll);
  d.flag(put, poll);
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("but before it value 3 from byte 7 stands there")));
}

// Puts with a flag into one place; the second is told to come when the first was seen.
Pair two_puts() {
  Pair d;
  const OpId first = d.put(d.there, d.at_from(), d.at_to(), Notify::kFlag);
  const OpId heard = d.recv(d.back);
  const OpId second = d.put(d.there, d.at_from(8, 8), d.at_to(), Notify::kFlag);
  d.edge(heard, second);
  const OpId before = d.poll(1, {d.at_to(7, 1)});
  d.flag(first, before);
  d.edge(before, d.send(d.back));
  const OpId poll = d.poll(1, {d.at_to(7, 1)});
  d.edge(before, poll);
  d.flag(second, poll);
  return d;
}

// A put with a flag behind `first` of rank 0, which the poll certainly comes after.
void flag_behind(Pair& d, OpId first) {
  const OpId put = d.put(d.there, d.at_from(), d.at_to(), Notify::kFlag);
  d.edge(first, put);
  d.edge(first, d.send(d.there));
  const OpId told = d.recv(d.there);
  const OpId poll = d.poll(1, {d.at_to(7, 1)});
  d.edge(told, poll);
  d.flag(put, poll);
}

TEST(VerifyFlags, ASecondFlagComesAfterItsPollLoweredTheFirst) {
  EXPECT_THAT(check(two_puts()), IsEmpty());
}

TEST(VerifyFlags, AnUnflaggedPutWroteTheFlag) {
  Pair d;
  flag_behind(d, d.put(d.there, d.at_from(), d.at_to()));
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("but before it value 0 from byte 7 stands there")));
}

TEST(VerifyFlags, WhatIsPolledAgainIsNoData) {
  Pair d = two_puts();
  const BufferId sink = d.buffer(1, 8);
  const OpId poll(3);
  ASSERT_EQ(d.ops[poll.value].op.kind, OpKind::kPoll);
  const OpId copy = d.copy(1, d.at_to(0, 8), {sink, 0, 8});
  d.edge(poll, copy);
  d.edge(copy, OpId(4));
  EXPECT_THAT(check(d),
              ElementsAre("flag: op 6 (copy, rank 1) reads bytes [7, 8) of buffer 1 on "
                          "rank 1, which holds zeros that op 3 (poll, rank 1) left of its "
                          "flag: what is polled again is no data"));
  // But for the flag it is data, and of the last poll the flag, too.
  d.ops[copy.value].reads = {d.at_to(0, 7)};
  d.ops[copy.value].writes = {{sink, 0, 7}};
  d.post.push_back({{sink, 0, 7}, ValueId(0), 0});
  d.post.push_back({d.at_to(), ValueId(0), 8});
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyFlags, FlagsAreTheSameBytesOrShareNone) {
  Pair d;
  const OpId first = d.put(d.there, d.at_from(0, 4), d.at_to(0, 4), Notify::kFlag);
  const OpId heard = d.recv(d.back);
  const OpId second = d.put(d.there, d.at_from(0, 4), d.at_to(1, 4), Notify::kFlag);
  d.edge(heard, second);
  const OpId poll = d.poll(1, {d.at_to(2, 2)});
  d.flag(first, poll);
  const OpId told = d.send(d.back);
  d.edge(poll, told);
  const OpId later = d.poll(1, {d.at_to(3, 2)});
  d.edge(poll, later);
  d.flag(second, later);
  EXPECT_THAT(check(d),
              ElementsAre("flag: op 5 (poll, rank 1) polls bytes [3, 5) of buffer 1 on "
                          "rank 1, and op 3 (poll, rank 1) polls bytes [2, 4) of buffer 1 "
                          "on rank 1; expected the same bytes or none of them"));
}

TEST(VerifyFlags, WhatMayBeZeroIsNoFlag) {
  Pair d;
  const BufferId sum = d.buffer(0, 8);
  const OpId reduce =
      d.add(OpKind::kReduce, 0, {}, {d.at_from(0, 8), d.at_from(8, 8)}, {{sum, 0, 8}});
  const OpId put = d.put(d.there, {sum, 0, 8}, d.at_to(), Notify::kFlag);
  d.edge(reduce, put);
  d.flag(put, d.poll(1, {d.at_to(7, 1)}));
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("of which bytes may be zero; expected a value of the "
                                              "contract")));
  // The end of the payload is what counts.
  d.ops[put.value].reads = {{sum, 0, 7}, d.at_from(0, 1)};
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyFlags, AnAtomicsWordIsNoFlag) {
  Pair d;
  flag_behind(d, d.atomic(OpKind::kFetchAdd, d.there, d.at_to(0, 8)));
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("before it the word that op 0 (fetch_add, rank 0) "
                                              "left, from byte 7 stands there")));
}

TEST(VerifyFlags, AWordBeginsAtAMultipleOfEight) {
  Pair d;
  d.atomic(OpKind::kFetchAdd, d.there, d.at_to(4, 8));
  EXPECT_THAT(check(d),
              ElementsAre("structure: op 0 (fetch_add, rank 0) works on bytes [4, 12) of buffer 1 "
                          "on rank 1; expected a multiple of 8 as their beginning"));
  OpArguments arguments;
  arguments.address_offset = {Operand::From::kLiteral, {}, 4};
  d.ops[0].arguments = arguments;
  EXPECT_THAT(check(d), IsEmpty());
}

}  // namespace
}  // namespace slackline::testing
