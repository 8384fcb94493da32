// Racks of hosts, each behind a top-of-rack switch with one uplink to a core that never blocks.
// (With rail-optimized NICs it is a switch for each rail.)
#pragma once

#include <cstdint>

#include "base/units.h"

namespace slackline::machine {

struct TopologyEntry;

/// Host h is in rack h / hosts. Links "rack-R.up" and "rack-R.down". Where rails are optimized, a
/// rack has a switch for each: "rack-R.rail-S.up". The switches that ranks can be are "rack-R" and
/// "core".
struct TwoLevel {
  std::uint32_t racks = 0;
  std::uint32_t hosts = 0;      // of one rack
  sched::Rate uplink{};         // of one switch, each way; 0: by oversubscription
  double oversubscription = 1;  // the rates of a switch's NICs over its uplink's; > 0

  friend bool operator==(const TwoLevel&, const TwoLevel&) = default;
};

const TopologyEntry& two_level_entry();

}  // namespace slackline::machine
