// A dragonfly as Cray built it (Faanes et al., SC 2012), with minimal routing: the shortest way
// that has one blue link at most. Valiant routing goes by way of a third group, where there is one.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace slackline::machine {

struct TopologyEntry;

/// Routers are joined all to all in a chassis (green), to those of the same place in every other
/// chassis of the group (black), and groups all to all (blue). As in SimGrid, all blue cables of
/// two groups are one link, between the router of place j of group i and that of place i of group
/// j; so groups ≤ chassis × routers. Host h is at router h / hosts, routers being numbered through
/// by group, chassis and place. Links "router-A.green-B", "router-A.black-B" and "group-I.blue-J".
struct Dragonfly {
  std::uint32_t groups = 0;
  std::uint32_t chassis = 0;  // of a group
  std::uint32_t routers = 0;  // of a chassis
  std::uint32_t hosts = 0;    // of a router
  // Cables between two routers, or between two groups.
  std::uint32_t green = 1;
  std::uint32_t black = 1;
  std::uint32_t blue = 1;
  // Of one cable, each way; 0: the topology's link_rate.
  sched::Rate green_rate{};
  sched::Rate black_rate{};
  sched::Rate blue_rate{};

  friend bool operator==(const Dragonfly&, const Dragonfly&) = default;
};

const TopologyEntry& dragonfly_entry();

}  // namespace slackline::machine
