// Racks of hosts, each behind a top-of-rack switch with one uplink to a core that never blocks.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace slackline::machine {

struct TopologyEntry;

/// Host h is in rack h / hosts. Links "rack-R.up" and "rack-R.down".
struct TwoLevel {
  std::uint32_t racks = 0;
  std::uint32_t hosts = 0;      // of one rack
  sched::Rate uplink{};         // of one rack, each way; 0: by oversubscription
  double oversubscription = 1;  // the rates of a rack's NICs over its uplink's; > 0

  friend bool operator==(const TwoLevel&, const TwoLevel&) = default;
};

const TopologyEntry& two_level_entry();

}  // namespace slackline::machine
