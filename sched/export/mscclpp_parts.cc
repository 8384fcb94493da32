#include "sched/export/mscclpp_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sched/export/mscclpp_plan.h"

namespace slackline::sched {

MscclppParts::MscclppParts(const Schedule& schedule)
    : schedule_(schedule),
      order_(channel_order(schedule)),
      control_(schedule.control_channels()),
      part_(schedule.op_count(), MscclppPart::kNone),
      moves_(schedule.op_count()),
      awaited_(schedule.op_count()),
      ready_(schedule.op_count(), false) {
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) sort_out(OpId(i));
  check_counts();
  find_awaited();
  find_ready();
}

void MscclppParts::refuse(OpId id, std::string_view why) const {
  throw Unsupported(fmt::format("mscclpp-json: {} {}", describe(schedule_, id), why));
}

void MscclppParts::refuse_length(OpId id) const {
  refuse(id, fmt::format("is too much for its GPU; MSCCL++'s limit is {} operations in each of {} "
                         "thread blocks that follow each other",
                         kMscclppOperations, kMscclppBarriers + 1));
}

// Whether a message carries no data, but the news that it came.
bool MscclppParts::is_control(OpId source) const {
  const Op& op = schedule_.op(source);
  return control_[op.channel.value] &&
         (op.notify == Notify::kFlag || schedule_.bytes(op.reads) == 0);
}

void MscclppParts::sort_out(OpId id) {
  const Op& op = schedule_.op(id);
  if (op.channel.valid() && op.kind != OpKind::kFlush &&
      schedule_.channel(op.channel).src == schedule_.channel(op.channel).dst) {
    refuse(id, "is of a message to its own GPU; MSCCL++'s channels lead to others");
  }
  switch (op.kind) {
    case OpKind::kJoin:
    case OpKind::kFlush:
      return;
    case OpKind::kSend:
    case OpKind::kPut:
      if (is_fifo_source(op) && !op.match.valid()) refuse(id, "has nothing that matches it");
      if (op.notify == Notify::kFlag && (!op.match.valid() || !is_control(id))) break;
      if (op.arguments != kNoArguments) break;
      part_[id.value] = MscclppPart::kSource;
      if (!is_control(id)) {
        move(id, op.reads, op.kind == OpKind::kSend ? schedule_.op(op.match).writes : op.writes);
      }
      return;
    case OpKind::kRecv:
      if (!op.match.valid()) refuse(id, "has nothing that matches it");
      part_[id.value] = MscclppPart::kWait;
      return;
    case OpKind::kPoll:
      if (!op.match.valid() || !is_control(op.match)) break;
      part_[id.value] = MscclppPart::kWait;
      return;
    case OpKind::kGet:
      if (op.arguments != kNoArguments) break;
      part_[id.value] = MscclppPart::kGet;
      move(id, op.reads, op.writes);
      return;
    case OpKind::kCopy:
      part_[id.value] = MscclppPart::kCopy;
      move(id, op.reads, op.writes);
      return;
    case OpKind::kReduce:
      if (schedule_.arguments(op).duration.count() != 0) {
        refuse(id, "has a time of its own, as what counts has; MSCCL++ has none");
      }
      part_[id.value] = MscclppPart::kReduce;
      if (op.reads.count < 2 || op.reads.count > kMscclppOperands) {
        refuse(id, fmt::format("adds {} operands; MSCCL++ adds 2 to {}", op.reads.count,
                               kMscclppOperands));
      }
      return;
    default:
      break;
  }
  refuse(id, "has no counterpart in MSCCL++");
}

// What is gathered from pieces and scattered to pieces, cut where either side is.
void MscclppParts::move(OpId id, SliceRange reads, SliceRange writes) {
  const auto from = schedule_.slices(reads);
  const auto to = schedule_.slices(writes);
  std::uint64_t read = 0;     // of the piece that it is at
  std::uint64_t written = 0;  // likewise
  for (std::size_t f = 0, t = 0; f < from.size();) {
    if (read == from[f].bytes) {
      ++f;
      read = 0;
    } else if (t == to.size()) {
      refuse(id, "has sides of different size; what MSCCL++ moves has one");
    } else if (written == to[t].bytes) {
      ++t;
      written = 0;
    } else {
      const std::uint64_t bytes = std::min(from[f].bytes - read, to[t].bytes - written);
      moves_[id.value].push_back({{from[f].buffer, from[f].offset + read, bytes},
                                  {to[t].buffer, to[t].offset + written, bytes}});
      read += bytes;
      written += bytes;
    }
  }
}

