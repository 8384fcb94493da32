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

#include "machine/heap.h"
#include "machine/rails.h"
#include "sched/ids.h"

namespace slackline::machine {

class PortArbiter {
 public:
  struct Start {
    sched::OpId op;
    NicId src;
    NicId dst;
    sched::OpId behind;  // what it waited for last, a former holder of a port; none() if nothing
  };

  explicit PortArbiter(std::uint32_t nics) : out_(nics), in_(nics) {}

  /// The message of `op` joins the queue of `src`. `empty`: it has no bytes.
  void join(double now_s, sched::OpId op, NicId src, NicId dst, bool empty);

  /// The next message that may start now; both its ports are held until they are freed. To be asked
  /// when all that ends in this instant has ended and next_empty() says no, until it says no.
  bool next_start(Start& start) {
    return (!dirty_.empty() || !parked_.empty()) && find_start(start);
  }

  /// The next one without bytes. It is first of those who wait for its in-port.
  bool next_empty(Start& start) { return !dirty_.empty() && find_empty(start); }

  /// Whether freeing the out-port of `src` lets another message head its queue.
  bool has_queued(NicId src) const { return !out_[src.value].queue.empty(); }

  /// Has the processor load both ports. Inlined: see machine/run/look_ahead.h.
  [[gnu::always_inline]] void prefetch(NicId src, NicId dst) const {
    __builtin_prefetch(&out_[src.value], 1);
    __builtin_prefetch(&in_[dst.value], 1);
  }

  void free_out(double now_s, NicId nic);
  void free_in(NicId nic);

  /// Whether the same messages would start then as in another run of the same schedule, if the same
  /// came from now on in both. In either nothing more can start in the instant at hand.
  bool goes_on_as(const PortArbiter& other) const;

 private:
  struct Message {
    sched::OpId op;
    NicId dst;
    bool empty;
  };
  struct OutPort {
    std::vector<Message> queue;  // from `head` on
    std::size_t head = 0;
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
  struct InPort {
    Heap<Rival, Earlier> rivals;
    bool held = false;
    bool dirty = false;
    sched::OpId last;
  };

  bool find_start(Start& start);
  bool find_empty(Start& start);
  bool is_open(InPort& target);
  void begin(NicId dst, Start& start);
  void head(double now_s, NicId src);
  void touch(NicId dst);

  std::vector<OutPort> out_;
  std::vector<InPort> in_;
  std::vector<NicId> dirty_;
  std::vector<NicId> parked_;  // whoever is first there has bytes
};

}  // namespace slackline::machine
