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
  /// `replying` has an entry for each operation. All references must outlive this.
  LookAhead(const RunGraph& graph, const Paths& paths, const Core& core, const PortArbiter& large,
            const PortArbiter& small, const std::vector<char>& replying)
      : schedule_(graph.schedule()),
        graph_(graph),
        paths_(paths),
        core_(core),
        large_(large),
        small_(small),
        replying_(replying) {}

  /// Whether the instant has enough events for any to be looked at.
  static bool sees(const std::vector<ExecutionEvent>& events) { return events.size() > kStep; }

  /// The event at `at` is about to have its turn.
  [[gnu::always_inline]] void look(const std::vector<ExecutionEvent>& events,
                                   std::size_t at) const {
    if (at + kStep >= events.size()) return;
    if (at + 4 * kStep < events.size()) ask_for_rows(events[at + 4 * kStep]);
    if (at + 3 * kStep < events.size()) ask_for_others(events[at + 3 * kStep]);
    if (at + 2 * kStep < events.size()) ask_for_way(events[at + 2 * kStep]);
    ask_for_ports(events[at + kStep]);
  }

 private:
  using Kind = ExecutionEvent::Kind;
  static constexpr std::size_t kStep = 4;  // events between two looks at one

  bool is_operation(ExecutionEvent event) const {
    return event.op().value < schedule_.op_count();  // and no region's node
  }
  static bool is_out_free(Kind kind) {
    return kind == Kind::kOutFree || kind == Kind::kLargeOutFree || kind == Kind::kReplyOutFree;
  }

  // What waits for the operation comes to a lane of its rank.
  static bool is_of_lane(Kind kind) { return kind == Kind::kDone || kind == Kind::kLaneEnd; }

  // What stands at the operation's own place.
  [[gnu::always_inline]] void ask_for_rows(ExecutionEvent event) const {
    if (!is_operation(event)) return;
    const std::uint32_t op = event.op().value;
    __builtin_prefetch(&schedule_.op(event.op()));
    if (is_out_free(event.kind())) return;
    core_.prefetch_times(op);
    graph_.prefetch_node(op);
    __builtin_prefetch(&replying_[op]);
  }
  [[gnu::always_inline]] void ask_for_others(ExecutionEvent event) const {
    if (!is_operation(event)) return;
    const sched::Op& o = schedule_.op(event.op());
    if (!is_out_free(event.kind())) graph_.prefetch_arcs(event.op().value);
    if (is_of_lane(event.kind())) core_.lanes().prefetch(event.op().value);
    if (event.kind() == Kind::kDone) return;
    if (o.channel.valid()) paths_.prefetch_of(o.channel);
    if (is_out_free(event.kind())) return;
    __builtin_prefetch(schedule_.slices(o.reads).data());
    if (!o.match.valid()) return;
    __builtin_prefetch(&schedule_.op(o.match));
    core_.prefetch_times(o.match.value);
    graph_.prefetch_node(o.match.value);
  }
  [[gnu::always_inline]] void ask_for_way(ExecutionEvent event) const {
    if (!is_operation(event)) return;
    const sched::Op& o = schedule_.op(event.op());
    if (is_of_lane(event.kind())) core_.prefetch_waiting(event.op().value);
    if (event.kind() != Kind::kDone && o.channel.valid()) {
      paths_.prefetch(paths_.of(o.channel, false));
    }
  }
  [[gnu::always_inline]] void ask_for_ports(ExecutionEvent event) const {
    if (event.kind() == Kind::kDone || !is_operation(event)) return;
    const sched::Op& o = schedule_.op(event.op());
    if (!o.channel.valid()) return;
    const Path& way = paths_[paths_.of(o.channel, false)];
    small_.prefetch(way.src_nic, way.dst_nic);
    large_.prefetch(way.src_nic, way.dst_nic);
  }

  const sched::Schedule& schedule_;
  const RunGraph& graph_;
  const Paths& paths_;
  const Core& core_;
  const PortArbiter& large_;
  const PortArbiter& small_;
  const std::vector<char>& replying_;
};

}  // namespace slackline::machine
