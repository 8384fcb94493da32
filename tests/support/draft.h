// A schedule that a test can still change: written by hand, or taken apart from a finished one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sched/builder.h"
#include "sched/schedule.h"

namespace slackline::testing {

using namespace slackline::sched;  // NOLINT: tests speak of little else

struct DraftOp {
  Op op;
  std::vector<Slice> reads;
  std::vector<Slice> writes;
  std::optional<OpArguments> arguments;
};

/// Operations are named by their place in `ops`; those of one rank stand in program order. The
/// finished schedule has the same numbers if ranks ascend.
struct Draft {
  std::uint32_t ranks = 1;
  std::vector<Buffer> buffers;
  std::vector<Channel> channels;
  std::vector<DraftOp> ops;
  std::vector<Edge> edges;
  std::vector<std::pair<OpId, OpId>> flags;  // put, poll
  std::vector<Fact> pre;
  std::vector<Fact> post;

  BufferId buffer(std::uint32_t rank, std::uint64_t bytes) {
    buffers.push_back({RankId(rank), bytes});
    return BufferId(static_cast<std::uint32_t>(buffers.size() - 1));
  }
  ChannelId channel(std::uint32_t src, std::uint32_t dst, std::uint32_t window = 0,
                    Service service = Service::kReliable) {
    Channel made;
    made.src = RankId(src);
    made.dst = RankId(dst);
    made.window = window;
    made.service = service;
    channels.push_back(made);
    return ChannelId(static_cast<std::uint32_t>(channels.size() - 1));
  }
  OpId add(OpKind kind, std::uint32_t rank, ChannelId on = {}, std::vector<Slice> reads = {},
           std::vector<Slice> writes = {}, Notify notify = Notify::kNone) {
    DraftOp made;
    made.op.kind = kind;
    made.op.rank = RankId(rank);
    made.op.channel = on;
    made.op.notify = notify;
    made.reads = std::move(reads);
    made.writes = std::move(writes);
    ops.push_back(std::move(made));
    return OpId(static_cast<std::uint32_t>(ops.size() - 1));
  }
  OpId send(ChannelId on, std::vector<Slice> reads = {}) {
    return add(OpKind::kSend, channels[on.value].src.value, on, std::move(reads));
  }
  OpId recv(ChannelId on, std::vector<Slice> writes = {}) {
    return add(OpKind::kRecv, channels[on.value].dst.value, on, {}, std::move(writes));
  }
  OpId put(ChannelId on, const Slice& from, const Slice& to, Notify notify = Notify::kNone) {
    return add(OpKind::kPut, channels[on.value].src.value, on, {from}, {to}, notify);
  }
  OpId get(ChannelId on, const Slice& from, const Slice& to) {
    return add(OpKind::kGet, channels[on.value].src.value, on, {from}, {to});
  }
  OpId atomic(OpKind kind, ChannelId on, const Slice& word, std::vector<Slice> result = {}) {
    std::vector<Slice> writes = {word};
    writes.insert(writes.end(), result.begin(), result.end());
    return add(kind, channels[on.value].src.value, on, {word}, std::move(writes));
  }
  OpId poll(std::uint32_t rank, std::vector<Slice> flag = {}) {
    return add(OpKind::kPoll, rank, {}, std::move(flag));
  }
  OpId copy(std::uint32_t rank, const Slice& from, const Slice& to) {
    return add(OpKind::kCopy, rank, {}, {from}, {to});
  }
  void edge(OpId pred, OpId succ, On on = On::kDone) { edges.push_back({pred, succ, on}); }
  void flag(OpId put, OpId poll) { flags.emplace_back(put, poll); }

  Schedule build() const {
    ScheduleBuilder builder(ranks);
    for (const Buffer& b : buffers) builder.add_buffer(b.rank, b.bytes);
    for (const Channel& c : channels) builder.add_channel(c);
    for (const DraftOp& draft : ops) {
      Op op = draft.op;
      op.reads = builder.add_slices(draft.reads);
      op.writes = builder.add_slices(draft.writes);
      if (draft.arguments) {
        builder.add(op, *draft.arguments);
      } else {
        builder.add(op);
      }
    }
    for (const Edge& e : edges) builder.add_edge(e.pred, e.succ, e.on);
    for (const auto& [put, poll] : flags) builder.add_flag_match(put, poll);
    for (const Fact& fact : pre) builder.add_pre(fact);
    for (const Fact& fact : post) builder.add_post(fact);
    return builder.build();
  }

  /// Takes an operation out, and every edge and flag at it. The later ones move up.
  void erase(OpId gone) {
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(gone.value));
    std::erase_if(edges, [&](const Edge& e) { return e.pred == gone || e.succ == gone; });
    std::erase_if(flags, [&](const auto& f) { return f.first == gone || f.second == gone; });
    const auto move = [&](OpId& id) {
      if (id.valid() && id > gone) id = OpId(id.value - 1);
    };
    for (Edge& e : edges) {
      move(e.pred);
      move(e.succ);
    }
    for (auto& [put, poll] : flags) {
      move(put);
      move(poll);
    }
    for (DraftOp& draft : ops) {
      if (!draft.arguments) continue;
      for (Operand* operand : {&draft.arguments->operand, &draft.arguments->compare}) {
        if (operand->op == gone) *operand = Operand{};
        move(operand->op);
      }
    }
  }

  static Draft from(const Schedule& schedule) {
    Draft draft;
    draft.ranks = schedule.rank_count();
    draft.buffers.assign(schedule.buffers().begin(), schedule.buffers().end());
    draft.channels.assign(schedule.channels().begin(), schedule.channels().end());
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const Op& op = schedule.ops()[i];
      const auto reads = schedule.slices(op.reads);
      const auto writes = schedule.slices(op.writes);
      draft.ops.push_back({op, {reads.begin(), reads.end()}, {writes.begin(), writes.end()}, {}});
      if (op.arguments != kNoArguments) draft.ops.back().arguments = schedule.arguments(op);
      if (op.notify == Notify::kFlag && op.match.valid()) {
        draft.flags.emplace_back(OpId(i), op.match);
      }
    }
    draft.edges.assign(schedule.edges().begin(), schedule.edges().end());
    draft.pre = schedule.contract().pre;
    draft.post = schedule.contract().post;
    return draft;
  }
};

}  // namespace slackline::testing
