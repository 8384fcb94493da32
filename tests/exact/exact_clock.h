// The clock of a run in rational numbers: when each event happens, what each message has left and
// how fast it leaves are exact.
//
// The run is the engines' own (machine/run/execution.h), which reckons in seconds of double
// precision. It is told the time of each instant, rounded, and asks for events so much later. Every
// such span is a whole number of picoseconds, by the types of platforms, schedules and plans, but
// for the time of bytes, whose numerator and denominator are known. So the clock finds the exact
// span again, and adds it to the exact time that the run added it to: the instant at hand, or, for
// a receive that is posted while its message is on its way, the instant in which that left. The
// run's own decisions compare moments of instants, which are a picosecond apart or the same: these
// doubles compare as the exact times do.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "machine/driven_run.h"
#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/trace.h"
#include "tests/exact/exact_network.h"
#include "tests/exact/rational.h"

namespace slackline::testing {

class ExactClock final : public machine::DrivenClock {
 public:
  /// `times` is where the run records what happens. All references must outlive this. The schedule
  /// has no regions and gathers no messages. Throws as ExactNetwork does.
  ExactClock(const machine::Setting& setting, const machine::Paths& paths,
             std::span<const sched::OpTimes> times);

  /// Throws InternalError for a time that it does not know the origin of.
  void at(double time_s, machine::ExecutionEvent event) override;
  void transmit(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) override;

  /// From time zero until nothing can happen any more.
  void drive(machine::DrivenRun& run);

 private:
  struct Flow {
    sched::OpId op;
    Rational left;  // bytes, at…
    Rational since_ps;
    Rational bytes_per_ps;  // 0: not yet known
    Rational end_ps;
    ExactWay way = {};
  };
  // An exact time, and the double by which the run knows it.
  struct Moment {
    Rational exact_ps;
    double run_s;
  };

  Moment origin(double time_s, machine::ExecutionEvent event) const;
  Rational span_of_bytes_ps(machine::ExecutionEvent event) const;
  Moment later(const Moment& moment, double span_s) const;
  Moment landed(sched::OpId receive) const;
  const Moment& instant_before(double time_s, double span_s) const;
  std::uint64_t bytes_of(sched::OpId op) const;
  void find_rates();

  const machine::Setting setting_;
  const machine::Paths& paths_;
  const std::span<const sched::OpTimes> times_;
  const ExactNetwork network_;
  std::map<Rational, std::vector<machine::ExecutionEvent>> timers_;  // picoseconds
  std::vector<Flow> flows_;
  bool changed_ = false;          // flows have begun or ended since their rates were found
  std::vector<Moment> instants_;  // up to the one at hand
};

}  // namespace slackline::testing
