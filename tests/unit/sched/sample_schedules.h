// Small schedules built by hand, for tests of readers and writers.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sched/builder.h"
#include "sched/plan.h"

namespace slackline::testing {

using namespace sched;

/// Three ranks in a chain with two blocks and credits, a copy and a calculation: small enough to
/// try every damage on its text.
inline Schedule small_chain() {
  ScheduleBuilder b(3);
  b.set_title("chain of three");
  b.set_message_bytes(1536);
  for (std::uint32_t r = 0; r < 3; ++r) b.add_buffer(RankId(r), 1536);
  Channel c;
  std::vector<ChannelId> data;
  std::vector<ChannelId> credit;
  for (std::uint32_t r = 0; r < 2; ++r) {
    c = {};
    c.src = RankId(r);
    c.dst = RankId(r + 1);
    c.window = 1;
    data.push_back(b.add_channel(c));
    c = {};
    c.src = RankId(r + 1);
    c.dst = RankId(r);
    credit.push_back(b.add_channel(c));
    b.channel(data.back()).credit_on = credit.back();
  }
  const auto block = [](std::uint32_t rank, std::uint32_t k) {
    return Slice{BufferId(rank), k * 1024ull, k == 0 ? 1024ull : 512ull};
  };
  for (std::uint32_t r = 0; r < 3; ++r) {
    std::vector<OpId> arrived;
    OpId last_receive;
    OpId last_send;
    for (std::uint32_t k = 0; k < 2; ++k) {
      Op op;
      op.rank = RankId(r);
      if (r > 0) {
        op.step = k + r - 1;
        op.kind = OpKind::kRecv;
        op.channel = data[r - 1];
        op.writes = b.add_slice(block(r, k));
        const OpId receive = b.add(op);
        if (last_receive.valid()) b.add_edge(last_receive, receive);
        last_receive = receive;
        arrived.push_back(receive);
        op.kind = OpKind::kSend;
        op.writes = {};
        op.channel = credit[r - 1];
        b.add_edge(receive, b.add(op), On::kIssued);
      }
      if (r == 2) continue;
      op.step = k + r;
      op.writes = {};
      op.kind = OpKind::kRecv;
      op.channel = credit[r];
      const OpId ready = b.add(op);
      op.kind = OpKind::kSend;
      op.channel = data[r];
      op.reads = b.add_slice(block(r, k));
      const OpId send = b.add(op);
      b.add_edge(ready, send);
      if (r > 0) b.add_edge(arrived[k], send);
      if (last_send.valid()) b.add_edge(last_send, send);
      last_send = send;
    }
  }
  b.add_pre({{BufferId(0), 0, 1536}, ValueId(0), 0});
  for (std::uint32_t r = 0; r < 3; ++r) b.add_post({{BufferId(r), 0, 1536}, ValueId(0), 0});
  return b.build();
}

/// Rank 0 puts two blocks into rank 1 with immediate. The first lands in a buffer of its own and is
/// copied from there, on a second lane; a calculation and a delay stand before the second.
inline Schedule put_with_copy() {
  ScheduleBuilder b(2);
  b.set_title("put \"with\" copy");
  b.set_message_bytes(8192);
  const BufferId source = b.add_buffer(RankId(0), 8192);
  const BufferId target = b.add_buffer(RankId(1), 8192);
  const BufferId bounce = b.add_buffer(RankId(1), 4096);
  Channel c;
  c.src = RankId(0);
  c.dst = RankId(1);
  const ChannelId channel = b.add_channel(c);
  Op put;
  put.kind = OpKind::kPut;
  put.notify = Notify::kImm;
  put.rank = RankId(0);
  put.channel = channel;
  put.reads = b.add_slice({source, 4096, 4096});
  put.writes = b.add_slice({bounce, 0, 4096});
  const OpId first = b.add(put);
  Op op;
  op.rank = RankId(0);
  op.kind = OpKind::kCalc;
  op.lane = 1;
  const OpId calc = b.add(op, {Time{1'500'600}, {}, {}, {}});
  op.kind = OpKind::kDelay;
  const OpId delay = b.add(op, {Time{1'000'000}, {}, {}, {}});
  put.reads = b.add_slice({source, 0, 4096});
  put.writes = b.add_slice({target, 0, 4096});
  put.step = 1;
  const OpId second = b.add(put);
  b.add_edge(first, calc, On::kIssued);
  b.add_edge(calc, delay);
  b.add_edge(delay, second);
  Op recv;
  recv.kind = OpKind::kRecv;
  recv.rank = RankId(1);
  recv.channel = channel;
  const OpId arrived = b.add(recv);
  op = {};
  op.kind = OpKind::kCopy;
  op.rank = RankId(1);
  op.lane = 1;
  op.reads = b.add_slice({bounce, 0, 4096});
  op.writes = b.add_slice({target, 4096, 4096});
  const OpId copy = b.add(op);
  recv.step = 1;
  const OpId last = b.add(recv);
  op = {};
  op.kind = OpKind::kJoin;
  op.rank = RankId(1);
  op.step = 1;
  const OpId join = b.add(op);
  b.add_edge(arrived, copy);
  b.add_edge(copy, join);
  b.add_edge(last, join);
  b.add_pre({{source, 0, 8192}, ValueId(0), 0});
  b.add_post({{target, 0, 8192}, ValueId(0), 0});
  return b.build();
}

/// A queue push as a data structure does it: a ticket by fetch_add, the element at the ticket's
/// place, and the ready counter by a compare_swap that is tried again; a flag tells the reader.
inline Schedule queue_push() {
  ScheduleBuilder b(2);
  b.set_title("queue push");
  const BufferId local = b.add_buffer(RankId(0), 64);
  const BufferId queue = b.add_buffer(RankId(1), 16384);
  Channel c;
  c.src = RankId(0);
  c.dst = RankId(1);
  c.service = Service::kDatagram;
  c.bundle = Bundle::kOverflow;
  c.bundle_bytes = 4096;
  c.bundle_delay = Time{1'000'000'000};
  const ChannelId channel = b.add_channel(c);
  const auto literal = [](std::uint64_t value) {
    return Operand{Operand::From::kLiteral, {}, value};
  };
  Op op;
  op.rank = RankId(0);
  op.channel = channel;
  op.kind = OpKind::kFetchAdd;
  const Slice tail{queue, 0, 8};
  op.reads = b.add_slice(tail);
  op.writes = b.add_slices(std::vector<Slice>{tail, {local, 0, 8}});
  const OpId ticket = b.add(op, {{}, literal(1), {}, {}});
  op.kind = OpKind::kPut;
  op.notify = Notify::kFlag;
  op.reads = b.add_slice({local, 16, 32});
  op.writes = b.add_slice({queue, 64, 32});
  const OpId put = b.add(op, {{}, {}, {}, {Operand::From::kResult, ticket, 32}});
  op.kind = OpKind::kCompareSwap;
  op.notify = Notify::kNone;
  const Slice ready{queue, 8, 8};
  op.reads = b.add_slice(ready);
  op.writes = b.add_slice(ready);
  const OpId publish = b.add(op, {{}, literal(7), {Operand::From::kResult, ticket, 1}, {}});
  op.kind = OpKind::kFlush;
  op.reads = op.writes = {};
  const OpId flush = b.add(op);
  b.add_edge(ticket, put);
  b.add_edge(put, publish);
  b.add_edge(publish, flush, On::kIssued);
  Op poll;
  poll.kind = OpKind::kPoll;
  poll.rank = RankId(1);
  poll.reads = b.add_slice({queue, 88, 8});
  b.add_flag_match(put, b.add(poll));
  b.add_region(
      {RegionKind::kRetry, publish, 1, 64, {900'000}, RegionOutcome::kSampled, Time{2'000'000}});
  b.add_pre({{local, 16, 32}, ValueId(3), 0});
  b.add_pre({{queue, 0, 16384}, ValueId(4), 128});
  return b.build();
}

/// Four ranks sum what they have into rank 0, pairwise.
inline Schedule small_reduce() {
  ScheduleBuilder b(4);
  b.set_title("reduce");
  b.set_message_bytes(256);
  for (std::uint32_t r = 0; r < 4; ++r) b.add_buffer(RankId(r), 256);
  const BufferId even = b.add_buffer(RankId(0), 512);
  const BufferId odd = b.add_buffer(RankId(2), 256);
  const auto whole = [](BufferId buffer, std::uint64_t offset) {
    return Slice{buffer, offset, 256};
  };
  // Ranks in order, so that operations are: rank 0 (recv, reduce) twice, 1, 2, 3.
  std::map<std::uint32_t, OpId> summed;
  const auto channel = [&b](std::uint32_t src, std::uint32_t dst) {
    Channel c;
    c.src = RankId(src);
    c.dst = RankId(dst);
    return b.add_channel(c);
  };
  const ChannelId from1 = channel(1, 0);
  const ChannelId from2 = channel(2, 0);
  const ChannelId from3 = channel(3, 2);
  const auto gather = [&](std::uint32_t rank, ChannelId from, Slice landing, std::uint32_t step) {
    Op op;
    op.rank = RankId(rank);
    op.step = step;
    op.kind = OpKind::kRecv;
    op.channel = from;
    op.writes = b.add_slice(landing);
    const OpId arrived = b.add(op);
    op.kind = OpKind::kReduce;
    op.channel = {};
    op.reads = b.add_slices(std::vector<Slice>{whole(BufferId(rank), 0), landing});
    op.writes = b.add_slice(whole(BufferId(rank), 0));
    const OpId sum = b.add(op);
    b.add_edge(arrived, sum);
    if (summed.count(rank) != 0) b.add_edge(summed[rank], sum);
    summed[rank] = sum;
  };
  const auto give = [&](std::uint32_t rank, ChannelId to, std::uint32_t step) {
    Op op;
    op.rank = RankId(rank);
    op.step = step;
    op.kind = OpKind::kSend;
    op.channel = to;
    op.reads = b.add_slice(whole(BufferId(rank), 0));
    const OpId send = b.add(op);
    if (summed.count(rank) != 0) b.add_edge(summed[rank], send);
  };
  gather(0, from1, whole(even, 0), 0);
  gather(0, from2, whole(even, 256), 1);
  give(1, from1, 0);
  gather(2, from3, whole(odd, 0), 0);
  give(2, from2, 1);
  give(3, from3, 0);
  for (std::uint32_t r = 0; r < 4; ++r) b.add_pre({whole(BufferId(r), 0), ValueId(r), 0});
  return b.build();
}

/// A plan as sends and receives: a channel per pair, a buffer per rank; a send waits for its block
/// and for its rank's send before it.
inline Schedule lower_plainly(const Plan& plan) {
  ScheduleBuilder b(plan.ranks);
  b.set_message_bytes(plan.bytes);
  for (std::uint32_t r = 0; r < plan.ranks; ++r) b.add_buffer(RankId(r), plan.bytes);
  std::map<std::pair<RankId, RankId>, ChannelId> channels;
  for (const Transfer& t : plan.transfers) {
    if (channels.count({t.src, t.dst}) != 0) continue;
    Channel c;
    c.src = t.src;
    c.dst = t.dst;
    channels[{t.src, t.dst}] = b.add_channel(c);
  }
  for (std::uint32_t r = 0; r < plan.ranks; ++r) {
    std::map<std::uint32_t, OpId> has;
    OpId last_send;
    // All receives come before the sends.
    for (const bool receives : {true, false}) {
      for (const Transfer& t : plan.transfers) {
        if ((receives ? t.dst : t.src) != RankId(r)) continue;
        Op op;
        op.rank = RankId(r);
        op.step = t.step;
        op.channel = channels[{t.src, t.dst}];
        op.kind = receives ? OpKind::kRecv : OpKind::kSend;
        const Slice block{BufferId(r), plan.block_offset(t.block), plan.bytes_of(t.block)};
        (receives ? op.writes : op.reads) = b.add_slice(block);
        const OpId id = b.add(op);
        if (receives) {
          has[t.block] = id;
          continue;
        }
        if (has.count(t.block) != 0) b.add_edge(has[t.block], id);
        if (last_send.valid()) b.add_edge(last_send, id);
        last_send = id;
      }
    }
  }
  b.add_pre({{BufferId(plan.root.value), 0, plan.bytes}, ValueId(0), 0});
  for (std::uint32_t r = 0; r < plan.ranks; ++r) {
    b.add_post({{BufferId(r), 0, plan.bytes}, ValueId(0), 0});
  }
  return b.build();
}

}  // namespace slackline::testing
