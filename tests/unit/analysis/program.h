// Small schedules, written operation by operation.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "sched/builder.h"
#include "sched/schedule.h"

namespace slackline::testing {

using sched::ChannelId;
using sched::OpId;
using sched::RankId;

constexpr sched::Time us(double microseconds) {
  return sched::Time{static_cast<std::int64_t>(microseconds * 1e6)};
}

/// Operations are numbered in the order they are added, provided that ranks are added in order.
/// Every rank has one buffer of a mebibyte, in which it does not matter to time what overlaps, and
/// one of words for atomics.
class Program {
 public:
  static constexpr std::uint64_t kBufferBytes = 1 << 20;

  explicit Program(std::uint32_t ranks) : ranks_(ranks), builder_(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r) builder_.add_buffer(RankId(r), kBufferBytes);
    for (std::uint32_t r = 0; r < ranks; ++r) builder_.add_buffer(RankId(r), kBufferBytes);
  }

  ChannelId channel(std::uint32_t src, std::uint32_t dst,
                    sched::Service service = sched::Service::kReliable) {
    sched::Channel channel;
    channel.src = RankId(src);
    channel.dst = RankId(dst);
    channel.service = service;
    return builder_.add_channel(channel);
  }

  OpId send(ChannelId channel, std::uint64_t bytes, std::uint16_t lane = 0) {
    sched::Op op = on(channel, sched::OpKind::kSend, lane);
    if (bytes != 0) op.reads = slice(src(channel), 0, bytes);
    return builder_.add(op);
  }
  OpId recv(ChannelId channel, std::uint64_t bytes, std::uint16_t lane = 0) {
    sched::Op op = on(channel, sched::OpKind::kRecv, lane);
    op.rank = dst(channel);
    if (bytes != 0) op.writes = slice(dst(channel), 0, bytes);
    return builder_.add(op);
  }
  OpId put(ChannelId channel, std::uint64_t bytes, sched::Notify notify = sched::Notify::kNone,
           std::uint16_t lane = 0) {
    sched::Op op = on(channel, sched::OpKind::kPut, lane);
    op.notify = notify;
    if (bytes != 0) {
      // A flag is the end of what a put writes: the buffer's last byte.
      const bool flag = notify == sched::Notify::kFlag;
      op.reads = slice(src(channel), 0, bytes);
      op.writes = slice(dst(channel), flag ? kBufferBytes - bytes : 0, bytes);
    }
    return builder_.add(op);
  }
  /// What sees a put that notifies by flag, which must have bytes.
  OpId poll(std::uint32_t rank) {
    sched::Op op = local(rank, sched::OpKind::kPoll, 0);
    op.reads = slice(RankId(rank), kBufferBytes - 1, 1);
    return builder_.add(op);
  }
  void flag(OpId put, OpId poll) { builder_.add_flag_match(put, poll); }
  OpId get(ChannelId channel, std::uint64_t bytes, std::uint16_t lane = 0) {
    sched::Op op = on(channel, sched::OpKind::kGet, lane);
    if (bytes != 0) {
      op.reads = slice(dst(channel), 0, bytes);
      op.writes = slice(src(channel), 0, bytes);
    }
    return builder_.add(op);
  }
  /// The 64-bit words that atomics of `rank` act on, numbered from 0.
  sched::Slice word(std::uint32_t rank, std::uint64_t number) const {
    return {sched::BufferId(ranks_ + rank), 8 * number, 8};
  }
  /// `word` numbers the target's words.
  OpId fetch_add(ChannelId channel, std::uint64_t word, std::uint16_t lane = 0) {
    sched::Op op = on(channel, sched::OpKind::kFetchAdd, lane);
    op.reads = op.writes = builder_.add_slice(this->word(dst(channel).value, word));
    return builder_.add(op);
  }
  OpId copy(std::uint32_t rank, std::uint64_t bytes, std::uint16_t lane = 0) {
    sched::Op op = local(rank, sched::OpKind::kCopy, lane);
    op.reads = slice(RankId(rank), 0, bytes);
    op.writes = slice(RankId(rank), kBufferBytes - bytes, bytes);
    return builder_.add(op);
  }
  OpId reduce(std::uint32_t rank, std::uint64_t bytes, std::uint16_t lane = 0) {
    sched::Op op = local(rank, sched::OpKind::kReduce, lane);
    const sched::Slice operands[] = {{sched::BufferId(rank), 0, bytes},
                                     {sched::BufferId(rank), bytes, bytes}};
    op.reads = builder_.add_slices(operands);
    op.writes = slice(RankId(rank), kBufferBytes - bytes, bytes);
    return builder_.add(op);
  }
  OpId calc(std::uint32_t rank, sched::Time duration, std::uint16_t lane = 0) {
    return builder_.add(local(rank, sched::OpKind::kCalc, lane), timed(duration));
  }
  OpId delay(std::uint32_t rank, sched::Time duration) {
    return builder_.add(local(rank, sched::OpKind::kDelay, 0), timed(duration));
  }
  OpId join(std::uint32_t rank) { return builder_.add(local(rank, sched::OpKind::kJoin, 0)); }
  OpId flush(ChannelId channel) { return builder_.add(on(channel, sched::OpKind::kFlush, 0)); }

  void after(std::initializer_list<OpId> preds, OpId succ, sched::On on = sched::On::kDone) {
    for (const OpId pred : preds) builder_.add_edge(pred, succ, on);
  }

  sched::ScheduleBuilder& builder() { return builder_; }
  sched::Schedule build() { return builder_.build(); }

 private:
  RankId src(ChannelId channel) { return builder_.channel(channel).src; }
  RankId dst(ChannelId channel) { return builder_.channel(channel).dst; }
  sched::SliceRange slice(RankId rank, std::uint64_t offset, std::uint64_t bytes) {
    return builder_.add_slice({sched::BufferId(rank.value), offset, bytes});
  }
  sched::Op on(ChannelId channel, sched::OpKind kind, std::uint16_t lane) {
    sched::Op op = local(src(channel).value, kind, lane);
    op.channel = channel;
    return op;
  }
  static sched::Op local(std::uint32_t rank, sched::OpKind kind, std::uint16_t lane) {
    sched::Op op;
    op.kind = kind;
    op.rank = RankId(rank);
    op.lane = lane;
    return op;
  }
  static sched::OpArguments timed(sched::Time duration) {
    sched::OpArguments arguments;
    arguments.duration = duration;
    return arguments;
  }

  std::uint32_t ranks_;
  sched::ScheduleBuilder builder_;
};

/// Two messages of 10 us each, one after the other, from rank 0 to rank 1.
inline sched::Schedule two_sends() {
  Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  p.send(c, 10'000);
  p.send(c, 10'000);
  p.recv(c, 10'000);
  p.recv(c, 10'000);
  return p.build();
}

}  // namespace slackline::testing
