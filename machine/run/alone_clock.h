// The clock of a run in which every message has its way to itself.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/driven_run.h"
#include "machine/event_queue.h"
#include "machine/paths.h"

namespace slackline::machine {

class AloneClock final : public DrivenClock {
 public:
  /// The paths must outlive this.
  explicit AloneClock(const Paths& paths) : paths_(paths) {}

  void at(double time_s, ExecutionEvent event) override { events_.push(time_s, event); }
  void transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId op) override;

  /// From time zero until nothing can happen any more.
  void drive(DrivenRun& run);

  // The same step by step, for who has events of its own beside: after run.start().

  /// When the next instant is; infinity if there is none.
  double next_s() const;
  /// Delivers the next instant; there must be one.
  void step(DrivenRun& run);

 private:
  const Paths& paths_;
  EventQueue events_;
  std::vector<ExecutionEvent> now_;
};

}  // namespace slackline::machine
