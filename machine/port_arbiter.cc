#include "machine/port_arbiter.h"

namespace slackline::machine {

using sched::OpId;
using sched::RankId;

void PortArbiter::join(double now_s, OpId op, RankId src, RankId dst) {
  OutPort& port = out_[src.value];
  port.queue.push_back({op, dst});
  const bool is_head = port.queue.size() - port.head == 1;
  if (is_head && !port.held) {
    port.last = OpId::none();
    head(now_s, src);
  }
}

void PortArbiter::head(double now_s, RankId src) {
  const OutPort& port = out_[src.value];
  const Message& message = port.queue[port.head];
  InPort& target = in_[message.dst.value];
  target.rivals.push({now_s, message.op, src});
  touch(message.dst);
}

void PortArbiter::touch(RankId dst) {
  if (in_[dst.value].dirty) return;
  in_[dst.value].dirty = true;
  dirty_.push_back(dst);
}

bool PortArbiter::find_start(Start& start) {
  while (!dirty_.empty()) {
    const RankId dst = dirty_.back();
    InPort& target = in_[dst.value];
    if (target.held || target.rivals.empty()) {
      if (target.rivals.empty()) target.last = OpId::none();
      target.dirty = false;
      dirty_.pop_back();
      continue;
    }
    const Rival rival = target.rivals.pop();
    OutPort& port = out_[rival.src.value];
    start = {rival.op, rival.src, dst, target.last.valid() ? target.last : port.last};
    target.held = true;
    target.last = rival.op;
    port.held = true;
    port.last = rival.op;
    if (++port.head == port.queue.size()) {
      port.queue.clear();
      port.head = 0;
    } else if (port.head >= 64 && 2 * port.head >= port.queue.size()) {
      port.queue.erase(port.queue.begin(),
                       port.queue.begin() + static_cast<std::ptrdiff_t>(port.head));
      port.head = 0;
    }
    return true;
  }
  return false;
}

void PortArbiter::free_out(double now_s, RankId rank) {
  out_[rank.value].held = false;
  if (!out_[rank.value].queue.empty()) head(now_s, rank);
}

void PortArbiter::free_in(RankId rank) {
  in_[rank.value].held = false;
  touch(rank);
}

}  // namespace slackline::machine
