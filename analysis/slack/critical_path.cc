#include "analysis/slack/critical_path.h"

#include <algorithm>
#include <limits>
#include <span>

namespace slackline::analysis {

using sched::OpId;

double rounding_s(double makespan_s) { return std::max(1e-15, makespan_s * 1e-12); }

double makespan_s(const ConstraintGraph& graph) {
  double end_s = 0;
  for (const double t : graph.time_s()) end_s = std::max(end_s, t);
  return end_s;
}

// Backwards from the end: at each moment the constraint that binds it.
CriticalChain critical_chain(const ConstraintGraph& graph) {
  const std::span<const double> time_s = graph.time_s();
  const double tolerance_s = rounding_s(makespan_s(graph));
  std::vector<std::uint32_t> binding(graph.node_count(), std::numeric_limits<std::uint32_t>::max());
  for (std::uint32_t i = 0; i < graph.constraints().size(); ++i) {
    const Constraint& c = graph.constraints()[i];
    const double slack_s = time_s[c.head.value] - (time_s[c.tail.value] + c.weight_s);
    if (slack_s > tolerance_s) continue;
    std::uint32_t& best = binding[c.head.value];
    if (best == std::numeric_limits<std::uint32_t>::max() ||
        c.tail < graph.constraints()[best].tail) {
      best = i;
    }
  }
  NodeId node{0};
  for (NodeId n : graph.order()) {
    const bool later = time_s[n.value] > time_s[node.value];
    const bool equal = time_s[n.value] == time_s[node.value];
    if (later || (equal && n.moment() == Moment::kDone && n < node)) node = n;
  }
  CriticalChain chain;
  while (true) {
    chain.first = node;
    const std::uint32_t index = binding[node.value];
    const bool from_start = time_s[node.value] <= graph.source_s(node);
    if (index == std::numeric_limits<std::uint32_t>::max() || from_start) break;
    chain.constraints.push_back(index);
    node = graph.constraints()[index].tail;
  }
  std::reverse(chain.constraints.begin(), chain.constraints.end());
  return chain;
}

std::vector<OpId> critical_path(const ConstraintGraph& graph) {
  if (graph.node_count() == 0) return {};
  const CriticalChain chain = critical_chain(graph);
  std::vector<OpId> path = {chain.first.op()};
  for (const std::uint32_t index : chain.constraints) {
    const OpId op = graph.constraints()[index].head.op();
    if (path.back() != op) path.push_back(op);
  }
  return path;
}

}  // namespace slackline::analysis
