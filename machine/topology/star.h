// Every host on one switch of full speed: no link is shared but the NICs.
#pragma once

namespace slackline::machine {

struct TopologyEntry;

/// As many hosts as there are ranks, but for one that is the switch, "switch".
struct Star {
  friend bool operator==(const Star&, const Star&) = default;
};

const TopologyEntry& star_entry();

}  // namespace slackline::machine
