// What an exception from an order does not except: a poll comes after what was there before the put
// that it sees, an atomic that joins others on a word after every write that they came after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sched/verify_pair.h"

namespace slackline::testing {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

// A flag that is used twice: the second put comes after the first poll.
struct FlagTwice : Pair {
  OpId first_poll;
  OpId second_poll;

  FlagTwice() {
    const OpId first = put(there, at_from(), at_to(), Notify::kFlag);
    const OpId seen = recv(back);
    const OpId second = put(there, at_from(), at_to(), Notify::kFlag);
    edge(seen, second);
    first_poll = poll(1, {at_to()});
    const OpId told = send(back);
    edge(first_poll, told);
    second_poll = poll(1, {at_to()});
    flag(first, first_poll);
    flag(second, second_poll);
  }
};

TEST(VerifyFlag, TheSecondPollComesAfterTheFirst) {
  FlagTwice ordered;
  ordered.edge(ordered.first_poll, ordered.second_poll);
  EXPECT_THAT(check(ordered), ::testing::Not(Contains(StartsWith("raw"))));
  // Without that edge it may see what the first put left.
  EXPECT_THAT(check(FlagTwice()), Contains(StartsWith("raw: op 5")));
}

// What stood in the flag's bytes before: the put comes after it, the poll does not.
TEST(VerifyFlag, APollComesAfterWhatWasWrittenBeforeItsPut) {
  Pair pair;
  const OpId before = pair.put(pair.there, pair.at_from(), pair.at_to());
  const OpId put = pair.put(pair.there, pair.at_from(), pair.at_to(), Notify::kFlag);
  pair.edge(before, put);
  pair.flag(put, pair.poll(1, {pair.at_to()}));
  EXPECT_THAT(check(pair), Contains(StartsWith("raw: op 2")));
}

// A put within one rank onto what it reads: its source may be used again at its own done, what it
// wrote at that of its receive. Two atomics on the word come after it, in no order of their own.
struct PutInPlace : Draft {
  OpId receive;
  OpId second;

  PutInPlace() {
    const Slice word{buffer(0, 8), 0, 8};
    pre.push_back({word, ValueId(0), 0});
    const ChannelId own = channel(0, 0);
    const OpId put_there = put(own, word, word, Notify::kImm);
    receive = recv(own);
    const OpId first = atomic(OpKind::kFetchAdd, channel(0, 0), word);
    second = atomic(OpKind::kFetchAdd, channel(0, 0), word);
    edge(put_there, first);
    edge(receive, first);
    edge(put_there, second);
  }
};

TEST(VerifyAtomic, ThatJoinsAnotherComesAfterThePutBeforeBoth) {
  PutInPlace ordered;
  ordered.edge(ordered.receive, ordered.second);
  EXPECT_THAT(check(ordered), ::testing::Each(StartsWith("duplicate (warning)")));
  EXPECT_THAT(check(PutInPlace()), Contains(::testing::HasSubstr("op 3")));
}

}  // namespace
}  // namespace slackline::testing
