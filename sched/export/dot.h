#pragma once

#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// The dataflow graph for Graphviz: a vertex per operation, ranks as clusters. Edges on done are
/// solid, edges on issued dashed, messages bold. Static schedules only.
std::string write_dot(const Schedule& schedule);

}  // namespace slackline::sched
