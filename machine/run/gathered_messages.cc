#include "machine/run/gathered_messages.h"

#include <algorithm>
#include <utility>

namespace slackline::machine {

using sched::Bundle;
using sched::OpId;
using sched::OpKind;

GatheredMessages::GatheredMessages(const sched::Schedule& schedule) : schedule_(schedule) {
  const auto gathers = [](const sched::Channel& c) { return c.bundle != Bundle::kNone; };
  if (std::none_of(schedule.channels().begin(), schedule.channels().end(), gathers)) return;
  channels_.resize(schedule.channels().size());
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const sched::Channel& channel = schedule.channels()[c];
    if (gathers(channel)) channels_[c].rule.emplace(channel, channel.bundle_bytes);
  }
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

bool GatheredMessages::decide(OpId op) {
  const sched::Op& o = schedule_.op(op);
  const bool message = o.kind == OpKind::kSend || o.kind == OpKind::kPut;
  const bool gathered = message && line_of(op).rule->gathers();
  gathered_[op.value] = gathered ? 1 : 0;
  return gathered;
}

void GatheredMessages::add(OpId op, double now_s) {
  Line& line = line_of(op);
  Open& open = line.open;
  next_[op.value] = OpId::none();
  if (!open.oldest.valid()) {
    open.oldest = op;
    open.serial = ++serial_;
  } else {
    next_[open.newest.value] = op;
  }
  open.newest = op;
  line.rule->add(schedule_.payload_bytes(schedule_.op(op)), now_s);
  head_[op.value] = open.oldest;
}

OpId GatheredMessages::take(sched::ChannelId channel, std::uint32_t lane) {
  Line& line = channels_[channel.value];
  const Open taken = std::exchange(line.open, {});
  if (!taken.oldest.valid()) return OpId::none();
  bytes_[taken.oldest.value] = line.rule->bytes();
  line.rule->close();
  held_lane_[taken.oldest.value] = lane;
  return taken.oldest;
}

void GatheredMessages::under_way(OpId oldest) {
  line_of(oldest).rule->left();
  std::uint32_t members = 0;
  for (OpId op = oldest; op.valid(); op = next_[op.value]) ++members;
  not_done_[oldest.value] = members;
}

void GatheredMessages::alone(OpId op) {
  next_[op.value] = OpId::none();
  head_[op.value] = op;
  bytes_[op.value] = schedule_.payload_bytes(schedule_.op(op));
  under_way(op);
}

void GatheredMessages::done(OpId op) {
  if (--not_done_[head_[op.value].value] == 0) line_of(op).rule->over();
}

}  // namespace slackline::machine
