#include "sched/export/messages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace slackline::sched {
namespace {

using Place = std::tuple<BufferId, std::uint64_t, std::uint64_t>;

Place place_of(const Slice& slice) { return {slice.buffer, slice.offset, slice.bytes}; }

// Where a send or put writes: a send's receive says it.
SliceRange target_of(const Schedule& schedule, const Op& source) {
  if (source.kind == OpKind::kPut) return source.writes;
  return source.match.valid() ? schedule.op(source.match).writes : SliceRange{};
}

// What becomes of each place, in program order: a message has come there, or a copy takes just that
// piece to an offset.
using Uses = std::map<Place, std::map<OpId, std::optional<std::uint64_t>>>;

Uses uses_of(const Schedule& schedule) {
  Uses uses;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (op.kind == OpKind::kCopy && op.reads.count == 1 && op.writes.count == 1) {
      uses[place_of(schedule.slices(op.reads)[0])].emplace(OpId(i),
                                                           schedule.slices(op.writes)[0].offset);
    } else if ((op.kind == OpKind::kRecv || op.kind == OpKind::kPoll) && op.match.valid()) {
      const SliceRange target = target_of(schedule, schedule.op(op.match));
      if (target.count != 0) {
        uses[place_of(schedule.slices(target)[0])].emplace(OpId(i), std::nullopt);
      }
    }
  }
  return uses;
}

}  // namespace

std::vector<DataMessage> data_messages(const Schedule& schedule) {
  const std::vector<bool> credit = schedule.control_channels();
  const Uses uses = uses_of(schedule);
  std::vector<DataMessage> messages;
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if ((op.kind != OpKind::kSend && op.kind != OpKind::kPut) || credit[op.channel.value]) continue;
    const Channel& channel = schedule.channel(op.channel);
    DataMessage message{OpId(i), channel.src, channel.dst, 0, schedule.bytes(op.reads), 0};
    largest = std::max(largest, message.bytes);
    const SliceRange target = target_of(schedule, op);
    if (target.count != 0) {
      const Slice& first = schedule.slices(target)[0];
      message.offset = first.offset;
      if (const auto found = uses.find(place_of(first)); found != uses.end()) {
        const auto& all = found->second;
        const auto next = op.match.valid() ? all.upper_bound(op.match) : all.begin();
        if (next != all.end()) message.offset = next->second.value_or(first.offset);
      }
    }
    messages.push_back(message);
  }
  for (DataMessage& message : messages) message.block = largest == 0 ? 0 : message.offset / largest;
  return messages;
}

}  // namespace slackline::sched
