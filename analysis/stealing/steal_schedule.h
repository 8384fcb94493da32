// The static schedule of what the ranks of a run decided.
#pragma once

#include "analysis/stealing/steal_log.h"
#include "sched/schedule.h"

namespace slackline::analysis {

/// What an engine is told of a search that is still to come: a channel for every ordered pair of
/// ranks, by rank and peer, and one message, as large as any may be.
sched::Schedule pairs_of_ranks(std::uint32_t ranks, std::uint64_t most_bytes);

/// A rank does what it did, in its order: a calc of all vertices between two messages, a poll and a
/// calc of the handler for each message that it took, a put for each that it sent. A request that
/// came after a rest waits for a delay. The contract: what was given away is where its thief took
/// it. A message that nobody took, since its target had ended, has no poll.
sched::Schedule schedule_of(const StealOptions& options, const StealLog& log,
                            std::string_view title);

}  // namespace slackline::analysis
