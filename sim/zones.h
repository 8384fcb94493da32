// A wiring as SimGrid's hosts, links and routes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/setting.h"
#include "machine/wiring.h"

namespace slackline::sim {

/// Throws Unsupported for messages sprayed in too many parts for zones. To be asked before a child
/// process makes them, which would tell it as an InputError.
void require_few_parts(const machine::Paths& paths);

/// Messages that PCIe holds below what their links have: those of one size on one path each. To
/// SimGrid each of them is a link of its own, which has to be there before it begins.
using HeldFlows = std::set<std::pair<machine::PathId, std::uint64_t>>;

/// Those of a schedule's large messages, none of which is gathered: what goes together there only a
/// run tells.
HeldFlows held_flows(const machine::Setting& setting, const machine::Paths& paths);

/// A star is a star zone, which finds a route from two links; every other network is a full zone
/// with the routes that the schedule's messages take. Latencies are zero: ours are timers. Sprayed
/// messages pass every link as often as they have parts there, and links have as many times their
/// rate: SimGrid counts each passage. To be made once per process, between the engine and its
/// sealing.
class Zones {
 public:
  Zones(const machine::Platform& platform, const machine::Wiring& wiring,
        const machine::Paths& paths, const HeldFlows& held, double grains_per_byte);

  /// Of a message of so many bytes. Null of local paths, which carry no flows.
  simgrid::s4u::Host* source(machine::PathId path, std::uint64_t bytes) const {
    const auto held = held_.find({path, bytes});
    return held == held_.end() ? ends_[path.value].first : held->second;
  }
  simgrid::s4u::Host* destination(machine::PathId path) const { return ends_[path.value].second; }
  /// Gives a link another rate, from now on.
  void set_rate(machine::LinkId link, double bytes_per_s);

 private:
  void make_star(const machine::Wiring& wiring, const machine::Paths& paths, const HeldFlows& held);
  double rate_of(double bytes_per_s) const { return bytes_per_s * grains_per_byte_ * parts_; }
  void make_full(const machine::Wiring& wiring, const machine::Paths& paths, const HeldFlows& held);
  void add_held(simgrid::s4u::NetZone* zone, machine::PathId path,
                const simgrid::s4u::Host* destination,
                const std::vector<simgrid::s4u::LinkInRoute>& route, const machine::Paths& paths,
                const HeldFlows& held);

  double grains_per_byte_;
  // Of a message, by which links' rates and passages are counted where messages are sprayed.
  std::uint32_t parts_;
  std::vector<std::pair<simgrid::s4u::Host*, simgrid::s4u::Host*>> ends_;  // of every path
  // Where held flows leave from.
  std::map<HeldFlows::value_type, simgrid::s4u::Host*> held_;
  std::vector<simgrid::s4u::Link*> links_;
};

}  // namespace slackline::sim
