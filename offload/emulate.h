// Runs a queue program as NICs would, without figures of time: whatever is possible next may happen
// next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "offload/nic_queues.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::offload {

struct Emulation {
  /// Engine "offload:abstract", "offload:timed", "offload:flow" or "offload:simgrid". Operations
  /// that the queues do without (credits, joins) stand at the moment at which what they wait for is
  /// there.
  sched::Trace trace;
  /// What went wrong; empty if every message was sent when its rank held it, met its receive
  /// (already posted, unless the program goes without readiness), and landed once, if every queue
  /// came to its end, and if the contract's post facts hold.
  std::vector<std::string> faults;
  std::uint64_t not_ready = 0;  // messages that came before their receive was posted
  std::uint32_t stuck = 0;      // queues that did not come to their end
  bool sound() const { return faults.empty(); }
};

/// Who goes next.
enum class Timing : std::uint8_t {
  kRandom,    // anyone
  kPriority,  // by priorities drawn at the start, some of which sink on the way: long delays of few
  kNewest,    // whatever became possible last
  kStarve,    // one rank's NIC only if nothing else is possible
};

/// What is the same for every run of a program.
class Emulator {
 public:
  /// Keeps references to all. Throws Unsupported as MemoryMap does.
  Emulator(const QueueProgram& program, const sched::Schedule& schedule, const MessageGraph& graph);

  /// One run in the abstract clock: each rank's start, each entry, arrival and acknowledgement is
  /// an event of one tick, which the trace has as a second. The same seed gives the same run.
  Emulation run(Timing timing, std::uint64_t seed);
  /// The same with each timing in turn, by seed; says only whether it was sound.
  bool is_sound(std::uint64_t seed);

 private:
  class Choice;
  void run_events(Timing timing, std::uint64_t seed);

  const QueueProgram& program_;
  const sched::Schedule& schedule_;
  const MessageGraph& graph_;
  MemoryMap memory_;
  NicQueues queues_;
};

/// Gives the operations that are no message of `graph` their times in `trace`.
void fill_in(const sched::Schedule& schedule, const MessageGraph& graph, sched::Trace& trace);

}  // namespace slackline::offload
