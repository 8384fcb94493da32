// A network as a tree of switches, which a machine can build of bridges and virtual cables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/wiring.h"

namespace slackline::hw {

/// Of hosts at its leaves; every way goes up to the first switch that both ends are below, and down
/// again.
struct SwitchTree {
  /// A cable, from its lower end to a switch.
  struct Cable {
    sched::Rate up;    // > 0, as is…
    sched::Rate down;  // …this
  };
  struct Host {
    std::string name;
    std::uint32_t on = 0;  // a switch
    Cable cable;
    std::vector<sched::Time> latency_to = {};  // of the ways to each host; to itself 0
  };
  struct Switch {
    std::optional<std::uint32_t> above;  // another switch; the last switch alone has none
    Cable cable;                         // to that one
  };
  std::vector<Host> hosts;  // host h is rank h's
  std::vector<Switch> switches;
};

/// The network between all of the wiring's ranks. Throws InputError for fewer than two ranks, and
/// Unsupported, naming hosts and links, for what is no such tree: ranks that share a machine or a
/// NIC, hosts that others' messages pass, a link that two hosts or switches have, or that goes both
/// ways, several ways through a network, and a link that gives every message its whole rate; also
/// what says packets and line codes of its own.
SwitchTree switch_tree(const machine::Wiring& wiring);

}  // namespace slackline::hw
