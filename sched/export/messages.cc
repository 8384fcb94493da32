#include "sched/export/messages.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace slackline::sched {
namespace {

using Place = std::tuple<BufferId, std::uint64_t, std::uint64_t>;

Place place_of(const Slice& slice) { return {slice.buffer, slice.offset, slice.bytes}; }

}  // namespace

std::vector<DataMessage> data_messages(const Schedule& schedule) {
  const std::vector<bool> credit = schedule.control_channels();
  std::map<Place, std::uint64_t> copied_to;  // the first copy's offset
  for (const Op& op : schedule.ops()) {
    if (op.kind != OpKind::kCopy || op.reads.count != 1 || op.writes.count != 1) continue;
    copied_to.try_emplace(place_of(schedule.slices(op.reads)[0]),
                          schedule.slices(op.writes)[0].offset);
  }
  std::vector<DataMessage> messages;
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if ((op.kind != OpKind::kSend && op.kind != OpKind::kPut) || credit[op.channel.value]) continue;
    const Channel& channel = schedule.channel(op.channel);
    DataMessage message{OpId(i), channel.src, channel.dst, 0, schedule.bytes(op.reads), 0};
    largest = std::max(largest, message.bytes);
    SliceRange target = op.writes;
    if (op.kind == OpKind::kSend && op.match.valid()) target = schedule.op(op.match).writes;
    if (target.count != 0) {
      const Slice& first = schedule.slices(target)[0];
      const auto moved = copied_to.find(place_of(first));
      message.offset = moved == copied_to.end() ? first.offset : moved->second;
    }
    messages.push_back(message);
  }
  for (DataMessage& message : messages) message.block = largest == 0 ? 0 : message.offset / largest;
  return messages;
}

}  // namespace slackline::sched
