// The clock of a run whose large messages meet queues, marks and pauses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engines/fluid_network.h"
#include "machine/driven_run.h"
#include "machine/event_queue.h"
#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::analysis {

class FluidClock final : public machine::DrivenClock {
 public:
  /// As FluidNetwork; the delay plan's failures and rates of pairs count for nothing here.
  FluidClock(const machine::Setting& setting, const machine::Paths& paths);

  void at(double time_s, machine::ExecutionEvent event) override { timers_.push(time_s, event); }
  void transmit(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) override;
  bool has_queues() const override { return true; }

  /// From time zero until nothing can happen any more.
  void drive(machine::DrivenRun& run);

  const FluidNetwork& network() const { return network_; }
  /// As FluidNetwork::tell().
  void tell(FluidSeries* series) { network_.tell(series); }

 private:
  bool advance();
  void change_links(double until_s);

  // A look costs as much as a step of a few queue pairs, some hundred nanoseconds.
  static constexpr std::uint32_t kStepsPerLook = 4096;

  const sched::Schedule& schedule_;
  const machine::RunWatch* const watch_;
  FluidNetwork network_;
  machine::EventQueue timers_;
  std::vector<machine::Paths::LinkChange> changes_;  // in order of time
  std::size_t changed_ = 0;                          // that have been
  std::uint32_t steps_ = 0;                          // modulo 2^32
  double now_s_ = 0;
  std::vector<sched::OpId> sent_;
  std::vector<machine::ExecutionEvent> events_;
};

}  // namespace slackline::analysis
