// A schedule carried out by queues that wait in the NICs, emulated with the machine model's
// figures.
#pragma once

#include "machine/platform.h"
#include "offload/emulate_timed.h"
#include "offload/message_graph.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::experiments {

class Offloaded {
 public:
  /// Compiles the queues and proves them. Keeps a reference to `schedule`. Throws Unsupported.
  Offloaded(const sched::Schedule& schedule, offload::Mode mode);

  /// Throws InternalError if anything went wrong in the emulated NICs.
  sched::Trace run(const machine::Platform& platform, const offload::NicTiming& timing,
                   const machine::DelayPlan& delays = {}) const;
  /// When every receiver has the message.
  double delivered_s(const machine::Platform& platform, const offload::NicTiming& timing,
                     const machine::DelayPlan& delays = {}) const;

 private:
  const sched::Schedule& schedule_;
  offload::QueueProgram program_;
  offload::MessageGraph graph_;
};

}  // namespace slackline::experiments