// Before the work: each takes an operation of the plan, or more.
void MscclppParts::check_counts() const {
  std::vector<std::size_t> counts(schedule_.rank_count(), 0);
  for (std::uint32_t i = 0; i < part_.size(); ++i) {
    if (part_[i] == MscclppPart::kNone) continue;
    if (++counts[schedule_.ops()[i].rank.value] > kMscclppOperations * (kMscclppBarriers + 1)) {
      refuse_length(OpId(i));
    }
  }
}

// Along edges, through what vanished and through what only had to be issued.
void MscclppParts::find_awaited() {
  std::vector<std::uint32_t> seen(part_.size(), 0);  // the round in which it was
  std::uint32_t round = 0;
  std::vector<OpId> stack;
  const auto follow = [&](OpId id) {
    if (seen[id.value] == round) return;
    seen[id.value] = round;
    stack.push_back(id);
  };
  for (std::uint32_t i = 0; i < part_.size(); ++i) {
    if (part_[i] == MscclppPart::kNone) continue;
    ++round;
    follow(OpId(i));
    while (!stack.empty()) {
      const OpId id = stack.back();
      stack.pop_back();
      for (const Edge& edge : schedule_.edges_into(id)) {
        if (edge.on == On::kDone && part_[edge.pred.value] != MscclppPart::kNone) {
          awaited_[i].push_back(edge.pred);
        } else {
          follow(edge.pred);
        }
      }
      if (order_.previous[id.value].valid()) follow(order_.previous[id.value]);
    }
  }
}

template <class Visit>
void MscclppParts::for_each_touch(OpId id, Visit&& visit) const {
  for (const MscclppMove& moved : moves_[id.value]) {
    visit(moved.from);
    visit(moved.to);
  }
  if (part_[id.value] != MscclppPart::kReduce) return;
  for (const SliceRange range : {schedule_.op(id).reads, schedule_.op(id).writes}) {
    for (const Slice& slice : schedule_.slices(range)) visit(slice);
  }
}

// A put is ordered behind what used its target, as the schedule says; a send is not, but its
// receive.
void MscclppParts::find_ready() {
  std::vector<std::vector<std::pair<Slice, OpId>>> touches(schedule_.buffers().size());
  for (std::uint32_t i = 0; i < part_.size(); ++i) {
    for_each_touch(OpId(i), [&](const Slice& slice) {
      touches[slice.buffer.value].emplace_back(slice, OpId(i));
    });
  }
  const auto shared = [&](const Slice& target, OpId by) {
    const std::vector<std::pair<Slice, OpId>>& all = touches[target.buffer.value];
    return std::any_of(all.begin(), all.end(), [&](const std::pair<Slice, OpId>& touch) {
      const Slice& other = touch.first;
      return touch.second != by && other.offset < target.offset + target.bytes &&
             target.offset < other.offset + other.bytes;
    });
  };
  for (std::uint32_t i = 0; i < part_.size(); ++i) {
    const Op& op = schedule_.ops()[i];
    if (op.kind != OpKind::kRecv || schedule_.op(op.match).kind != OpKind::kSend) continue;
    if (schedule_.channel(op.channel).window != 0 || awaited_[i].empty()) continue;
    const std::vector<MscclppMove>& moved = moves_[op.match.value];
    ready_[i] = std::any_of(moved.begin(), moved.end(),
                            [&](const MscclppMove& move) { return shared(move.to, op.match); });
  }
}

std::vector<Slice> MscclppParts::touched() const {
  std::vector<Slice> out;
  for (std::uint32_t i = 0; i < part_.size(); ++i) {
    for_each_touch(OpId(i), [&](const Slice& slice) {
      if (slice.bytes != 0) out.push_back(slice);
    });
  }
  return out;
}

std::vector<bool> MscclppParts::credit_buffers() const {
  std::vector<bool> out(schedule_.buffers().size(), false);
  for (std::uint32_t i = 0; i < part_.size(); ++i) {
    if (part_[i] != MscclppPart::kSource || !is_control(OpId(i))) continue;
    for (const SliceRange range : {schedule_.ops()[i].reads, schedule_.ops()[i].writes}) {
      for (const Slice& slice : schedule_.slices(range)) out[slice.buffer.value] = true;
    }
  }
  return out;
}

}  // namespace slackline::sched
