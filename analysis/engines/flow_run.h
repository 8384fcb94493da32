// One run of the flow engine, instant by instant, that can be taken up where another one stands.
#pragma once

#include <vector>

#include "analysis/engines/flow_clock.h"
#include "machine/delays.h"
#include "machine/paths.h"
#include "machine/run/execution.h"
#include "machine/run/graph.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

class FlowRun {
 public:
  /// What runs that are held against each other have in common. All of it must outlive them.
  struct Common {
    const machine::RunGraph& graph;  // of a static schedule, all of it
    const machine::Setting setting;
    const machine::Paths& paths;
  };

  /// Before time zero. The delays must outlive this.
  FlowRun(const Common& common, const machine::Delays& delays);
  FlowRun(const FlowRun&) = delete;
  FlowRun& operator=(const FlowRun&) = delete;

  /// The next instant, the first of which is time zero; false if nothing can happen any more.
  /// Throws what Execution::instant() does.
  bool step();
  double now_s() const { return clock_.now_s(); }

  /// Infinite where something has not happened yet.
  const sched::OpTimes& times(sched::OpId op) const { return trace_.ops[op.value]; }
  const sched::Trace& trace() const { return trace_; }

  /// As another run of the same setting is now. Delays of operations that are ready there must be
  /// the same in both.
  void resume(const FlowRun& other);
  /// Makes ready for goes_on_as(), after an instant. Changes nothing of what follows.
  void settle() { clock_.settle(); }
  /// After settle(), of both: whether the same follows as in another run of the same setting, bit
  /// by bit, if what is still to be delayed is delayed alike. May say no where it does.
  bool goes_on_as(const FlowRun& other) const {
    return clock_.goes_on_as(other.clock_) && execution_.goes_on_as(other.execution_);
  }

 private:
  FlowClock clock_;
  sched::Trace trace_;
  machine::Execution execution_;
  bool started_ = false;
};

}  // namespace slackline::analysis
