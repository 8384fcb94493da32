// A schedule of gets, atomics and puts whose places atomics find.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/builder.h"
#include "sched/schedule.h"

namespace slackline::testing {

// Rank 1 reads rank 0's value, finds 24 and then 40 in a word by atomics, and writes pieces of the
// value back to just these places; rank 0 copies one of them. `copied` is what the contract says of
// that copy.
inline sched::Schedule dataflow(sched::ValueId copied) {
  using sched::Operand;
  using sched::OpId;
  using sched::OpKind;
  using sched::RankId;
  sched::ScheduleBuilder builder(2);
  const sched::BufferId source = builder.add_buffer(RankId(0), 64);
  const sched::BufferId word = builder.add_buffer(RankId(0), 8);
  const sched::BufferId target = builder.add_buffer(RankId(0), 64);
  const sched::BufferId copies = builder.add_buffer(RankId(0), 8);
  const sched::BufferId fetched = builder.add_buffer(RankId(1), 64);
  sched::Channel back;
  back.src = RankId(1);
  back.dst = RankId(0);
  const sched::ChannelId channel = builder.add_channel(back);
  const auto literal = [](std::uint64_t value) {
    return Operand{Operand::From::kLiteral, OpId::none(), value};
  };
  const auto slice = [&](sched::BufferId buffer, std::uint64_t offset, std::uint64_t bytes) {
    return builder.add_slice({buffer, offset, bytes});
  };
  const auto add = [&](OpKind kind, sched::SliceRange reads, sched::SliceRange writes,
                       std::vector<OpId> after, const sched::OpArguments& arguments = {},
                       sched::Notify notify = sched::Notify::kNone) {
    sched::Op op;
    op.kind = kind;
    op.notify = notify;
    op.rank = RankId(kind == OpKind::kRecv || kind == OpKind::kCopy ? 0 : 1);
    if (kind != OpKind::kCopy) op.channel = channel;
    op.reads = reads;
    op.writes = writes;
    const OpId id =
        arguments == sched::OpArguments{} ? builder.add(op) : builder.add(op, arguments);
    for (const OpId pred : after) builder.add_edge(pred, id);
    return id;
  };
  const OpId received = add(OpKind::kRecv, {}, {}, {});
  add(OpKind::kCopy, slice(target, 24, 8), slice(copies, 0, 8), {received});
  const auto atomic = [&](OpKind kind, std::uint64_t operand, std::vector<OpId> after,
                          std::uint64_t compare = 0) {
    sched::OpArguments arguments;
    arguments.operand = literal(operand);
    if (kind == OpKind::kCompareSwap) arguments.compare = literal(compare);
    return add(kind, slice(word, 0, 8), slice(word, 0, 8), after, arguments);
  };
  const auto put_at = [&](OpId result, std::uint64_t from, std::vector<OpId> after,
                          sched::Notify notify) {
    sched::OpArguments arguments;
    arguments.address_offset = {Operand::From::kResult, result, 1};
    return add(OpKind::kPut, slice(fetched, from, 8), slice(target, 0, 8), after, arguments,
               notify);
  };
  const OpId got = add(OpKind::kGet, slice(source, 0, 64), slice(fetched, 0, 64), {});
  const OpId added = atomic(OpKind::kFetchAdd, 24, {});
  const OpId finds_24 = atomic(OpKind::kFetchAdd, 0, {added});
  const OpId swapped = atomic(OpKind::kCompareSwap, 40, {finds_24}, 24);
  const OpId finds_40 = atomic(OpKind::kFetchAdd, 0, {swapped});
  const OpId first = put_at(finds_24, 0, {got, finds_24}, sched::Notify::kNone);
  put_at(finds_40, 8, {got, finds_40, first}, sched::Notify::kImm);
  builder.add_pre({{source, 0, 64}, sched::ValueId(0), 0});
  builder.add_post({{fetched, 0, 64}, sched::ValueId(0), 0});
  builder.add_post({{target, 24, 8}, sched::ValueId(0), 0});
  builder.add_post({{target, 40, 8}, sched::ValueId(0), 8});
  builder.add_post({{copies, 0, 8}, copied, 0});
  return builder.build();
}

}  // namespace slackline::testing
