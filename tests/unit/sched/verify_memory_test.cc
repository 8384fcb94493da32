// The verifier's codes of memory, each by a minimal schedule, with its message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sched/verify_pair.h"

namespace slackline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(VerifyMemory, Uninitialised) {
  Pair d;
  d.pre = {{d.at_from(0, 4), ValueId(0), 0}};
  d.send(d.there, {d.at_from(0, 8)});
  d.recv(d.there, {d.at_to()});
  d.post.push_back({d.at_to(), ValueId(0), 0});
  EXPECT_THAT(
      check(d),
      ElementsAre("uninitialised: op 0 (send, rank 0) reads bytes [4, 8) of buffer 0 on rank "
                  "0, which nothing wrote",
                  "post: bytes [4, 8) of buffer 1 on rank 1 should hold value 0 from byte "
                  "4 at the end, but what stands there is bytes that nothing wrote before "
                  "op 0 (send, rank 0) read them, last written by op 1 (recv, rank 1)"));
}

TEST(VerifyMemory, WordsOfAtomicsBeginAsZeros) {
  Pair d;
  d.pre.clear();
  d.atomic(OpKind::kFetchAdd, d.back, d.at_from());
  EXPECT_THAT(check(d), ElementsAre());
}

TEST(VerifyMemory, RawWantsTheReceiveDone) {
  Pair d;
  d.send(d.there, {d.at_from()});
  const OpId recv = d.recv(d.there, {d.at_to(0)});
  const OpId copy = d.copy(1, d.at_to(0), d.at_to(8));
  d.edge(recv, copy, On::kIssued);
  EXPECT_THAT(check(d), ElementsAre("raw: op 2 (copy, rank 1) reads bytes [0, 8) of buffer 1 on "
                                    "rank 1, which op 1 (recv, rank 1) writes: no path leads from "
                                    "the done of the latter to its issue"));
  d.edge(recv, copy);
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, RawWantsThePutSeen) {
  Pair d;
  d.put(d.there, d.at_from(), d.at_to(0), Notify::kImm);
  const OpId recv = d.recv(d.there);
  const OpId copy = d.copy(1, d.at_to(0), d.at_to(8));
  d.edge(recv, copy, On::kIssued);
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("no path leads from the done of op 1 (recv, rank 1) "
                                              "to its issue")));
  d.edge(recv, copy);
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, RawWantsAnOperandThere) {
  Pair d;
  const OpId add = d.atomic(OpKind::kFetchAdd, d.back, d.at_from());
  const OpId swap = d.atomic(OpKind::kCompareSwap, d.back, d.at_from());
  OpArguments arguments;
  arguments.compare = {Operand::From::kResult, add, 1};
  d.ops[swap.value].arguments = arguments;
  EXPECT_THAT(check(d), ElementsAre("raw: op 1 (compare_swap, rank 1) uses the result of op 0 "
                                    "(fetch_add, rank 1), whose done no path leads from to its "
                                    "issue"));
  d.edge(add, swap);
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, WarWantsTheSourceReleased) {
  Pair d;
  const OpId send = d.send(d.there, {d.at_from(0)});
  const OpId over = d.copy(0, d.at_from(8), d.at_from(0));
  d.edge(send, over, On::kIssued);
  d.recv(d.there, {d.at_to()});
  EXPECT_THAT(check(d), ElementsAre("war: op 1 (copy, rank 0) writes bytes [0, 8) of buffer 0 on "
                                    "rank 0, which op 0 (send, rank 0) reads: no path leads from "
                                    "the done of the latter to its issue"));
  d.edge(send, over);
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, WarWithinOneCopy) {
  Pair d;
  d.copy(0, d.at_from(0, 8), d.at_from(4, 8));
  EXPECT_THAT(check(d), ElementsAre("war: op 0 (copy, rank 0) reads and writes bytes [4, 8) of "
                                    "buffer 0 on rank 0 at different places of its payload"));
}

TEST(VerifyMemory, AReduceMayWriteOverItsOperand) {
  Pair d;
  d.add(OpKind::kReduce, 0, {}, {d.at_from(8), d.at_from(0)}, {d.at_from(0)});
  EXPECT_THAT(check(d), IsEmpty());
  d.ops[0].writes[0].offset = 4;
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("war: op 0 (reduce, rank 0)")));
}

