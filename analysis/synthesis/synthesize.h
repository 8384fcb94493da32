// The fastest schedule that seeded attempts find for a collective on a platform.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/synthesis/improve.h"
#include "analysis/synthesis/moved_collective.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::analysis {

struct SynthesisRequest {
  CollectiveTask task;                // block_bytes is not read
  std::vector<std::uint64_t> blocks;  // sizes of units to try, ≥ 1
  std::uint32_t attempts = 24;        // of each size, ≥ 1
  std::uint32_t improvements = 200;   // changes tried on what was best
  std::uint64_t seed = 0;
  std::uint32_t jobs = 1;  // at a time; changes nothing
  /// Sizes that make more moves are left out.
  std::uint64_t most_moves = 8192;
};

struct Synthesized {
  sched::Schedule schedule;
  std::uint64_t block_bytes = 1;
  double makespan_s = 0;         // by the flow engine
  double greedy_s = 0;           // before it was improved
  std::uint32_t improved = 0;    // changes that were kept
  std::uint32_t attempts = 0;    // schedules that were simulated
  std::uint32_t sizes_left = 0;  // sizes of units that make too many moves
};

/// Greedy attempts for each size of units, each simulated by the flow engine; then the best one is
/// improved. The title is `synthesized:…`, with what it was made from. The same request gives the
/// same schedule. It is not proved here. `wiring` has a route between every two ranks. Throws
/// InputError if every size makes too many moves.
Synthesized synthesize(const SynthesisRequest& request, const machine::Platform& platform,
                       const machine::Wiring& wiring, const SynthesisProgress& progress = {});

}  // namespace slackline::analysis
