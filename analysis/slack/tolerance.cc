#include "analysis/slack/tolerance.h"

#include <algorithm>
#include <optional>

#include "base/grouped.h"

namespace slackline::analysis {
PathTape packed(const ConstraintGraph& graph, const WeightLines& lines) {
  const base::Grouped<std::uint32_t> by_head(graph.node_count(), [&](auto&& take) {
    const auto constraints = graph.constraints();
    for (std::uint32_t i = 0; i < constraints.size(); ++i) take(constraints[i].head.value, i);
  });
  PathTape::Builder builder(graph.node_count(), lines.least());
  std::vector<PathTape::Edge> in;
  for (const NodeId node : graph.order()) {
    in.clear();
    for (const std::uint32_t index : by_head[node.value]) {
      const Constraint& c = graph.constraints()[index];
      const Lines weight = lines.weight(c, graph.weights()[index]);
      for (const Line line : weight.lines()) in.push_back({c.tail.value, line});
    }
    builder.node(node.value, lines.source(node), in);
  }
  for (const NodeId node : graph.order()) {
    // What others come after ends nothing, but for an atomic, which ends later than its node.
    const Lines more = lines.after_end(node);
    if (!graph.out_of(node).empty() && more.is_zero()) continue;
    for (const Line line : more.lines()) builder.end(node.value, line);
  }
  return builder.build();
}

double Tolerance::bearable(double share) const {
  return makespan_at.stays_below_until(makespan_s * (1 + share));
}

std::vector<Tolerance> tolerance(const machine::Setting& setting, const sched::Trace& trace,
                                 std::span<const Parameter> parameters, WireTimes wire,
                                 const ParameterRange& range) {
  require_trace_of(setting.schedule, trace);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  std::optional<ConstraintGraph> graph;
  KeptOrder graph_kept;
  std::vector<Tolerance> results;
  for (const Parameter& parameter : parameters) {
    const WeightLines lines(setting, delays, paths, trace, wire, parameter);
    const KeptOrder kept = lines.kept_order();
    if (!graph || graph_kept != kept) {
      graph.emplace(setting, delays, paths, trace, wire, kept);
      graph_kept = kept;
    }
    Tolerance& result = results.emplace_back();
    result.parameter = parameter;
    PathTape tape = packed(*graph, lines);
    const auto longest = [&](double x) {
      ++result.evaluations;
      return tape.longest(x);
    };
    const double lo = std::max(range.lo, lines.least());
    const double hi = std::max(range.hi, lo);
    result.makespan_at = highest_lines(longest, longest(lo),
                                       hi < std::numeric_limits<double>::infinity()
                                           ? longest(hi)
                                           : (++result.evaluations, tape.longest_in_the_end()),
                                       lo, hi);
    result.makespan_s = lo <= 0 && hi >= 0 ? result.makespan_at.at(0) : tape.longest(0).at(0);
  }
  return results;
}

}  // namespace slackline::analysis
