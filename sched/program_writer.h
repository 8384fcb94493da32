// What programs are written in: operations with what they wait for, and the channels between ranks.
//
// A message that no receive is posted for is a put with a flag: a mark, a word that is never zero,
// stands behind its bytes, and its target polls for the mark. A remote invocation is such a put,
// the poll that sees it, a calc as its handler and, if it is answered, a put and a poll back.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/flat_index.h"
#include "base/mix.h"
#include "sched/builder.h"

namespace slackline::sched {

/// The last `bytes` of the bytes of a slice: where the flag of a put stands that writes it.
constexpr Slice end_of(const Slice& slice, std::uint64_t bytes) {
  return {slice.buffer, slice.offset + (slice.bytes - bytes), bytes};
}

/// Where an operation stands.
struct OpPlace {
  RankId rank;
  std::uint32_t step = 0;
  std::uint16_t lane = 0;
};
inline OpPlace place_of(const Op& op) { return {op.rank, op.step, op.lane}; }

/// What an operation reads or writes: slices, or a run of them that the table has already. A
/// parameter only: it refers to the slices.
class OpSlices {
 public:
  OpSlices() = default;
  OpSlices(SliceRange range) : range_(range) {}
  OpSlices(const Slice& slice) : slices_(&slice, 1) {}
  OpSlices(std::initializer_list<Slice> slices) : slices_(slices.begin(), slices.size()) {}
  OpSlices(std::span<const Slice> slices) : slices_(slices) {}

  /// For an operation of rank `of`.
  SliceRange in(ScheduleBuilder& out, RankId of) const {
    return slices_.empty() ? range_ : out.add_slices(slices_, of);
  }

 private:
  std::span<const Slice> slices_;
  SliceRange range_;
};

/// Each operation stands behind those that its rank has so far. It waits until all of `after` are
/// done; those that are none() hold nothing back.
class ProgramWriter : public ScheduleBuilder {
 public:
  using ScheduleBuilder::ScheduleBuilder;
  using After = std::initializer_list<OpId>;

  /// Room for a program of so many operations, which may be a bound: what is not used costs no
  /// memory. `arguments`: of those that have some.
  void expect(std::uint64_t ops, std::uint64_t arguments = 0);

  /// An operation that is not added yet.
  Op op(OpKind kind, const OpPlace& at, ChannelId on = {}, OpSlices reads = {},
        OpSlices writes = {}) {
    Op op;
    op.kind = kind;
    op.lane = at.lane;
    op.rank = at.rank;
    op.channel = on;
    op.reads = reads.in(*this, at.rank);
    op.writes = writes.in(*this, at.rank);
    op.step = at.step;
    return op;
  }
  using ScheduleBuilder::add;
  OpId add(const Op& op, After after) { return behind(ScheduleBuilder::add(op), after); }
  OpId add(const Op& op, const OpArguments& arguments, After after) {
    return behind(ScheduleBuilder::add(op, arguments), after);
  }

  void after(OpId pred, OpId succ, On on = On::kDone) {
    if (pred.valid()) add_edge(pred, succ, on);
  }
  void after(std::span<const OpId> preds, OpId succ) {
    for (const OpId pred : preds) after(pred, succ);
  }

  /// A channel of its own, reliable and without promises.
  ChannelId connect(RankId src, RankId dst);
  using ScheduleBuilder::channel;
  /// The channel between two ranks that goes by `number`: the same for the same three.
  ChannelId channel(RankId src, RankId dst, std::uint32_t number = 0);

  OpId send(const OpPlace& at, ChannelId on, OpSlices from, After after = {}) {
    return add(op(OpKind::kSend, at, on, from), after);
  }
  OpId receive(const OpPlace& at, ChannelId on, OpSlices to, After after = {}) {
    return add(op(OpKind::kRecv, at, on, {}, to), after);
  }
  OpId put(const OpPlace& at, ChannelId on, OpSlices from, OpSlices to, Notify notify,
           After after = {}) {
    Op put = op(OpKind::kPut, at, on, from, to);
    put.notify = notify;
    return add(put, after);
  }
  OpId get(const OpPlace& at, ChannelId on, OpSlices from, OpSlices to, After after = {}) {
    return add(op(OpKind::kGet, at, on, from, to), after);
  }
  /// Looks for the flag of a put: of the one that add_flag_match() joins it to.
  OpId poll(const OpPlace& at, OpSlices flag, After after = {}) {
    return add(op(OpKind::kPoll, at, {}, flag), after);
  }
  OpId copy(const OpPlace& at, OpSlices from, OpSlices to, After after = {}) {
    return add(op(OpKind::kCopy, at, {}, from, to), after);
  }
  /// Adds `operand` to what stands at `sum`.
  OpId add_to(const OpPlace& at, const Slice& sum, const Slice& operand, After after = {}) {
    return add(op(OpKind::kReduce, at, {}, {sum, operand}, sum), after);
  }
  /// The same, but that the `first` operand is copied there: nothing stands there yet.
  OpId accumulate(const OpPlace& at, const Slice& sum, const Slice& operand, bool first,
                  After after = {}) {
    return first ? copy(at, operand, sum, after) : add_to(at, sum, operand, after);
  }
  OpId calc(const OpPlace& at, Time duration, After after = {}) {
    return timed(OpKind::kCalc, at, duration, after);
  }
  OpId delay(const OpPlace& at, Time duration, After after = {}) {
    return timed(OpKind::kDelay, at, duration, after);
  }
  OpId join(const OpPlace& at, After after = {}) { return add(op(OpKind::kJoin, at), after); }

  /// The `count` operations from `entry` on, as often as it takes until their tests hold.
  void retry(OpId entry, std::uint32_t count, std::uint32_t attempts);

 private:
  OpId timed(OpKind kind, const OpPlace& at, Time duration, After after);
  OpId behind(OpId op, After preds) {
    for (const OpId pred : preds) after(pred, op);
    return op;
  }

  struct ChannelKey {
    RankId src;
    RankId dst;
    std::uint32_t number = 0;
    friend bool operator==(const ChannelKey&, const ChannelKey&) = default;
  };
  struct HashOfChannel {
    std::uint64_t operator()(const ChannelKey& key) const {
      return mixed(std::uint64_t{key.src.value} << 32 ^ std::uint64_t{key.number} << 24 ^
                   key.dst.value);
    }
  };
  base::FlatIndex<ChannelKey, HashOfChannel> channels_;
};

}  // namespace slackline::sched
