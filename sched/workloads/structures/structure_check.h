// Whether a data structure is what its operations should have left, after a simulated or a real
// run. The checks answer with findings; they neither throw nor print.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/trace.h"
#include "sched/workloads/run_check.h"
#include "sched/workloads/structures/structure.h"

namespace slackline::sched {

/// The bytes of a buffer at the end of a run; empty where the run kept none.
using FinalMemory = std::function<std::span<const std::byte>(BufferId)>;

/// What a simulated run kept. Keeps a reference to the trace.
FinalMemory kept_memory(const Schedule& schedule, const Trace& trace);

enum class Breach {
  kLost,         // an entry that was written is not there
  kTwice,        // an entry is there twice, or was popped twice
  kForeign,      // something is there that nobody wrote
  kUnreachable,  // probing for a key comes to a free bucket first
  kFlag,         // a bucket's flag does not say what its entry does
  kPointer,      // a queue's word is not what its operations make it
  kOrder,        // one producer's elements, or the calls of one channel, out of order
  kWrong,        // a find or a pop brought something else than is there
  kRuns,         // a call did not run exactly once
  kOverlap,      // operations overlap in time against their level
  kTorn,         // what stands there, or was brought, is not all of one entry
};
/// "lost", "twice", …
std::string_view name(Breach breach);

struct Finding {
  Breach breach = Breach::kLost;
  OpId op;              // of the schedule; none() if about the whole
  std::string message;  // one line
};

/// Contents, as far as the memory was kept. A table holds exactly the inserted keys, each once and
/// reachable by linear probing from its home, with flags at rest; where entries are more than a
/// word, all of their bytes are there, and none behind them. A queue holds every pushed
/// element once and in a legal order (one producer's in the order of its pushes, where it has one
/// under way at a time), its words count pushes and pops, checksums fit, and every pop brought the
/// element of its place. Every find brought its entry. By call: entries at their place, and each
/// caller's sum has all of its tickets once. `trace` may lack results and times; they are then not
/// looked at.
std::vector<Finding> check_contents(const StructureProgram& program, const Trace& trace,
                                    const FinalMemory& memory);

/// By call: every handler ran exactly once, and those of one caller in the order of its calls.
std::vector<Finding> check_handlers(const StructureProgram& program, const Trace& trace);

/// Operations on one structure that overlap in time although the level of one forbids the other:
/// cw allows writes only, cr reads only, cl nothing of another rank. At most `most` of them. Times
/// of different ranks are compared up to the errors of both, which are none without `clock_error`.
std::vector<Finding> check_overlaps(const StructureProgram& program, const Trace& trace,
                                    std::size_t most = 10, const ClockError& clock_error = {});

/// All three.
std::vector<Finding> check_structure(const StructureProgram& program, const Trace& trace,
                                     const FinalMemory& memory, const ClockError& clock_error = {});

}  // namespace slackline::sched
