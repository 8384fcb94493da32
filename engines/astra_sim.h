// astra-sim with its analytical network: the schedule's Chakra traces on one switch.
#pragma once

#include "engines/other_simulators.h"

namespace slackline::engines {

/// A trace of each rank, and astra-sim's files about system, memory and network. Throws Unsupported
/// as write_chakra(), require_plain_machine() and require_serial_nics() do; naming it, for a
/// topology other than a star; a single rank, and ranks without operations; messages without bytes,
/// or with fewer than leave in a nanosecond; and times that are no whole microseconds.
SimulatorJob astra_sim_job(const machine::Setting& setting, const std::string& prefix);
std::optional<double> astra_sim_told_s(std::string_view told, const machine::Setting& setting);

inline constexpr OtherSimulator kAstraSim = {
    "astra-sim",
    "AstraSim_Analytical_Congestion_Aware",
    "astra-sim/astra-sim",
    "astra-sim (analytical, congestion aware), by the schedule's Chakra traces",
    "a message passes NIC and switch whole, one by one; one send of a rank at a time",
    {.o_post = false, .gap = false, .interleave = false, .routing = true},
    astra_sim_job,
    astra_sim_told_s};

}  // namespace slackline::engines
