// What comes before what when NICs work off a queue program.
//
// Where every completion queue that is waited for has one producer, and every managed queue one
// that enables it, the n-th completion is always the same entry's, and a message always meets the
// same receive. Then what must come before what is one graph, whatever the timing.
#pragma once

#include <cstdint>
#include <vector>

#include "offload/message_graph.h"
#include "offload/queue_program.h"
#include "sched/schedule.h"

namespace slackline::offload {

struct TimingGraph {
  /// Throws InputError, naming the queue, where there is no such graph: what check_queues() calls
  /// `schedule` or `producer`, and a queue that several others enable.
  TimingGraph(const QueueProgram& program, const sched::Schedule& schedule,
              const MessageGraph& messages);

  /// A host's start, an entry, a message's way, or its acknowledgement. It begins when both before
  /// it have ended; event 0 is the beginning of all, and is not stored.
  struct Event {
    std::uint32_t before[2];
    /// What it is of: 0 takes no time; 1 + r is the start of rank r; then three for each queue, its
    /// entries, ways and acknowledgements.
    std::uint32_t factor;
  };
  /// What must have ended when the event begins (of sends) or ends (of ways).
  struct Demand {
    std::uint32_t needed;
    std::uint32_t event;
  };

  std::vector<Event> events;   // each behind those before it; the first is event 1
  std::vector<Demand> held;    // by each message: what it needs has landed, or is acknowledged
  std::vector<Demand> posted;  // …its receive, unless the program goes without readiness
  bool ends = true;            // whether every queue comes to its end: always or never
  // The events of each entry, by its place in the program's table, 0 where there is none:
  std::vector<std::uint32_t> entry, way, back;
  std::vector<std::uint32_t> landing;  // of messages and receives
  std::vector<std::uint32_t> start;    // by rank

 private:
  class Maker;
};

}  // namespace slackline::offload
