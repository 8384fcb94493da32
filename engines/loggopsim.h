// LogGOPSim: the schedule's GOAL program on a machine of LogGOPS figures.
#pragma once

#include "engines/other_simulators.h"

namespace slackline::engines {

/// L is the platform's latency, o the time of a post at either end, G a byte's time at the port's
/// rate, and g the gap, or G if that is more. All messages are eager: each has its receive posted,
/// by its credit or from the start. Throws Unsupported as require_plain_machine() and
/// require_serial_nics() do, for a SimGrid file, for a hop_latency, and for messages of more bytes
/// than it has eager.
SimulatorJob loggopsim_job(const machine::Setting& setting, const std::string& prefix);
std::optional<double> loggopsim_told_s(std::string_view told, const machine::Setting& setting);

inline constexpr OtherSimulator kLogGopsim = {
    "loggopsim",
    "LogGOPSim",
    "spcl/LogGOPSim",
    "LogGOPSim: LogGOPS, by the schedule's GOAL program",
    "no links; o at both ends; what comes holds up what goes",
    {.o_post = true, .gap = true, .interleave = false, .routing = true},
    loggopsim_job,
    loggopsim_told_s};

}  // namespace slackline::engines
