// The verifier's codes of structure and order, each by a minimal schedule, with its message.
#include "sched/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "tests/support/error_of.h"
#include "tests/unit/sched/verify_pair.h"

namespace slackline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Verify, AMessageCarriesItsBytes) {
  Pair d;
  d.send(d.there, {d.at_from(4, 8)});
  d.recv(d.there, {d.at_to(0, 3), d.at_to(8, 5)});
  d.post.push_back({d.at_to(0, 3), ValueId(0), 4});
  d.post.push_back({d.at_to(8, 5), ValueId(0), 7});
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(Verify, AnEmptyScheduleIsRight) { EXPECT_THAT(check(Draft{}), IsEmpty()); }

TEST(Verify, FifoSendWithoutReceive) {
  Pair d;
  d.send(d.there, {d.at_from()});
  EXPECT_THAT(check(d), ElementsAre("fifo: op 0 (send, rank 0) has no receive: channel 0 to rank 1 "
                                    "carries more messages than it has receives"));
}

TEST(Verify, FifoReceiveWithoutMessage) {
  Pair d;
  d.recv(d.there, {d.at_to()});
  EXPECT_THAT(check(d), ElementsAre("fifo: op 0 (recv, rank 1) has no message: channel 0 from rank "
                                    "0 carries fewer messages than it has receives"));
}

TEST(Verify, FifoPutsAndPolls) {
  Pair d;
  d.put(d.there, d.at_from(), d.at_to(), Notify::kImm);
  d.put(d.there, d.at_from(), d.at_to(), Notify::kFlag);
  d.poll(1);
  EXPECT_THAT(check(d),
              ElementsAre(HasSubstr("fifo: op 0 (put, rank 0) has no receive"),
                          "fifo: op 1 (put, rank 0) notifies by flag, but no poll waits for it",
                          "fifo: op 2 (poll, rank 1) waits for no put"));
}

TEST(Verify, SizeOfAShortMessage) {
  Pair d;
  d.send(d.there, {d.at_from(0, 5)});
  d.recv(d.there, {d.at_to(0, 8)});
  EXPECT_THAT(check(d), ElementsAre("size: op 1 (recv, rank 1) takes 8 bytes, but the message of "
                                    "op 0 (send, rank 0) has only 5"));
}

TEST(Verify, TruncatesALongMessage) {
  Pair d;
  d.send(d.there, {d.at_from(0, 8)});
  d.recv(d.there, {d.at_to(0, 5)});
  EXPECT_THAT(check(d), ElementsAre("truncate: op 1 (recv, rank 1) takes 5 bytes, but the message "
                                    "of op 0 (send, rank 0) has 8"));
}

TEST(Verify, SizeOfTheTwoSides) {
  Pair d;
  d.put(d.there, d.at_from(0, 4), d.at_to(0, 5));
  d.copy(0, d.at_from(0, 4), d.at_from(8, 3));
  d.get(d.back, d.at_from(0, 2), d.at_to(8, 1));
  EXPECT_THAT(check(d),
              ElementsAre("size: op 0 (put, rank 0) reads 4 bytes and writes 5; expected as many",
                          "size: op 1 (copy, rank 0) reads 4 bytes and writes 3; expected as many",
                          "size: op 2 (get, rank 1) reads 2 bytes and writes 1; expected as many"));
}

TEST(Verify, SizeOfAReceiveThatAPutNotifies) {
  Pair d;
  d.put(d.there, d.at_from(), d.at_to(), Notify::kImm);
  d.recv(d.there, {d.at_to(8, 8)});
  EXPECT_THAT(check(d),
              ElementsAre("size: op 1 (recv, rank 1) takes 8 bytes, but op 0 (put, rank "
                          "0) brings it none: a put lands in the slices it names itself"));
}

TEST(Verify, SizeOfReduceOperands) {
  Pair d;
  d.add(OpKind::kReduce, 0, {}, {d.at_from(0, 4), d.at_from(4, 3)}, {d.at_from(8, 4)});
  d.add(OpKind::kReduce, 0, {}, {}, {d.at_from(12, 4)});
  EXPECT_THAT(
      check(d),
      ElementsAre("size: op 0 (reduce, rank 0) writes 4 bytes, but its operand bytes [4, 7) "
                  "of buffer 0 on rank 0 has 3",
                  "size: op 1 (reduce, rank 0) has no operands"));
}

TEST(Verify, SizeOfAnAtomic) {
  Pair d;
  d.atomic(OpKind::kFetchAdd, d.back, d.at_from(0, 4));
  d.atomic(OpKind::kFetchAdd, d.back, d.at_from(8, 8), {d.at_to(0, 7)});
  EXPECT_THAT(check(d), ElementsAre("size: op 0 (fetch_add, rank 1) works on bytes [0, 4) of "
                                    "buffer 0 on rank 0; expected 8 bytes",
                                    HasSubstr("size: op 1 (fetch_add, rank 1) works on bytes [0, "
                                              "7) of buffer 1 on rank 1")));
}

TEST(Verify, SizeOfADatagram) {
  Draft d;
  d.ranks = 2;
  const BufferId from = d.buffer(0, 5000);
  const BufferId to = d.buffer(1, 5000);
  const ChannelId on = d.channel(0, 1, 0, Service::kDatagram);
  const ChannelId back = d.channel(1, 0);
  d.pre.push_back({{from, 0, 5000}, ValueId(0), 0});
  const OpId ready = d.recv(back);
  d.edge(ready, d.send(on, {{from, 0, 4097}}));
  const OpId recv = d.recv(on, {{to, 0, 4097}});
  d.edge(recv, d.send(back), On::kIssued);
  EXPECT_THAT(check(d), ElementsAre("size: op 1 (send, rank 0) sends a datagram of 4097 bytes; "
                                    "expected at most 4096"));
  d.ops[1].reads[0].bytes = 4096;
  d.ops[2].writes[0].bytes = 4096;
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(Verify, StructureOfAFixedAddressOffset) {
  Pair d;
  const OpId put = d.put(d.there, d.at_from(), d.at_to());
  OpArguments arguments;
  arguments.address_offset = {Operand::From::kLiteral, {}, 8};
  d.ops[put.value].arguments = arguments;
  d.post.push_back({d.at_to(8, 8), ValueId(0), 0});
  EXPECT_THAT(check(d), IsEmpty());
  d.ops[put.value].arguments->address_offset.value = 10;
  EXPECT_THAT(check(d), ElementsAre("structure: op 0 (put, rank 0) adds 10 to the address of bytes "
                                    "[0, 8) of buffer 1 on rank 1, which leads 2 bytes past the "
                                    "buffer's end"));
}

TEST(Verify, StructureOfFactsThatContradict) {
  Pair d;
  d.pre.push_back({d.at_from(4, 8), ValueId(0), 4});
  EXPECT_THAT(check(d), IsEmpty());
  d.pre.push_back({d.at_from(8, 8), ValueId(0), 9});
  EXPECT_THAT(check(d), ElementsAre("structure: two pre facts speak of bytes [8, 16) of buffer 0 "
                                    "on rank 0: one says value 0 from byte 8, one value 0 from "
                                    "byte 9"));
}

TEST(Verify, Deadlock) {
  Pair d;
  const OpId first = d.recv(d.back, {});
  const OpId send = d.send(d.there, {});
  const OpId second = d.recv(d.there, {});
  const OpId answer = d.send(d.back, {});
  d.edge(first, send);
  d.edge(second, answer);
  EXPECT_THAT(check(d), ElementsAre("deadlock: op 0 (recv, rank 0) waits for op 3 (send, rank 1), "
                                    "which waits for op 2 (recv, rank 1), which waits for op 1 "
                                    "(send, rank 0), which waits for op 0 (recv, rank 0)"));
}

TEST(Verify, DeadlockOnAnAcknowledgement) {
  // Rank 0 waits for its first send to be acknowledged before it sends again; rank 1 posts the
  // first receive only when the second is done.
  Pair d;
  const OpId send = d.send(d.there, {});
  d.edge(send, d.send(d.there, {}));
  const OpId first = d.recv(d.there, {});
  const OpId second = d.recv(d.there, {});
  d.edge(second, first);
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("deadlock: op 2 (recv, rank 1) waits for op 3")));
}

