// Large messages as SimGrid's flows, everything else in timers of our own: who keeps the time of a
// run inside SimGrid. For this folder only; one per process.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <simgrid/s4u.hpp>
#include <vector>

#include "machine/driven_run.h"
#include "machine/event_queue.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sim/simgrid_version.h"
#include "sim/zones.h"

namespace slackline::sim {

class FlowNetwork final : public machine::DrivenClock {
 public:
  /// Makes SimGrid's platform and seals it. No message has more than `largest_bytes`, and `held`
  /// are those that PCIe holds. All references must outlive this.
  FlowNetwork(const machine::Platform& platform, const machine::Wiring& wiring,
              const machine::Paths& paths, std::uint64_t largest_bytes, const HeldFlows& held);

  /// From time zero until nothing can happen any more.
  void run(machine::DrivenRun& driven);

  void at(double time_s, machine::ExecutionEvent event) override { timers_.push(time_s, event); }
  void transmit(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) override;

 private:
  // Before SimGrid says anything.
  struct Quiet {
    Quiet();
  };
  // For SimGrid's options, which it takes after the engine exists and before its first zone.
  struct Configured {
    Configured() { configure_exact_sharing(); }
  };
  struct Flow {
    simgrid::s4u::CommPtr comm;  // nothing before it has begun in SimGrid
    double begin_s = 0;
    double alone_end_s = 0;  // if it shares with nobody
    std::uint64_t bytes = 0;
    machine::PathId path;
    sched::OpId op;
    std::uint32_t use = 0;  // of this slot, counted
    bool live = false;      // not ended, not lost
  };
  // The least time at which a flow may end.
  struct End {
    double time_s;
    std::uint32_t slot;
    std::uint32_t use;
    friend bool operator>(const End& a, const End& b) { return a.time_s > b.time_s; }
  };

  void ended(const simgrid::s4u::Comm& comm);
  void begin(std::uint32_t slot, double grains);
  void change_rate(machine::LinkId link, double bytes_per_s);
  void cut(double cut_s);
  void arm();
  double quiet_until_s();
  void begin_waiting(double clock_s);
  void work();

  const machine::Paths& paths_;
  const std::uint64_t largest_bytes_;
  const double grains_per_byte_;
  Quiet quiet_;
  simgrid::s4u::Engine engine_{"slackline"};
  Configured configured_;
  Zones zones_;
  machine::DrivenRun* driven_ = nullptr;
  machine::EventQueue timers_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> waiting_;  // for their time to begin, in its order, …
  std::size_t first_waiting_ = 0;       // …from here on
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<std::uint32_t> over_;               // ended, not yet let go
  std::vector<simgrid::s4u::CommPtr> cancelled_;  // to be let go when SimGrid is through with them
  std::vector<machine::ExecutionEvent> events_;
  std::size_t cuts_ = 0;  // that have been
  Timer* timer_ = nullptr;
  double armed_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace slackline::sim
