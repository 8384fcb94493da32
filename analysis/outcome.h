// What became of a run in which links or hosts failed: who is cut off, what was delivered, and what
// never will be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/paths.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

enum class RankFate : std::uint8_t {
  kComplete,  // it has done all it had to do
  kGone,      // its host failed before that
  kCutOff,    // it still waits for messages, and every way that they would take has failed
  kStranded,  // it still waits, for what others can no longer send or acknowledge
};

struct RankOutcome {
  RankFate fate = RankFate::kComplete;
  std::uint32_t ops_done = 0;
  std::uint32_t ops = 0;
  std::uint64_t delivered_bytes = 0;  // that came in by messages, of…
  std::uint64_t expected_bytes = 0;   // …what was sent it, or should have been
  double last_done_s = 0;             // the last thing that it did; 0: nothing
  /// The first of its operations, in program order, that never finished; none() if it completed.
  sched::OpId stuck;
};

struct Outcome {
  bool complete = true;  // every operation of every rank was done
  std::vector<RankOutcome> ranks;
  double last_done_s = 0;             // after which nothing happened any more
  std::uint64_t delivered_bytes = 0;  // over all ranks
  std::uint64_t expected_bytes = 0;
};

/// `trace` is of this schedule, which ran on these paths. Of what runs several times, each attempt
/// counts that there was, and of what was passed over nothing.
Outcome outcome_of(const sched::Schedule& schedule, const machine::Paths& paths,
                   const sched::Trace& trace);

/// "complete", "gone", "cut off", "stranded".
std::string_view name(RankFate fate);

/// Why an operation never finished: "op 17 (recv, rank 3): its message, op 4 (send, rank 1), was
/// never sent". One line.
std::string why_stuck(const sched::Schedule& schedule, const machine::Paths& paths,
                      const sched::Trace& trace, sched::OpId op);

}  // namespace slackline::analysis