TEST(Verify, DeadlockOfALongCycleIsCut) {
  Draft d;
  std::vector<OpId> joins;
  for (int i = 0; i < 20; ++i) joins.push_back(d.add(OpKind::kJoin, 0));
  for (int i = 0; i < 20; ++i) d.edge(joins[(i + 1) % 20], joins[i]);
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("which waits for 4 more, the last of which waits for "
                                              "op 0 (join, rank 0)")));
}

TEST(Verify, WindowWantsThePostedReceive) {
  Pair d;
  d.channels[d.there.value].window = 1;
  const OpId credit = d.recv(d.back);
  const OpId send = d.send(d.there, {d.at_from()});
  const OpId recv = d.recv(d.there, {d.at_to()});
  const OpId grant = d.send(d.back);
  d.edge(credit, send);
  EXPECT_THAT(check(d), ElementsAre("window: op 1 (send, rank 0) may send message 0 of channel 0 "
                                    "before op 2 (recv, rank 1) is posted: no path of arcs orders "
                                    "them"));
  d.edge(recv, grant, On::kIssued);
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(Verify, WindowBoundsTheReceivesAhead) {
  Pair d;
  d.channels[d.there.value].window = 1;
  const OpId credit = d.recv(d.back);
  const OpId send = d.send(d.there, {d.at_from()});
  d.edge(credit, send);
  d.send(d.there, {d.at_from()});
  const OpId first = d.recv(d.there, {d.at_to(0)});
  const OpId second = d.recv(d.there, {d.at_to(8)});
  const OpId grant = d.send(d.back);
  d.edge(first, grant, On::kIssued);
  d.edge(second, grant, On::kIssued);
  EXPECT_THAT(check(d), ElementsAre("window: op 2 (send, rank 0) may send message 1 of channel 0 "
                                    "before op 3 (recv, rank 1) is done, beyond the channel's "
                                    "window of 1: no path of arcs orders them"));
  d.channels[d.there.value].window = 2;
  EXPECT_THAT(check(d), IsEmpty());
}

TEST(Verify, WindowOfDatagrams) {
  Pair d;
  d.channels[d.there.value].service = Service::kDatagram;
  d.send(d.there, {d.at_from()});
  d.recv(d.there, {d.at_to()});
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("window: op 0 (send, rank 0) may send message 0")));
}

