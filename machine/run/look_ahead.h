// Tells the processor what the events of an instant will touch before they have their turns.
//
// The many events of one instant are of as many ranks, and each goes from table to table: from its
// operation to the channel, from that to the way and its ports, and from what waits for it to how
// much that still waits for. Each rank has rows of its own in all of them. So where a run is larger
// than the caches, the processor would mostly wait for one row after the other. But all events of
// an instant are known when it begins. So each is looked at several times before its turn: each
// look asks for the rows whose places the look before has brought. Nothing but time depends on it.
//
// All is inlined, since g++ takes calls of a function that only prefetches for superfluous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/event_queue.h"
#include "machine/paths.h"
#include "machine/port_arbiter.h"
#include "machine/run/graph.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Of a run over all operations of a schedule; `Core` is its RunCore.
template <class Core>
class LookAhead {
 public:
  /// `reads_slices`: what messages carry is kept somewhere. All references must outlive this.
  LookAhead(const sched::Schedule& schedule, const Paths& paths, const Core& core,
            const PortArbiter& large, const PortArbiter& small, bool reads_slices)
      : schedule_(schedule),
        ops_(schedule_.ops().data()),
        paths_(paths),
        core_(core),
        large_(large),
        small_(small),
        reads_slices_(reads_slices) {}

  /// The event at `at` is about to have its turn.
  [[gnu::always_inline]] void look(const std::vector<ExecutionEvent>& events,
                                   std::size_t at) const {
    if (at + 3 * kStep >= events.size()) return;
    ask_for_rows(events[at + 3 * kStep]);
    ask_for_others(events[at + 2 * kStep]);
    ask_for_rest(events[at + kStep]);
  }

 private:
  using Kind = ExecutionEvent::Kind;
  static constexpr std::size_t kStep = 4;  // events between two looks at one

  // What stands at the operation's own place.
  [[gnu::always_inline]] void ask_for_rows(ExecutionEvent event) const {
    const std::uint32_t op = event.op().value;
    __builtin_prefetch(ops_ + op);
    core_.prefetch_op(op);
  }
  // What its row leads to.
  [[gnu::always_inline]] void ask_for_others(ExecutionEvent event) const {
    const Kind kind = event.kind();
    if (kind == Kind::kEnter) return;  // names a region's node
    const sched::Op& o = ops_[event.op().value];
    if (is_of_lane(kind)) {
      core_.prefetch_arcs(event.op().value);
      core_.lanes().prefetch(event.op().value);
      if (kind == Kind::kDone || o.kind == sched::OpKind::kRecv) return;
    }
    if (is_of_port(kind)) return paths_.prefetch_of(o.channel);
    // A message with bytes is still to leave as it is posted, and meets its receive after that.
    const bool has_bytes = o.reads.count != 0;
    if (o.match.valid() && !(kind == Kind::kLaneEnd && has_bytes)) {
      __builtin_prefetch(ops_ + o.match.value);
      core_.prefetch_op(o.match.value);
    }
    if (!o.channel.valid()) return;
    paths_.prefetch_of(o.channel);
    if (reads_slices_ || core_.node(event.op().value).size == RunGraph::Node::kAnySize) {
      __builtin_prefetch(schedule_.slices(o.reads).data());
    }
  }
  // What those lead to: what waits for it, and the ports of its way.
  [[gnu::always_inline]] void ask_for_rest(ExecutionEvent event) const {
    const Kind kind = event.kind();
    if (kind == Kind::kEnter) return;
    if (is_of_lane(kind)) core_.prefetch_waiting(event.op().value);
    const sched::Op& o = ops_[event.op().value];
    if (kind == Kind::kDone || o.kind == sched::OpKind::kRecv || !o.channel.valid()) return;
    if (is_of_port(kind)) {
      const PathId path = paths_.of(o.channel, kind == Kind::kReplyOutFree);
      const NicId nic = paths_.in_brief(path).src_nic;
      return (kind == Kind::kLargeOutFree ? large_ : small_).prefetch_out(nic);
    }
    paths_.prefetch(paths_.of(o.channel, true));  // of the acknowledgement
    const PathInBrief& way = paths_.in_brief(paths_.of(o.channel, false));
    small_.prefetch(way.src_nic, way.dst_nic);
    if (o.reads.count != 0) large_.prefetch(way.src_nic, way.dst_nic);
  }
  // The next message of the NIC's queue may start.
  static bool is_of_port(Kind kind) {
    return kind == Kind::kOutFree || kind == Kind::kLargeOutFree || kind == Kind::kReplyOutFree;
  }
  // What waits for the operation comes to a lane of its rank.
  static bool is_of_lane(Kind kind) { return kind == Kind::kDone || kind == Kind::kLaneEnd; }

  const sched::Schedule& schedule_;
  const sched::Op* const ops_;
  const Paths& paths_;
  const Core& core_;
  const PortArbiter& large_;
  const PortArbiter& small_;
  const bool reads_slices_;
};

}  // namespace slackline::machine
