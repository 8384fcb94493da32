// How much of a figure a run bears: its makespan as a function of one parameter, exactly, with the
// order on lanes and ports frozen as the run had it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/line.h"
#include "analysis/slack/parameter.h"
#include "analysis/slack/path_tape.h"
#include "analysis/slack/weight_lines.h"
#include "analysis/slack/wire_times.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// The interval of a parameter that is looked at. Its lower end is taken no lower than where the
/// figure itself is 0 (a factor's is −1, that of a delay to begin with is 0).
struct ParameterRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
};

struct Tolerance {
  Parameter parameter;
  /// At 0, computed again from the frozen order.
  double makespan_s = 0;
  /// In seconds, over the parameter: convex, and it never falls. A slope is how many of the figure
  /// lie on the critical path: latencies, posts, bytes, …
  PiecewiseLinear makespan_at;
  /// How often the longest path was found anew: twice the pieces, less one.
  std::uint64_t evaluations = 0;

  /// The slopes for less and for more of it than there is: at a breakpoint they differ.
  PiecewiseLinear::Slopes slopes() const { return makespan_at.slopes_at(0); }
  /// How much more of it costs no more than `share` of the makespan; infinity if any amount does.
  double bearable(double share) const;
};

/// One answer per parameter. `trace` must be of this setting's schedule and complete:
/// InputError otherwise, and for a link, rank or operation that there is
/// not; Unsupported for the byte time of a link whose rate changes during the run, and of any with
/// WireTimes::kRun, which freezes how messages shared their links.
///
/// Every constraint of the run is a straight line in the parameter (or the higher of a few), so
/// that the makespan is the highest of as many lines as there are paths. Those that matter are
/// found by the longest path at the ends, at the point where the two lines found meet, and so on
/// between (Eisner and Severance 1976, as LLAMP does with a linear programme in place of the
/// longest path).
std::vector<Tolerance> tolerance(const machine::Setting& setting, const sched::Trace& trace,
                                 std::span<const Parameter> parameters,
                                 WireTimes wire = WireTimes::kModel,
                                 const ParameterRange& range = {});

/// The graph for one parameter: its longest path is the makespan. The graph must keep what
/// lines.kept_order() says.
PathTape packed(const ConstraintGraph& graph, const WeightLines& lines);

}  // namespace slackline::analysis
