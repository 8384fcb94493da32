// What SimGrid 3.32 and SimGrid 4 name differently, and what of SimGrid's kernel is used: all of it
// is here. For this folder, its tests and benchmarks only.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace simgrid {
namespace kernel::timer {
class Timer;
}
namespace s4u {
class Comm;
class Host;
class Link;
class LinkInRoute;
class NetZone;
class SplitDuplexLink;
}  // namespace s4u
}  // namespace simgrid

namespace slackline::sim {

/// A call that waits for its time. It is gone once it has begun, or with cancel().
using Timer = simgrid::kernel::timer::Timer;

/// Lets the running engine call at this time by its clock, which may be now but not earlier.
Timer* call_at(double time_s, std::function<void()> call);
void cancel(Timer* timer);

/// Plain max-min sharing: no factors meant for TCP, and times to 1 ps. For an engine without zones.
void configure_exact_sharing();

/// To be told of every communication that ends: finished, cancelled or failed.
void on_ended(std::function<void(const simgrid::s4u::Comm&)> told);

/// Whether it reads files with a <cluster> of another topology than FLAT that stands in no <zone>.
/// If not, these end the process.
bool reads_bare_clusters();

/// Zones that hold the whole platform, one to a process; what is added stays SimGrid's.
simgrid::s4u::NetZone* add_star_zone(const std::string& name);
simgrid::s4u::NetZone* add_full_zone(const std::string& name);
simgrid::s4u::Host* add_host(simgrid::s4u::NetZone* zone, const std::string& name);
simgrid::s4u::Link* add_link(simgrid::s4u::NetZone* zone, const std::string& name,
                             double bytes_per_s);
simgrid::s4u::SplitDuplexLink* add_duplex_link(simgrid::s4u::NetZone* zone, const std::string& name,
                                               double bytes_per_s);
/// Without a destination, from the host to the middle of its star, and back if it is symmetrical.
void add_route(simgrid::s4u::NetZone* zone, const simgrid::s4u::Host* source,
               const simgrid::s4u::Host* destination,
               const std::vector<simgrid::s4u::LinkInRoute>& links, bool symmetrical);

}  // namespace slackline::sim
