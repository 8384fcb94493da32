// The dataflow graph as a Boost graph, for the exporters that write graphs. For .cc files only.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// What an operation's vertex carries. `block` and `channel` are −1 where there is none.
struct VertexInfo {
  std::string kind;
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
  std::int64_t channel = -1;
  std::uint64_t bytes = 0;  // Schedule::payload_bytes
  std::int64_t block = -1;  // of data messages and their receives
  std::string label;        // all of this for people, on lines
};

/// `edge-done` and `edge-issued` are the schedule's edges, after the event of the predecessor that
/// they wait for; `message` leads from a send or put to its match.
struct EdgeInfo {
  std::string kind;
};

using DataflowGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, VertexInfo,
                                            EdgeInfo, boost::no_property, boost::vecS>;

/// Vertex i is operation i. The edges out of a vertex: first the schedule's, then its message.
DataflowGraph dataflow_graph(const Schedule& schedule);

}  // namespace slackline::sched
