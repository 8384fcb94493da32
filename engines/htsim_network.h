// A platform's network in the form of htsim's topology files.
#pragma once

#include <cstdint>
#include <string>

#include "machine/platform.h"

namespace slackline::engines {

/// A network as htsim's FatTreeTopology reads it: two or three tiers of switches, whose links have
/// whole Gb/s and whole nanoseconds.
struct HtsimNetwork {
  std::uint32_t nodes = 0;  // hosts
  std::uint64_t gbps = 0;   // of every link
  std::string text;         // the file
};

/// The network of so many ranks. A star is a rack of all hosts. A rack's uplink is as many links of
/// a NIC's rate as make it up. The links of a host have half of the platform's latency, those
/// between switches its hop latency; times are rounded to nanoseconds, of which a link has at least
/// one. Throws Unsupported as require_plain_machine() does, and, naming the figure, for what such a
/// file, or htsim with GOAL programs, does not have: another topology, four levels, rates that are
/// no whole Gb/s or that differ, parts of an uplink, and placements other than packed.
HtsimNetwork htsim_network(const machine::Platform& platform, std::uint32_t ranks);

}  // namespace slackline::engines
