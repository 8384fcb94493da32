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

/// Throws Unsupported for messages sprayed in too many parts for zones. To be asked before a child
/// process makes them, which would tell it as an InputError.
void require_few_parts(const machine::Paths& paths);

/// A star is a star zone, which finds a route from two links; every other network is a full zone
/// with the routes that the schedule's messages take. Latencies are zero: ours are timers. Sprayed
/// messages pass every link as often as they have parts there, and links have as many times their
/// rate: SimGrid counts each passage. To be made once per process, between the engine and its
/// sealing.
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
  double rate_of(double bytes_per_s) const { return bytes_per_s * grains_per_byte_ * parts_; }
  void make_full(const machine::Wiring& wiring, const machine::Paths& paths);

  double grains_per_byte_;
  // Of a message, by which links' rates and passages are counted where messages are sprayed.
  std::uint32_t parts_;
  std::vector<std::pair<simgrid::s4u::Host*, simgrid::s4u::Host*>> ends_;  // of every path
  std::vector<simgrid::s4u::Link*> links_;
};

}  // namespace slackline::sim
