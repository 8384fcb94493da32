#include "machine/port_arbiter.h"

#include <algorithm>
#include <cstddef>

namespace slackline::machine {

using sched::OpId;

void PortArbiter::join(double now_s, OpId op, NicId src, NicId dst, bool empty) {
  OutPort& port = out_[src.value];
  port.queue.push_back({op, dst, empty});
  const bool is_head = port.queue.size() - port.head == 1;
  if (is_head && !port.held) {
    port.last = OpId::none();
    head(now_s, src);
  }
}

void PortArbiter::head(double now_s, NicId src) {
  const OutPort& port = out_[src.value];
  const Message& message = port.queue[port.head];
  InPort& target = in_[message.dst.value];
  target.rivals.push({now_s, message.op, src});
  touch(message.dst);
}

void PortArbiter::touch(NicId dst) {
  if (in_[dst.value].dirty) return;
  in_[dst.value].dirty = true;
  dirty_.push_back(dst);
}

// Whether somebody waits for this in-port, and it is idle.
bool PortArbiter::is_open(InPort& target) {
  if (target.held) return false;
  if (target.rivals.empty()) target.last = OpId::none();
  return !target.rivals.empty();
}

bool PortArbiter::find_empty(Start& start) {
  while (!dirty_.empty()) {
    const NicId dst = dirty_.back();
    InPort& target = in_[dst.value];
    if (!is_open(target)) {
      target.dirty = false;
      dirty_.pop_back();
      continue;
    }
    const OutPort& port = out_[target.rivals.top().src.value];
    if (port.queue[port.head].empty) {
      begin(dst, start);
      return true;
    }
    target.dirty = false;
    dirty_.pop_back();
    parked_.push_back(dst);
  }
  return false;
}

bool PortArbiter::find_start(Start& start) {
  // The last to be touched is looked at first: so in the order in which they were parked.
  for (auto dst = parked_.rbegin(); dst != parked_.rend(); ++dst) touch(*dst);
  parked_.clear();
  while (!dirty_.empty()) {
    const NicId dst = dirty_.back();
    InPort& target = in_[dst.value];
    if (is_open(target)) {
      begin(dst, start);
      return true;
    }
    target.dirty = false;
    dirty_.pop_back();
  }
  return false;
}

// Its first rival takes both ports.
void PortArbiter::begin(NicId dst, Start& start) {
  InPort& target = in_[dst.value];
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
}

void PortArbiter::free_out(double now_s, NicId nic) {
  out_[nic.value].held = false;
  if (!out_[nic.value].queue.empty()) head(now_s, nic);
}

void PortArbiter::free_in(NicId nic) {
  in_[nic.value].held = false;
  touch(nic);
}

// Who held a port last only says what others waited for.
bool PortArbiter::goes_on_as(const PortArbiter& other) const {
  const auto same_message = [](const Message& a, const Message& b) {
    return a.op == b.op && a.dst == b.dst && a.empty == b.empty;
  };
  for (std::size_t r = 0; r < out_.size(); ++r) {
    const OutPort& a = out_[r];
    const OutPort& b = other.out_[r];
    if (a.held != b.held ||
        !std::equal(a.queue.begin() + static_cast<std::ptrdiff_t>(a.head), a.queue.end(),
                    b.queue.begin() + static_cast<std::ptrdiff_t>(b.head), b.queue.end(),
                    same_message)) {
      return false;
    }
  }
  for (std::size_t r = 0; r < in_.size(); ++r) {
    const InPort& a = in_[r];
    const InPort& b = other.in_[r];
    if (a.held != b.held || a.rivals.size() != b.rivals.size()) return false;
    if (a.rivals.empty()) continue;
    std::vector<Rival> mine(a.rivals.items().begin(), a.rivals.items().end());
    std::vector<Rival> its(b.rivals.items().begin(), b.rivals.items().end());
    std::sort(mine.begin(), mine.end(), Earlier{});
    std::sort(its.begin(), its.end(), Earlier{});
    const bool same =
        std::equal(mine.begin(), mine.end(), its.begin(), [](const Rival& x, const Rival& y) {
          return x.op == y.op && x.src == y.src && x.heading_s == y.heading_s;
        });
    if (!same) return false;
  }
  return dirty_.empty() && other.dirty_.empty() && parked_.empty() && other.parked_.empty();
}

}  // namespace slackline::machine
