// The proof that a queue program is sound, without running it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "offload/message_graph.h"
#include "offload/nic_limits.h"
#include "offload/queue_program.h"
#include "sched/schedule.h"

namespace slackline::offload {

enum class QueueCode {
  kSchedule,    // it is not this schedule's: another digest, a message missing, doubled, mismatched
  kProducer,    // a completion queue that is waited for has no producer, or several
  kCount,       // a wait for completions that never come, or are there before the start
  kEnable,      // an enable too many, too few, too far, or of a queue that is not managed
  kDeadlock,    // queues that never come to their end
  kHold,        // a message may be sent before its rank holds it
  kReady,       // a message may be sent before its receive is posted
  kExcess,      // a wait for what nothing behind it needs
  kOrder,       // work does not stand in the order of its mode
  kCollect,     // the host is told before everything of its rank is done, or never
  kDepth,       // more entries, completions or bytes than the NIC holds
  kCounter,     // counts further apart than the hardware's wrapping counters tell
  kCapability,  // the NIC lacks what the program needs
};

struct QueueDiagnostic {
  QueueCode code = QueueCode::kSchedule;
  QueueId queue;        // none() if about the whole
  std::string message;  // one line, naming queue and entry
};
using QueueDiagnostics = std::vector<QueueDiagnostic>;

/// "schedule", "producer", …: what `offload` prints.
std::string_view name(QueueCode code);

struct QueueCheckOptions {
  NicLimits limits;
  std::size_t max_diagnostics = 100;
};

/// Sound means: (1) every completion queue that is waited for has exactly one producer, whose
/// completions come in order; (2) entries in queue order, completion → wait, enable → managed
/// entry, receive posted → arrival and acknowledgement → send completion form no cycle. Then waits
/// are monotone, so whatever the timing the same entries run, and one greedy run decides whether
/// all do. In that run each queue carries along what it knows to be done, from its own waits and
/// from the queues that enabled it; a message may be sent only when all it needs is known. Beyond
/// that the program must be the schedule's, as its mode says, and fit the limits.
///
/// `schedule` and `producer` come first and, where there are any, alone: the rest stands on them.
/// Neither throws nor prints. `graph` is that of `schedule`.
QueueDiagnostics check_queues(const QueueProgram& program, const sched::Schedule& schedule,
                              const MessageGraph& graph, const QueueCheckOptions& options = {});

}  // namespace slackline::offload