TEST(VerifyMemory, WawOfTwoReceives) {
  Pair d;
  d.send(d.there, {d.at_from(0)});
  d.send(d.there, {d.at_from(8)});
  const OpId first = d.recv(d.there, {d.at_to(0)});
  const OpId second = d.recv(d.there, {d.at_to(4)});
  EXPECT_THAT(check(d), ElementsAre("waw: op 3 (recv, rank 1) writes bytes [4, 8) of buffer 1 on "
                                    "rank 1, which op 2 (recv, rank 1) writes: no path leads from "
                                    "the done of the latter to its issue"));
  d.edge(first, second);
  d.post.push_back({d.at_to(0, 4), ValueId(0), 0});
  d.post.push_back({d.at_to(4, 8), ValueId(0), 8});
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, WawAcrossRanksNeedsAPathThere) {
  // Two ranks put to the same place of a third; the second is told by the first.
  Draft d;
  d.ranks = 3;
  const BufferId first = d.buffer(0, 4);
  const BufferId second = d.buffer(1, 4);
  const BufferId target = d.buffer(2, 4);
  const ChannelId to_target = d.channel(0, 2);
  const ChannelId other = d.channel(1, 2);
  const ChannelId tell = d.channel(0, 1);
  d.pre = {{{first, 0, 4}, ValueId(0), 0}, {{second, 0, 4}, ValueId(1), 0}};
  d.post = {{{target, 0, 4}, ValueId(1), 0}};
  const OpId put = d.put(to_target, {first, 0, 4}, {target, 0, 4});
  const OpId told = d.send(tell);
  d.edge(put, told, On::kIssued);
  const OpId heard = d.recv(tell);
  d.edge(heard, d.put(other, {second, 0, 4}, {target, 0, 4}));
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("waw: op 3 (put, rank 1) writes bytes [0, 4) of "
                                              "buffer 2 on rank 2, which op 0 (put, rank 0)")));
  d.edge(put, told);
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, NoProofRestsOnAnAcknowledgement) {
  // The receive is posted before its send is acknowledged, but some transports complete early: a
  // put that follows the send on rank 0 need not come after what rank 1 did before its receive.
  Draft d;
  d.ranks = 2;
  const BufferId here = d.buffer(0, 4);
  const BufferId there = d.buffer(1, 4);
  const ChannelId on = d.channel(0, 1);
  const ChannelId back = d.channel(1, 0);
  d.pre = {{{here, 0, 4}, ValueId(0), 0}, {{there, 0, 4}, ValueId(1), 0}};
  const OpId send = d.send(on);
  const OpId put = d.put(on, {here, 0, 4}, {there, 0, 4});
  d.edge(send, put);
  const OpId read = d.send(back, {{there, 0, 4}});
  const OpId recv = d.recv(on);
  d.edge(read, recv);
  const BufferId sink = d.buffer(0, 4);
  d.recv(back, {{sink, 0, 4}});
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("war: op 1 (put, rank 0) writes bytes [0, 4) of "
                                              "buffer 1 on rank 1, which op 3 (send, rank 1)")));
}

TEST(VerifyMemory, AtomicsOnOneWordDoNotRace) {
  Pair d;
  d.atomic(OpKind::kFetchAdd, d.back, d.at_from(), {d.at_to(0)});
  d.atomic(OpKind::kFetchAnd, d.back, d.at_from(), {d.at_to(8)});
  const ChannelId own = d.channel(0, 0);
  d.atomic(OpKind::kFetchXor, own, d.at_from());
  EXPECT_THAT(check(d), IsEmpty());
  d.post.push_back({d.at_from(), ValueId(0), 0});
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("but what stands there is the word that op")));
}

TEST(VerifyMemory, APollWatchesItsPut) {
  Pair d;
  const OpId put = d.put(d.there, d.at_from(), d.at_to(0), Notify::kFlag);
  const OpId poll = d.poll(1, {d.at_to(7, 1)});
  d.flag(put, poll);
  const OpId copy = d.copy(1, d.at_to(0), d.at_to(8));
  d.edge(poll, copy);
  d.post.push_back({d.at_to(8), ValueId(0), 0});
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, Post) {
  Pair d;
  d.send(d.there, {d.at_from(8)});
  d.recv(d.there, {d.at_to(0)});
  d.post.push_back({d.at_to(0), ValueId(0), 0});
  d.post.push_back({d.at_to(8), ValueId(0), 8});
  EXPECT_THAT(check(d), ElementsAre("post: bytes [0, 8) of buffer 1 on rank 1 should hold value 0 "
                                    "from byte 0 at the end, but what stands there is value 0 from "
                                    "byte 8, last written by op 1 (recv, rank 1)",
                                    "post: bytes [8, 16) of buffer 1 on rank 1 should hold value 0 "
                                    "from byte 8 at the end, but what stands there is nothing"));
}

TEST(VerifyMemory, PostCannotNameAReducedValue) {
  Pair d;
  d.add(OpKind::kReduce, 0, {}, {d.at_from(0), d.at_from(8)}, {d.at_from(0)});
  d.post.push_back({d.at_from(0), ValueId(0), 0});
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("what op 0 (reduce, rank 0) wrote, from byte 0")));
}

TEST(VerifyMemory, PiecesOfSeveralValuesMoveTogether) {
  Pair d;
  d.pre = {{d.at_from(0, 3), ValueId(0), 5}, {d.at_from(3, 5), ValueId(1), 0}};
  d.send(d.there, {d.at_from()});
  d.recv(d.there, {d.at_to()});
  d.post = {{d.at_to(0, 8), ValueId(0), 5}};
  EXPECT_THAT(check(d),
              ElementsAre(HasSubstr("bytes [3, 8) of buffer 1 on rank 1 should hold value "
                                    "0 from byte 8 at the end, but what stands there is "
                                    "value 1 from byte 0")));
  d.post = {{d.at_to(0, 3), ValueId(0), 5}, {d.at_to(3, 5), ValueId(1), 0}};
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(VerifyMemory, DuplicateIsAWarning) {
  Pair d;
  d.send(d.there, {d.at_from()});
  d.send(d.there, {d.at_from()});
  const OpId first = d.recv(d.there, {d.at_to()});
  const OpId second = d.recv(d.there, {d.at_to()});
  d.edge(first, second);
  EXPECT_THAT(check(d), ElementsAre("duplicate (warning): op 3 (recv, rank 1) brings 8 bytes that "
                                    "stand there already, the first at bytes [0, 8) of buffer 1 on "
                                    "rank 1"));
}

}  // namespace
}  // namespace slackline::testing
