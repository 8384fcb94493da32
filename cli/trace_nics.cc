#include "cli/trace_nics.h"

#include "machine/timeline_nics.h"

namespace slackline::cli {

sched::TimelineNics nics_of(const sched::Schedule& schedule, const sched::Trace& trace) {
  return machine::timeline_nics(schedule, machine::node_of_trace(trace));
}

}  // namespace slackline::cli
