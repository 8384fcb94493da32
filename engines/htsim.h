// htsim, as ATLAHS has it: packets of the schedule's GOAL program in a network of switches.
#pragma once

#include "engines/other_simulators.h"

namespace slackline::engines {

/// A GOAL program and the network of htsim_network(), which `htsim_uec` runs. Throws Unsupported as
/// that does, for messages of a rank to itself, and for those that it has no numbers for: of 2 GiB
/// and more, or so many that they might take longer than the 50 s after which it stops its clock.
SimulatorJob htsim_job(const machine::Setting& setting, const std::string& prefix);
std::optional<double> htsim_told_s(std::string_view told, const machine::Setting& setting);

inline constexpr OtherSimulator kHtsim = {
    "htsim",
    "htsim_uec",
    "spcl/atlahs",
    "htsim (ATLAHS): packets with congestion control, by the schedule's GOAL program",
    "packets of 4096 bytes, of several messages at once, lost and sent again",
    {.o_post = true, .gap = false, .interleave = true, .routing = false},
    htsim_job,
    htsim_told_s};

}  // namespace slackline::engines
