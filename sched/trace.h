// What an engine or a real run reports: when each operation was ready, issued and done, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sched/digest.h"
#include "sched/ids.h"

namespace slackline::sched {

/// Times are in seconds from the start of the run. Of an operation that never happened, the times
/// it did not reach are infinity. Of one that ran several times, they are those of the last; of one
/// that was passed over, the moment when that was known.
struct OpTimes {
  double ready_s = 0;   // its predecessors' events are there
  double issued_s = 0;  // posted; for calc, copy and reduce: its lane began
  double wire_s = 0;    // its message (of gets and atomics: the reply) began to leave its NIC;
                        // issued_s where there is no message
  double done_s = 0;
  std::uint32_t attempts = 1;  // how often it ran; 0 if it was passed over
  OpId cause;  // the operation whose event this one waited for last; none() at the start
};

struct Trace {
  Digest schedule;
  std::string platform;  // its canonical spec
  std::string delays;    // the delay plan's canonical text; empty without one
  std::string engine;    // "longest-path", "event", "flow", "simgrid", "run:shm", …
  std::uint64_t seed = 0;
  bool contended = false;  // the engine's answer ignores sharing that took place
  std::string title;       // the spec or file of the schedule. For people; not part of the digest
  std::vector<OpTimes> ops;
  /// When the requests of gets and atomics began to leave; 0 for other operations. Empty if the
  /// schedule has neither or nobody looked.
  std::vector<double> request_s;
  /// What each atomic fetched, and the first 8 bytes of what each get did whose source is kept, the
  /// last time it ran; 0 for other operations. Empty likewise.
  std::vector<std::uint64_t> results;
  /// The final bytes of what a run keeps (sched/kept_memory.h). Neither part of the digest nor of
  /// the file. Empty if nothing is kept or nobody looked.
  std::vector<std::byte> memory;

  /// The last done, 0 without operations; infinity if one never happened.
  double makespan_s() const;
};

/// Over every field but the title, times by their bits.
Digest digest_of(const Trace& trace);

}  // namespace slackline::sched
