// Whether another run of a schedule took lanes and ports in the order in which a first one did.
#pragma once

#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// What timed_slack() freezes of a run, to hold other runs of the same schedule against. Keeps no
/// reference; questions may be asked by several threads.
class RunOrder {
 public:
  RunOrder(const machine::Setting& setting, const sched::Trace& trace);

  /// Whether everything in `trace` came after what kept it waiting on a lane, at a port, at a word
  /// or for a send in flight, and what takes no time there still went before what it went before.
  bool is_kept_by(const sched::Schedule& schedule, const sched::Trace& trace) const;

 private:
  std::vector<Constraint> constraints_;
};

}  // namespace slackline::analysis
