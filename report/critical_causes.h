// What the critical path of a run waits for, stretch by stretch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "machine/delays.h"
#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/schedule.h"

namespace slackline::report {

enum class Cause : std::uint8_t {
  kLane,        // a CPU lane: posts, calculations, copies, reductions
  kOutPort,     // the message before on the sender's port, or the gap after it
  kInPort,      // the message before on the receiver's port
  kWire,        // the bytes themselves
  kLatency,     // of the way
  kCompletion,  // o_complete
  kService,     // of an atomic
  kDelay,       // an operation that only waits, or the delay plan
};
inline constexpr std::size_t kCauses = 8;

/// For people: "CPU lane", "sender's port", …
std::string_view name(Cause cause);

/// From one moment of the critical path to the next.
struct CriticalStretch {
  sched::OpId op;     // whose moment ends it
  sched::OpId after;  // whose moment begins it; none() at the start
  double begin_s = 0;
  double end_s = 0;
  std::array<double, kCauses> by_cause_s{};  // together its length, but for rounding
};

/// In the order of time; those that take no time and stay at one operation are left out. The rest
/// of the arguments must be those that the graph was made of.
std::vector<CriticalStretch> critical_causes(const analysis::ConstraintGraph& graph,
                                             const machine::Setting& setting,
                                             const machine::Delays& delays,
                                             const machine::Paths& paths);

}  // namespace slackline::report
