// What CPU lanes do, worked out by hand on round_platform(): a post takes 1 us, 2000 bytes are
// copied in 1 us.
#pragma once

#include <vector>

#include "tests/unit/analysis/message_case.h"

namespace slackline::testing {

inline MessageCase copy_holds_its_lane() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const ChannelId d = p.channel(0, 1);
  const OpId copy = p.copy(0, 20'000);
  const OpId behind = p.put(c, 0);
  const OpId beside = p.put(d, 0, sched::Notify::kNone, 1);
  const OpId reduce = p.reduce(0, 10'000, 1);
  // The copy has lane 0 for 10, and what is behind it waits; lane 1 does not. A reduce reads both
  // its operands: 20 KB, from 1 to 11.
  return {"copy holds its lane",
          p.build(),
          round_platform(),
          {{copy, 0, 0, 10}, {behind, 11, 11, 19}, {beside, 1, 1, 9}, {reduce, 1, 1, 11}}};
}

inline MessageCase counting_takes_its_own_time() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const ChannelId d = p.channel(1, 0);
  const OpId send = p.send(c, 10'000);
  const OpId recv = p.recv(c, 10'000);
  sched::Op word;
  word.kind = sched::OpKind::kReduce;
  word.rank = RankId(1);
  const sched::Slice operands[] = {p.word(1, 0), p.word(1, 1)};
  word.reads = p.builder().add_slices(operands);
  word.writes = p.builder().add_slice(p.word(1, 0));
  sched::OpArguments arguments;
  arguments.duration = us(3);
  const OpId count = p.builder().add(word, arguments);
  const OpId copy = p.copy(1, 20'000);
  const OpId back = p.put(d, 0);
  p.after({recv}, count);
  p.after({count}, back);
  // The message arrives at 14, and is seen at 16. The word is counted until 19, where its 16 bytes
  // would have taken until 16.008. The copy has gone before.
  return {"counting takes its own time",
          p.build(),
          round_platform(),
          {{send, 1, 1, 19},
           {recv, 1, kAny, 16},
           {count, 16, 16, 19},
           {copy, 1, 1, 11},
           {back, 20, 20, 28}}};
}

inline MessageCase delay_and_join() {
  Program p(2);
  const OpId delay = p.delay(0, us(7));
  const OpId calc = p.calc(0, us(5));
  const OpId join = p.join(0);
  const OpId put = p.put(p.channel(0, 1), 0);
  const OpId flush = p.flush(p.channel(0, 1));
  p.after({delay, calc}, join);
  p.after({calc}, flush, sched::On::kIssued);
  // Time passes without a lane: the calc runs from 0 to 5 beside the delay, then the put.
  return {"delay and join",
          p.build(),
          round_platform(),
          {{delay, 0, 0, 7}, {calc, 0, 0, 5}, {join, 7, 7, 7}, {put, 6, 6, 14}, {flush, 0, 0, 0}}};
}

inline MessageCase channel_order() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const ChannelId other = p.channel(0, 1);
  const OpId wait = p.delay(0, us(10));
  const OpId first = p.put(c, 0);
  const OpId second = p.put(c, 0);
  const OpId free = p.put(other, 0);
  p.after({wait}, first);
  // The second of a channel is ready when the first is issued, and not before.
  return {"a channel issues in order",
          p.build(),
          round_platform(),
          {{first, 11, 11, 19}, {second, 12, 12, 20}, {free, 1, 1, 9}}};
}

inline MessageCase issue_order(machine::IssuePolicy policy) {
  Program p(2);
  const OpId busy = p.calc(0, us(10));
  const OpId five = p.delay(0, us(5));
  const OpId three = p.delay(0, us(3));
  const OpId a = p.put(p.channel(0, 1), 0);
  const OpId b = p.put(p.channel(0, 1), 0);
  const OpId c = p.put(p.channel(0, 1), 0);
  p.after({five}, a);
  p.after({three}, b);
  p.after({three}, c);
  // When the lane turns to them at 10, all three are ready: a since 5, b and c since 3.
  const bool in_order = policy == machine::IssuePolicy::kInOrder;
  return {in_order ? "in order" : "longest ready first",
          p.build(),
          round_platform(),
          {{busy, 0, 0, 10},
           {a, in_order ? 11.0 : 13.0, kAny, kAny},
           {b, in_order ? 12.0 : 11.0, kAny, kAny},
           {c, in_order ? 13.0 : 12.0, kAny, kAny}},
          {},
          policy};
}

inline MessageCase one_off_delay(bool whole_lane) {
  Program p(2);
  const OpId a = p.put(p.channel(0, 1), 0);
  const OpId b = p.put(p.channel(0, 1), 0);
  machine::DelayPlan delays;
  delays.ops.push_back({a, us(4), whole_lane, RankId::none()});
  delays.ops.push_back({a, us(3), whole_lane, RankId::none()});  // they add up
  // Of the operation alone: b goes first. Of the lane, as by a preemption: b waits as well.
  return {whole_lane ? "the lane is delayed" : "an operation is delayed",
          p.build(),
          round_platform(),
          {{a, 8, 8, 16}, {b, whole_lane ? 9.0 : 1.0, kAny, whole_lane ? 17.0 : 9.0}},
          delays};
}

inline MessageCase delayed_step() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId calc = p.calc(0, us(2));
  const OpId put = p.put(c, 0);
  const OpId wait = p.delay(0, us(20));
  const OpId later = p.calc(0, us(2));
  p.after({wait}, later);
  machine::DelayPlan delays;
  delays.ops.push_back({later, us(6), true, RankId::none()});
  delays.ops.push_back({wait, us(1), false, RankId::none()});
  delays.steps.push_back({RankId(0), 0, us(5), false});
  // Of a step only what initiates is delayed. A calc whose lane is delayed keeps it that much
  // longer.
  return {"a step, a calc and a delay are delayed",
          p.build(),
          round_platform(),
          {{calc, 0, 0, 2}, {put, 6, 6, 14}, {wait, 1, 1, 21}, {later, 21, 21, 29}},
          delays};
}

inline MessageCase straggler() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId send = p.send(c, 0);
  const OpId calc = p.calc(0, us(2));
  const OpId copy = p.copy(0, 2'000);
  const OpId wait = p.delay(0, us(2));
  const OpId recv = p.recv(c, 0);
  machine::DelayPlan delays;
  delays.stragglers.push_back({RankId(0), 3, us(1)});
  // Three times as long and 1 more: the post for 4, the calc for 7, the copy for 4. What holds no
  // lane takes its time, and rank 1 posts as ever.
  return {
      "a straggler",
      p.build(),
      round_platform(),
      {{send, 4, 4, 12}, {calc, 4, 4, 11}, {copy, 11, 11, 15}, {wait, 0, 0, 2}, {recv, 1, kAny, 9}},
      delays};
}

inline MessageCase constant_noise() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId send = p.send(c, 0);
  const OpId calc = p.calc(0, us(2));
  const OpId wait = p.delay(0, us(2));
  const OpId recv = p.recv(c, 0);
  machine::DelayPlan delays;
  machine::Noise everywhere;
  everywhere.of.low = us(4);
  machine::Noise of_op;
  of_op.of.low = us(10);
  of_op.ranks = {RankId(1)};
  of_op.whole_lane = false;
  delays.noise = {everywhere, of_op};
  // Every lane is held for 4 more: the send until 5, the calc until 11. The receive becomes ready
  // at 10 and is posted until 15; the send's acknowledgement waits for it.
  return {"a constant noise",
          p.build(),
          round_platform(),
          {{send, 5, 5, 20}, {calc, 5, 5, 11}, {wait, 0, 0, 2}, {recv, 15, kAny, 17}},
          delays};
}

inline std::vector<MessageCase> lane_cases() {
  std::vector<MessageCase> cases;
  cases.push_back(copy_holds_its_lane());
  cases.push_back(counting_takes_its_own_time());
  cases.push_back(delay_and_join());
  cases.push_back(channel_order());
  cases.push_back(issue_order(machine::IssuePolicy::kInOrder));
  cases.push_back(issue_order(machine::IssuePolicy::kReady));
  cases.push_back(one_off_delay(false));
  cases.push_back(one_off_delay(true));
  cases.push_back(delayed_step());
  cases.push_back(straggler());
  cases.push_back(constant_noise());
  return cases;
}

}  // namespace slackline::testing
