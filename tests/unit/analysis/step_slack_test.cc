// Step slack of small schedules, by hand.
#include "analysis/slack/step_slack.h"

#include <gtest/gtest.h>

#include "sched/builder.h"

namespace slackline::analysis {
namespace {

using sched::BufferId;
using sched::OpKind;
using sched::RankId;
using sched::Slice;

// Operations between ranks that have a buffer each, of the same number.
class Steps {
 public:
  explicit Steps(std::uint32_t ranks) : builder_(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r) builder_.add_buffer(RankId(r), 1000);
    builder_.set_message_bytes(100);
  }
  sched::ScheduleBuilder& builder() { return builder_; }

  // A message of bytes [at, at + bytes) to the same place.
  void message(std::uint32_t step, std::uint32_t src, std::uint32_t dst, std::uint64_t at,
               std::uint64_t bytes = 10) {
    sched::Channel channel;
    channel.src = RankId(src);
    channel.dst = RankId(dst);
    const sched::ChannelId on = builder_.add_channel(channel);
    sched::Op send = op(OpKind::kSend, src, step);
    send.channel = on;
    send.reads = builder_.add_slice({BufferId(src), at, bytes});
    builder_.add(send);
    sched::Op recv = op(OpKind::kRecv, dst, step);
    recv.channel = on;
    recv.writes = builder_.add_slice({BufferId(dst), at, bytes});
    builder_.add(recv);
  }
  void put(std::uint32_t step, std::uint32_t src, std::uint32_t dst, std::uint64_t at) {
    sched::Channel channel;
    channel.src = RankId(src);
    channel.dst = RankId(dst);
    sched::Op put = op(OpKind::kPut, src, step);
    put.channel = builder_.add_channel(channel);
    put.reads = builder_.add_slice({BufferId(src), at, 10});
    put.writes = builder_.add_slice({BufferId(dst), at, 10});
    builder_.add(put);
  }
  void copy(std::uint32_t step, std::uint32_t rank, std::uint64_t from, std::uint64_t to) {
    sched::Op copy = op(OpKind::kCopy, rank, step);
    copy.reads = builder_.add_slice({BufferId(rank), from, 10});
    copy.writes = builder_.add_slice({BufferId(rank), to, 10});
    builder_.add(copy);
  }
  StepSlack slack() { return step_slack(builder_.build()); }

 private:
  static sched::Op op(OpKind kind, std::uint32_t rank, std::uint32_t step) {
    sched::Op made;
    made.kind = kind;
    made.rank = RankId(rank);
    made.step = step;
    return made;
  }
  sched::ScheduleBuilder builder_;
};

void expect_sum(const SlackSum& sum, std::uint64_t total, std::uint64_t sends) {
  EXPECT_EQ(sum.total, total);
  EXPECT_EQ(sum.sends, sends);
}

TEST(StepSlack, IsTheStepOfASendLessThatOfItsArrival) {
  Steps s(4);
  s.message(0, 0, 1, 0);
  s.message(1, 0, 1, 10);
  s.message(3, 1, 2, 0);   // 3 later
  s.message(3, 1, 2, 10);  // 2 later
  s.message(4, 2, 3, 0);   // 1 later
  s.message(5, 2, 3, 10);  // 2 later
  s.message(5, 1, 3, 20);  // nobody brought it
  s.put(5, 1, 3, 0);       // 5 later
  const StepSlack found = s.slack();
  ASSERT_EQ(found.of_step.size(), 6u);
  for (const std::uint32_t step : {0, 1, 2}) expect_sum(found.of_step[step], 0, 0);
  expect_sum(found.of_step[3], 5, 2);
  expect_sum(found.of_step[4], 1, 1);
  expect_sum(found.of_step[5], 7, 2);
  expect_sum(found.all, 13, 5);
  EXPECT_DOUBLE_EQ(found.all.average(), 13.0 / 5);
  EXPECT_EQ(found.smallest, 1u);
  // Steps 3 and 5 have two each, and stand for what is steady.
  EXPECT_EQ(found.first_steady, 3u);
  EXPECT_EQ(found.end_steady, 6u);
  expect_sum(found.steady, 12, 4);
}

TEST(StepSlack, OfWhatCameTwiceCountsTheFirstTime) {
  Steps s(3);
  s.message(1, 0, 1, 0);
  s.message(4, 0, 1, 0);
  s.put(2, 0, 1, 10);
  s.message(6, 1, 2, 0);
  s.message(6, 1, 2, 10);
  const StepSlack found = s.slack();
  expect_sum(found.all, 5 + 4, 2);
}

TEST(StepSlack, FollowsLocalCopies) {
  Steps s(3);
  s.message(1, 0, 1, 0);
  s.copy(2, 1, 0, 500);
  s.copy(2, 1, 300, 400);  // of what did not come
  s.message(6, 1, 2, 500);
  s.message(6, 1, 2, 400);
  const StepSlack found = s.slack();
  expect_sum(found.all, 5, 1);
  EXPECT_EQ(found.smallest, 5u);
}

TEST(StepSlack, LeavesOutWhatWasSentBeforeItCameAndEmptyMessages) {
  Steps s(3);
  s.message(5, 0, 1, 0);
  s.message(4, 1, 2, 0);      // before
  s.message(1, 0, 1, 50, 0);  // a credit, say
  s.message(3, 1, 2, 50, 0);
  StepSlack found = s.slack();
  expect_sum(found.all, 0, 0);
  EXPECT_EQ(found.smallest, 0u);
  EXPECT_EQ(found.end_steady, 0u);
  EXPECT_EQ(found.all.average(), 0);
  // At the same step it counts, and so do empty messages where all are.
  Steps same(3);
  same.message(5, 0, 1, 0);
  same.message(5, 1, 2, 0);
  found = same.slack();
  expect_sum(found.all, 0, 1);
  EXPECT_EQ(found.first_steady, 5u);
  Steps empty(3);
  empty.builder().set_message_bytes(0);
  empty.message(1, 0, 1, 50, 0);
  empty.message(3, 1, 2, 50, 0);
  expect_sum(empty.slack().all, 2, 1);
}

// A send that gathers is as late as its first piece; a copy of several pieces brings none.
TEST(StepSlack, IsThatOfTheFirstPiece) {
  Steps s(3);
  s.message(1, 0, 1, 0);
  s.message(4, 0, 1, 10);
  sched::ScheduleBuilder& b = s.builder();
  sched::Channel channel;
  channel.src = RankId(1);
  channel.dst = RankId(2);
  const sched::ChannelId on = b.add_channel(channel);
  const Slice pieces[] = {{BufferId(1), 0, 10}, {BufferId(1), 10, 10}};
  const Slice turned[] = {{BufferId(1), 10, 10}, {BufferId(1), 0, 10}};
  for (const auto& reads : {pieces, turned}) {
    sched::Op send;
    send.kind = OpKind::kSend;
    send.rank = RankId(1);
    send.step = 6;
    send.channel = on;
    send.reads = b.add_slices({reads, 2});
    b.add(send);
  }
  sched::Op copy;
  copy.kind = OpKind::kCopy;
  copy.rank = RankId(1);
  copy.step = 6;
  copy.reads = b.add_slices(pieces);
  copy.writes = b.add_slice({BufferId(1), 500, 20});
  b.add(copy);
  s.message(7, 1, 2, 500, 20);
  const StepSlack found = s.slack();
  expect_sum(found.all, 5 + 2, 2);
  EXPECT_EQ(found.smallest, 2u);
}

}  // namespace
}  // namespace slackline::analysis
