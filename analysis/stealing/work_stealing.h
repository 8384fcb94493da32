// A search of an unbalanced tree that steals as it runs, and the static schedule of what it did.
#pragma once

#include <string>

#include "analysis/stealing/steal_log.h"
#include "machine/delay_plan.h"
#include "machine/engine.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::analysis {

struct StolenSearch {
  StealFigures figures;
  std::uint64_t vertices = 0;  // of the tree
  /// work · vertices / ranks, where a rank that takes f times as long counts as 1/f of one.
  double ideal_s = 0;
  StealLog log;
  sched::Schedule schedule;
};

/// Runs the search on the engine's clock and writes down what was decided. A run of the schedule by
/// the same engine, on the same platform and with the same delays, takes as long. The same options,
/// platform, delays and engine decide the same.
///
/// Throws InputError for options out of their range, for a tree of more than kMostStealVertices and
/// for too many messages; Unsupported, naming which, for figures of the platform that the run does
/// not know (what completions cost, acknowledgements that use the ports, ranks that are switches,
/// adaptive routing), and for delays other than ranks that are slow by a factor.
StolenSearch search_stealing(const StealOptions& options, const machine::Platform& platform,
                             const machine::DelayPlan& delays, const machine::Engine& engine,
                             const std::string& title);

}  // namespace slackline::analysis
