// The chain of operations that decides when a run ends.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "sched/ids.h"

namespace slackline::analysis {

/// Slack below this is rounding: times are sums of thousands of terms of the makespan's magnitude.
double rounding_s(double makespan_s);

/// The latest moment of the run; 0 without operations.
double makespan_s(const ConstraintGraph& graph);

/// One chain of moments in which each is bound by the one before, from the start to the last event:
/// where it starts, and the constraints that it follows, by their indices, in the order of time.
/// Where several constraints bind, the one with the lowest operation.
struct CriticalChain {
  NodeId first;
  std::vector<std::uint32_t> constraints;
};
/// `graph` must have operations.
CriticalChain critical_chain(const ConstraintGraph& graph);

/// One chain of operations in which each waits for the one before, from the start to the last
/// event. An operation can stand on it twice, with what it waited for in between.
/// That of critical_chain(); empty without operations.
std::vector<sched::OpId> critical_path(const ConstraintGraph& graph);

}  // namespace slackline::analysis
