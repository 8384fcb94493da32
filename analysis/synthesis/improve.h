// Makes a schedule of moves faster where its run has no slack.
#pragma once

#include <cstdint>

#include "analysis/synthesis/moved_collective.h"
#include "machine/platform.h"
#include "machine/wiring.h"

namespace slackline::analysis {

struct Improvement {
  CollectiveMoves moves;
  double makespan_s = 0;   // by the flow engine
  std::uint32_t kept = 0;  // changes
};

struct ImproveOptions {
  std::uint32_t tries = 200;
  std::uint64_t seed = 0;
};

/// Tries changes of one to three moves, drawn from those on the critical path of the run: it comes
/// from another rank that has its units by then, the one whose next message has the most float or
/// any; it goes before an earlier message of one of its ports, the nearest that has float or any;
/// it becomes two, or one with the next between the same two ranks. A change is kept if the run
/// ends earlier, or no later and its ranks do on average. Runs of which slack has no answer
/// (Unsupported) stay as they are. The same input gives the same moves.
Improvement improve(const CollectiveTask& task, Improvement start,
                    const machine::Platform& platform, const machine::Wiring& wiring,
                    const ImproveOptions& options);

}  // namespace slackline::analysis
