// Makes a schedule of moves faster where a delay would cost most, until nothing near it is faster.
#pragma once

#include <cstdint>

#include "analysis/synthesis/improve.h"
#include "analysis/synthesis/moved_collective.h"
#include "machine/platform.h"
#include "machine/wiring.h"

namespace slackline::analysis {

struct DescentOptions {
  std::uint64_t most_runs = 1000;  // of changed schedules
  std::uint32_t jobs = 1;          // at a time; changes nothing
};

struct Descent {
  Improvement improvement;  // `kept` counts those of the start, too
  std::uint32_t kept = 0;   // changes of its own
  std::uint64_t runs = 0;   // of changed schedules
  bool at_end = false;      // nothing that it tries is faster; else the runs have ended it
};

/// The moves of the run whose delay costs something, by their slopes (delay_slopes.h: right also
/// where messages share links), the dearest first. Each is tried from every other rank that has its
/// units by then, and before every earlier move of one of its ports. The fastest of what a move can
/// become is kept if the run ends earlier, and the slopes are found anew; without one, the next
/// move is tried. There are no draws: the same input gives the same moves.
Descent descend(const CollectiveTask& task, Improvement start, const machine::Platform& platform,
                const machine::Wiring& wiring, const DescentOptions& options);

}  // namespace slackline::analysis
