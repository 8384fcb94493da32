// A wiring as SimGrid's hosts, links and routes.
#pragma once

#include <cstdint>
#include <map>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"

namespace slackline::sim {

/// A star is a star zone, which finds a route from two links; every other network is a full zone
/// with the routes that the schedule's messages take. Latencies are zero: ours are timers. To be
/// made once per process, between the engine and its sealing.
class Zones {
 public:
  Zones(const machine::Platform& platform, const machine::Wiring& wiring,
        const machine::Paths& paths, double grains_per_byte);

  /// Null of local paths, which carry no flows.
  simgrid::s4u::Host* source(machine::PathId path) const { return ends_[path.value].first; }
  simgrid::s4u::Host* destination(machine::PathId path) const { return ends_[path.value].second; }
  /// Gives a link another rate, from now on.
  void set_rate(machine::LinkId link, double bytes_per_s);

 private:
  void make_star(const machine::Wiring& wiring, const machine::Paths& paths);
  void make_full(const machine::Wiring& wiring, const machine::Paths& paths);

  double grains_per_byte_;
  std::vector<std::pair<simgrid::s4u::Host*, simgrid::s4u::Host*>> ends_;  // of every path
  std::vector<simgrid::s4u::Link*> links_;
};

}  // namespace slackline::sim
