#include "analysis/engines/flow_run.h"

namespace slackline::analysis {

FlowRun::FlowRun(const Common& common, const machine::Delays& delays)
    : clock_(common.paths, common.setting),
      execution_(common.graph, common.setting, delays, common.paths,
                 machine::record_in(trace_, common.setting.schedule, 0), clock_) {}

bool FlowRun::step() {
  if (started_) return clock_.step(execution_);
  started_ = true;
  execution_.start();
  return true;
}

void FlowRun::resume(const FlowRun& other) {
  clock_.resume(other.clock_);
  trace_.ops = other.trace_.ops;
  trace_.request_s = other.trace_.request_s;
  trace_.results = other.trace_.results;
  trace_.memory = other.trace_.memory;
  execution_.resume(other.execution_);
  started_ = other.started_;
}

}  // namespace slackline::analysis
