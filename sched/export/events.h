// The events of a schedule as a graph for other programs: acyclic wherever no deadlock is, other
// than the graph of operations (graph.h).
#pragma once

#include <string>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// GraphML. Two vertices for each operation, `i7` (issued) and `d7` (done), and an edge for each
/// arc of sched/op.h, with its kind: own, edge, message, posted, order. The file describes each
/// attribute. Static schedules only: throws Unsupported.
std::string write_events_graphml(const Schedule& schedule);
/// The same with `time_s` at each vertex that came about. Throws InputError for a trace of another
/// schedule.
std::string write_timed_events_graphml(const Schedule& schedule, const Trace& trace);

/// The same for Graphviz, with ranks as clusters: messages bold, what may hold (posted) dotted, the
/// order on a channel dashed.
std::string write_events_dot(const Schedule& schedule);
std::string write_timed_events_dot(const Schedule& schedule, const Trace& trace);

}  // namespace slackline::sched
