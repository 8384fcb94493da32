// How long the messages of a run are on the wire when the run is computed again.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

enum class WireTimes : std::uint8_t {
  kModel,  // as the machine model has it for a message that shares its way with nobody
  kRun,    // as the run had it, whoever it shared with: the rates are frozen too
};

/// Of every operation the time that its message is on the wire, of gets and atomics the reply, in
/// seconds; 0 without bytes. The trace must be complete.
std::vector<double> wire_times_s(const machine::Setting& setting, const machine::Paths& paths,
                                 const sched::Trace& trace, WireTimes wire);

}  // namespace slackline::analysis
