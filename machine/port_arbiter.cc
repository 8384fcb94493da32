#include "machine/port_arbiter.h"

#include <algorithm>
#include <cstddef>

namespace slackline::machine {

bool PortArbiter::find_empty(Start& start) {
  while (!dirty_.empty()) {
    const NicId dst = dirty_.back();
    InPort& target = in_[dst.value];
    if (!is_open(target)) {
      target.dirty = false;
      dirty_.pop_back();
      continue;
    }
    if (out_[target.rivals.top().src.value].first.bytes == 0) {
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
  for (auto dst = parked_.rbegin(); dst != parked_.rend(); ++dst) touch(*dst, in_[dst->value]);
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
  start = {rival.op, rival.src, dst, target.last.valid() ? target.last : port.last,
           port.first.bytes};
  target.held = true;
  target.last = rival.op;
  port.held = true;
  port.last = rival.op;
  port.any = port.head != port.others.size();
  if (!port.any) return;
  port.first = port.others[port.head];
  if (++port.head == port.others.size()) {
    port.others.clear();
    port.head = 0;
  } else if (port.head >= 64 && 2 * port.head >= port.others.size()) {
    port.others.erase(port.others.begin(),
                      port.others.begin() + static_cast<std::ptrdiff_t>(port.head));
    port.head = 0;
  }
}

// Who held a port last only says what others waited for.
bool PortArbiter::goes_on_as(const PortArbiter& other) const {
  const auto same_message = [](const Message& a, const Message& b) {
    return a.op == b.op && a.dst == b.dst && a.bytes == b.bytes;
  };
  for (std::size_t r = 0; r < out_.size(); ++r) {
    const OutPort& a = out_[r];
    const OutPort& b = other.out_[r];
    if (a.held != b.held || a.any != b.any || (a.any && !same_message(a.first, b.first)) ||
        !std::equal(a.others.begin() + static_cast<std::ptrdiff_t>(a.head), a.others.end(),
                    b.others.begin() + static_cast<std::ptrdiff_t>(b.head), b.others.end(),
                    same_message)) {
      return false;
    }
  }
  for (std::size_t r = 0; r < in_.size(); ++r) {
    const InPort& a = in_[r];
    const InPort& b = other.in_[r];
    if (a.held != b.held || a.rivals.size() != b.rivals.size()) return false;
    if (a.rivals.empty()) continue;
    std::vector<Rival> mine = a.rivals.items();
    std::vector<Rival> its = b.rivals.items();
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
