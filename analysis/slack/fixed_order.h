// Whether a schedule's arcs fix who comes before whom on every lane and at every port: then a delay
// of ε anywhere costs at most ε. docs/architecture.md, "What a delay costs at most", has the proof.
#pragma once

#include <cstdint>
#include <string>

#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// What two operations may compete for.
enum class Contested : std::uint8_t {
  kNothing,   // in no pair of operations: every order is fixed
  kLane,      // a CPU lane
  kOutPort,   // where a NIC sends
  kInPort,    // where a NIC receives
  kWord,      // that atomics act on
  kLink,      // which large messages share, or may
  kRates,     // the plan changes rates or cuts ways at given times, whoever is late
  kLooks,     // completions are seen in the order in which they come
  kLock,      // of a queue pair that threads share
  kInFlight,  // the bound of a rank's sends in flight
};

struct FixedOrder {
  /// Not kNothing: a delay may cost more than itself; this is why, the first reason that was found.
  Contested contested = Contested::kNothing;
  /// Two operations whose order there is not fixed by arcs, as the run had it; none for kRates and
  /// kLooks.
  sched::OpId first, second;
  /// False if the search was given up, since the arcs between some two operations are too many:
  /// then nothing is known beyond `first` and `second`, whose order was not found to be fixed.
  bool decided = true;

  /// No delay of one operation, of its lane or not, costs more than itself.
  bool one_delay_costs_at_most_itself() const {
    return decided && contested == Contested::kNothing;
  }
};

/// `trace` is any complete run of the setting. Sufficient, not
/// necessary: where it says no, every delay may still cost at most itself. Throws as timed_slack()
/// does.
FixedOrder fixed_order(const machine::Setting& setting, const sched::Trace& trace);

/// "lane", "out-port", "in-port", "word", "link", "rates", "looks", "lock",
/// "in-flight"; "nothing".
std::string_view name(Contested contested);

/// What they compete for, for people: "the lane of rank 3", "rank 2's in-port"; empty for kNothing.
std::string place_of(const sched::Schedule& schedule, const FixedOrder& order);

}  // namespace slackline::analysis
