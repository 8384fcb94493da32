// Who may use a NIC's ports next, in the serial discipline. Every NIC has an out-port with a queue
// and an in-port. A message starts when it heads its NIC's queue and the receiver's in-port is
// idle; rivals for an in-port go by (time of heading the queue, op id).
//
// A message without bytes holds its in-port for no time, and what it sets free may be a rival of
// the same instant for any other in-port. So whoever settles an instant asks for those first, again
// whenever something has ended, and for the others once nothing more can end in the instant.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/rails.h"
#include "machine/short_heap.h"
#include "sched/ids.h"

namespace slackline::machine {

class PortArbiter {
 public:
  struct Start {
    sched::OpId op;
    NicId src;
    NicId dst;
    sched::OpId behind;   // what it waited for last, a former holder of a port; none() if nothing
    std::uint64_t bytes;  // as it joined
  };

  explicit PortArbiter(std::uint32_t nics) : out_(nics), in_(nics) {}

  /// The message of `op`, of so many bytes, joins the queue of `src`.
  void join(double now_s, sched::OpId op, NicId src, NicId dst, std::uint64_t bytes) {
    OutPort& port = out_[src.value];
    if (port.any) return port.others.push_back({op, dst, bytes});
    port.any = true;
    port.first = {op, dst, bytes};
    if (port.held) return;
    port.last = sched::OpId::none();
    head(now_s, src, port);
  }

  /// The next message that may start now; both its ports are held until they are freed. To be asked
  /// when all that ends in this instant has ended and next_empty() says no, until it says no.
  bool next_start(Start& start) {
    return (!dirty_.empty() || !parked_.empty()) && find_start(start);
  }

  /// The next one without bytes. It is first of those who wait for its in-port.
  bool next_empty(Start& start) { return !dirty_.empty() && find_empty(start); }

  /// Whether freeing the out-port of `src` lets another message head its queue.
  bool has_queued(NicId src) const { return out_[src.value].any; }

  /// Has the processor load both ports. Inlined: see machine/run/look_ahead.h.
  [[gnu::always_inline]] void prefetch(NicId src, NicId dst) const {
    prefetch_out(src);
    __builtin_prefetch(&in_[dst.value], 1);
  }
  [[gnu::always_inline]] void prefetch_out(NicId src) const {
    __builtin_prefetch(&out_[src.value], 1);
  }

  void free_out(double now_s, NicId nic) {
    OutPort& port = out_[nic.value];
    port.held = false;
    if (port.any) head(now_s, nic, port);
  }
  void free_in(NicId nic) {
    InPort& target = in_[nic.value];
    target.held = false;
    touch(nic, target);
  }

  /// Whether the same messages would start then as in another run of the same schedule, if the same
  /// came from now on in both. In either nothing more can start in the instant at hand.
  bool goes_on_as(const PortArbiter& other) const;

 private:
  struct Message {
    sched::OpId op;
    NicId dst;
    std::uint64_t bytes;
  };
  // Mostly one message waits at a port, or one for it: so that one stands with what is known of the
  // port, in a line of a cache. What comes behind it has memory of its own.
  struct alignas(64) OutPort {
    std::vector<Message> others;  // from `head` on
    std::size_t head = 0;
    Message first{};  // of the queue, if there is `any`
    bool any = false;
    bool held = false;
    sched::OpId last;  // the message that held it last, if the current head waited for it
  };
  struct Rival {
    double heading_s;
    sched::OpId op;
    NicId src;
  };
  struct Earlier {
    bool operator()(const Rival& a, const Rival& b) const {
      return a.heading_s != b.heading_s ? a.heading_s < b.heading_s : a.op < b.op;
    }
  };
  struct alignas(64) InPort {
    ShortHeap<Rival, Earlier> rivals;
    bool held = false;
    bool dirty = false;
    sched::OpId last;
  };

  bool find_start(Start& start);
  bool find_empty(Start& start);
  void begin(NicId dst, Start& start);
  // Whether somebody waits for this in-port, and it is idle.
  static bool is_open(InPort& target) {
    if (target.held) return false;
    if (!target.rivals.empty()) return true;
    target.last = sched::OpId::none();
    return false;
  }
  // The first message of the port's queue heads it from now on.
  void head(double now_s, NicId src, const OutPort& port) {
    InPort& target = in_[port.first.dst.value];
    target.rivals.push({now_s, port.first.op, src});
    touch(port.first.dst, target);
  }
  void touch(NicId dst, InPort& target) {
    if (target.dirty) return;
    target.dirty = true;
    dirty_.push_back(dst);
  }

  std::vector<OutPort> out_;
  std::vector<InPort> in_;
  std::vector<NicId> dirty_;
  std::vector<NicId> parked_;  // whoever is first there has bytes
};

}  // namespace slackline::machine
