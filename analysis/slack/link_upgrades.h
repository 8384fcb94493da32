// Which link to make better, and which must not become worse: what a run would gain by a higher
// rate or a lower latency of each, and lose by a lower rate.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "machine/engine.h"

namespace slackline::analysis {

/// Makespans of runs that differ in one link.
struct LinkUpgrade {
  machine::LinkId link;
  double faster_s = 0;    // with 1 % more rate
  double twice_s = 0;     // with twice the rate
  double slower_s = 0;    // with 1 % less
  sched::Time nearer{0};  // what is taken from the latency of every way over the link, …
  double nearer_s = 0;    // …and the makespan then
};

struct LinkUpgrades {
  double makespan_s = 0;           // with the network as it is
  std::vector<LinkUpgrade> links;  // those that messages can pass, in the wiring's order
};

/// From every way's latency over a link 10 ns are taken, or as much as the shortest of these ways
/// has. `jobs` runs at a time, which changes no bit. Where the delay plan changes a link's rate in
/// the run, the later rate stays. Throws what the engine does, InputError if the run never ends,
/// and Unsupported with adaptive routing where channels gather messages.
LinkUpgrades link_upgrades(const machine::Setting& setting, const machine::Engine& engine,
                           std::uint32_t jobs);

}  // namespace slackline::analysis
