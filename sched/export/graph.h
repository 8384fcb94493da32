// The dataflow graph for programs that draw and analyse graphs.
#pragma once

#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// The dataflow graph for Graphviz: a vertex per operation, ranks as clusters. Edges on done are
/// solid, edges on issued dashed, messages bold. Static schedules only.
std::string write_dot(const Schedule& schedule);

/// The dataflow graph as GraphML. Vertices carry kind, rank, lane, step, channel, bytes, block and
/// label, edges their kind (edge-done, edge-issued, message), the graph its digest and title.
/// Static schedules only.
///
/// An operation is one vertex although it has two events: with credits, operations can lie on a
/// cycle (a receive's post releases a credit, which releases the message that the receive ends
/// with) although no events do. Split each vertex into issued → done to have the graph without
/// cycles: edge-done leaves done and edge-issued leaves issued, both for issued; message leads from
/// issued to done.
std::string write_graphml(const Schedule& schedule);

}  // namespace slackline::sched
