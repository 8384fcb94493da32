#include "machine/bundles.h"

#include <algorithm>
#include <utility>

namespace slackline::machine {

using sched::Bundle;
using sched::OpId;
using sched::OpKind;

Bundles::Bundles(const sched::Schedule& schedule) : schedule_(schedule) {
  const auto gathers = [](const sched::Channel& c) { return c.bundle != Bundle::kNone; };
  if (std::none_of(schedule.channels().begin(), schedule.channels().end(), gathers)) return;
  channels_.resize(schedule.channels().size());
  gathered_.resize(schedule.op_count(), 0);
  next_.resize(schedule.op_count());
  head_.resize(schedule.op_count());
  bytes_.resize(schedule.op_count(), 0);
  not_done_.resize(schedule.op_count(), 0);
  held_lane_.resize(schedule.op_count(), kNone);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    head_[i] = OpId(i);
    bytes_[i] = schedule.payload_bytes(schedule.ops()[i]);
  }
}

bool Bundles::decide(OpId op) {
  const sched::Op& o = schedule_.op(op);
  const sched::Channel& channel = channel_of(op);
  const Line& line = line_of(op);
  const bool message = o.kind == OpKind::kSend || o.kind == OpKind::kPut;
  const bool room = channel.window == 0 || line.under_way < channel.window;
  // Behind what is gathered nobody goes alone: queue pairs are FIFO.
  const bool gathered =
      message && (channel.bundle == Bundle::kTraditional || !room || line.open.oldest.valid());
  gathered_[op.value] = gathered ? 1 : 0;
  return gathered;
}

void Bundles::add(OpId op, double now_s) {
  Open& open = line_of(op).open;
  const sched::Channel& channel = channel_of(op);
  next_[op.value] = OpId::none();
  if (!open.oldest.valid()) {
    open.oldest = op;
    open.serial = ++serial_;
    if (channel.bundle_delay != sched::kForever) {
      open.due_s = now_s + sched::seconds(channel.bundle_delay);
    }
  } else {
    next_[open.newest.value] = op;
  }
  open.newest = op;
  open.bytes += schedule_.payload_bytes(schedule_.op(op));
  head_[op.value] = open.oldest;
}

bool Bundles::is_full(sched::ChannelId channel) const {
  return channels_[channel.value].open.bytes >= schedule_.channel(channel).bundle_bytes;
}

bool Bundles::has_room(sched::ChannelId channel) const {
  const sched::Channel& c = schedule_.channel(channel);
  return c.bundle == Bundle::kOverflow && channels_[channel.value].under_way < c.window;
}

OpId Bundles::take(sched::ChannelId channel, std::uint32_t lane) {
  const Open taken = std::exchange(channels_[channel.value].open, {});
  if (!taken.oldest.valid()) return OpId::none();
  bytes_[taken.oldest.value] = taken.bytes;
  held_lane_[taken.oldest.value] = lane;
  return taken.oldest;
}

void Bundles::under_way(OpId oldest) {
  ++line_of(oldest).under_way;
  std::uint32_t members = 0;
  for (OpId op = oldest; op.valid(); op = next_[op.value]) ++members;
  not_done_[oldest.value] = members;
}

void Bundles::alone(OpId op) {
  next_[op.value] = OpId::none();
  head_[op.value] = op;
  bytes_[op.value] = schedule_.payload_bytes(schedule_.op(op));
  under_way(op);
}

void Bundles::done(OpId op) {
  if (--not_done_[head_[op.value].value] == 0) --line_of(op).under_way;
}

}  // namespace slackline::machine