TEST(Verify, FindingsAreOrderedAndBounded) {
  Pair d;
  for (int i = 0; i < 5; ++i) d.send(d.there, {d.at_from()});
  d.copy(0, d.at_from(0, 4), d.at_from(8, 3));
  EXPECT_THAT(check(d), ElementsAre(HasSubstr("size: op 5"), HasSubstr("fifo: op 0"),
                                    HasSubstr("fifo: op 1"), HasSubstr("fifo: op 2"),
                                    HasSubstr("fifo: op 3"), HasSubstr("fifo: op 4")));
  EXPECT_THAT(check(d, {.max_diagnostics = 2}),
              ElementsAre(HasSubstr("fifo: op 0"), HasSubstr("fifo: op 1")));
  EXPECT_EQ(check(d, {.max_diagnostics = 0}).size(), 1u);
}

TEST(Verify, WarningsDoNotHideErrors) {
  Pair d;
  OpId last;
  for (int i = 0; i < 6; ++i) d.send(d.there, {d.at_from()});
  for (int i = 0; i < 6; ++i) {
    const OpId recv = d.recv(d.there, {d.at_to()});
    if (i > 0) d.edge(last, recv);
    last = recv;
  }
  d.post.push_back({d.at_to(), ValueId(0), 8});
  EXPECT_THAT(check(d, {.max_diagnostics = 2}),
              ElementsAre(HasSubstr("post: "), HasSubstr("duplicate (warning): op 7")));
}

TEST(Verify, AnUnfinishedSearchIsNotAProof) {
  Pair d;
  const OpId send = d.send(d.there, {d.at_from(0)});
  OpId last = send;
  for (int i = 0; i < 10; ++i) {
    const OpId join = d.add(OpKind::kJoin, 0);
    d.edge(last, join);
    last = join;
  }
  d.edge(last, d.copy(0, d.at_from(8), d.at_from(0)));
  d.recv(d.there, {d.at_to()});
  EXPECT_THAT(check(d), IsEmpty());
  EXPECT_THAT(check(d, {.search_steps = 5}),
              ElementsAre(HasSubstr("war: op 11 (copy, rank 0) writes bytes [0, 8) of buffer 0 on "
                                    "rank 0, which op 0 (send, rank 0) reads: not proven within 5 "
                                    "steps from the done of the latter to its issue")));
}

TEST(Verify, RefusesResultsAsAddresses) {
  Pair d;
  const OpId add = d.atomic(OpKind::kFetchAdd, d.back, d.at_from());
  const OpId put = d.put(d.back, d.at_to(), d.at_from());
  OpArguments arguments;
  arguments.address_offset = {Operand::From::kResult, add, 8};
  d.ops[put.value].arguments = arguments;
  EXPECT_EQ(testing::error_of<Unsupported>([&] { verify(d.build()); }),
            "the verifier takes fixed addresses only: op 1 (put, rank 1) takes "
            "its address from the result of op 0 (fetch_add, rank 1)");
}

TEST(Verify, RefusesDynamicSchedules) {
  ScheduleBuilder builder(1);
  Op join;
  join.kind = OpKind::kJoin;
  join.rank = RankId(0);
  Region region;
  region.entry = builder.add(join);
  region.count = 1;
  builder.add_region(region);
  EXPECT_THROW(verify(builder.build()), Unsupported);
}

}  // namespace
}  // namespace slackline::testing
