// astra-sim with its analytical network: the schedule's Chakra traces on one switch.
#pragma once

#include "engines/other_simulators.h"

namespace slackline::engines {

/// A trace of each rank, and astra-sim's files about system, memory and network. Throws Unsupported
/// as write_chakra() and require_plain_machine() do; naming it, for a topology other than a star,
/// and for messages without bytes.
SimulatorJob astra_sim_job(const machine::Setting& setting, const std::string& prefix);
std::optional<double> astra_sim_told_s(std::string_view told, const machine::Setting& setting);

inline constexpr OtherSimulator kAstraSim = {
    "astra-sim",
    "AstraSim_Analytical_Congestion_Aware",
    "astra-sim/astra-sim",
    "astra-sim (analytical, congestion aware), by the schedule's Chakra traces",
    "a message passes NIC and switch whole, one by one; one send of a rank at a time; no overheads",
    astra_sim_job,
    astra_sim_told_s};

}  // namespace slackline::engines
