// The clock of a run in which large messages share links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engines/flow_shares.h"
#include "machine/driven_run.h"
#include "machine/event_queue.h"
#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::analysis {

class FlowClock final : public machine::DrivenClock {
 public:
  /// The paths are the setting's, and must outlive this. Who is driven keeps to the platform's
  /// discipline of NICs.
  FlowClock(const machine::Paths& paths, const machine::Setting& setting);

  void at(double time_s, machine::ExecutionEvent event) override { timers_.push(time_s, event); }
  void transmit(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) override {
    flows_.start(now_s, path, bytes, op);
  }

  /// From time zero until nothing can happen any more.
  void drive(machine::DrivenRun& run);
  /// The next instant of a run that has started; false if nothing can happen any more.
  bool step(machine::DrivenRun& run);
  /// The time of the instant that was last.
  double now_s() const { return now_s_; }

  /// Between two instants of runs over the same paths: as another clock is now.
  void resume(const FlowClock& other);
  /// Gives every flow its rate after the instant that was last, as the next step would.
  void settle() { flows_.settle(now_s_); }
  /// After settle(), of both: whether the same is pending in another run over the same paths, and
  /// the network will be the same.
  bool goes_on_as(const FlowClock& other) const;

 private:
  bool advance();
  bool change_network(double next_s);

  const machine::Paths& paths_;
  machine::EventQueue timers_;
  FlowShares flows_;
  std::vector<machine::Paths::LinkChange> changes_;  // in order of time
  std::size_t changed_ = 0;                          // that have been
  std::size_t cut_ = 0;
  double now_s_ = 0;
  std::vector<machine::ExecutionEvent> events_;
};

}  // namespace slackline::analysis
