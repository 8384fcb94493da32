#include "sim/simgrid_version.h"

#include <simgrid/forward.h>  // what the next one of 3.32 needs
#include <simgrid/version.h>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

namespace slackline::sim {
namespace {

namespace s4u = simgrid::s4u;

constexpr double kFlopsPerSecond = 1e9;  // of a host: nothing is ever computed on it

}  // namespace

// The kernel's, and its header is installed; no version has timers in its public interface.
Timer* call_at(double time_s, std::function<void()> call) {
  return Timer::set(time_s, std::move(call));
}

void cancel(Timer* timer) { timer->remove(); }

void configure_exact_sharing() {
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/TCP-gamma:0");
#if SIMGRID_VERSION >= 33400
  s4u::Engine::set_config("precision/timing:1e-12");
  s4u::Engine::set_config("precision/work-amount:1e-9");
#else
  s4u::Engine::set_config("surf/precision:1e-12");
  s4u::Engine::set_config("maxmin/precision:1e-9");
#endif
}

void on_ended(std::function<void(const s4u::Comm&)> told) {
#if SIMGRID_VERSION >= 33400
  s4u::Comm::on_completion_cb(std::move(told));
#else
  s4u::Activity::on_completion_cb([told = std::move(told)](const s4u::Activity& activity) {
    told(static_cast<const s4u::Comm&>(activity));
  });
#endif
}

#if SIMGRID_VERSION >= 40000

bool reads_bare_clusters() { return false; }

s4u::NetZone* add_star_zone(const std::string& name) {
  return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_star(name);
}

s4u::NetZone* add_full_zone(const std::string& name) {
  return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_full(name);
}

s4u::Host* add_host(s4u::NetZone* zone, const std::string& name) {
  return zone->add_host(name, kFlopsPerSecond);
}

s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bytes_per_s) {
  return zone->add_link(name, bytes_per_s);
}

s4u::SplitDuplexLink* add_duplex_link(s4u::NetZone* zone, const std::string& name,
                                      double bytes_per_s) {
  return zone->add_split_duplex_link(name, bytes_per_s);
}

void add_route(s4u::NetZone* zone, const s4u::Host* source, const s4u::Host* destination,
               const std::vector<s4u::LinkInRoute>& links, bool symmetrical) {
  zone->add_route(source, destination, links, symmetrical);
}

#else

bool reads_bare_clusters() { return true; }

s4u::NetZone* add_star_zone(const std::string& name) { return s4u::create_star_zone(name); }

s4u::NetZone* add_full_zone(const std::string& name) { return s4u::create_full_zone(name); }

s4u::Host* add_host(s4u::NetZone* zone, const std::string& name) {
  return zone->create_host(name, kFlopsPerSecond);
}

s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bytes_per_s) {
  return zone->create_link(name, bytes_per_s);
}

s4u::SplitDuplexLink* add_duplex_link(s4u::NetZone* zone, const std::string& name,
                                      double bytes_per_s) {
  return zone->create_split_duplex_link(name, bytes_per_s);
}

void add_route(s4u::NetZone* zone, const s4u::Host* source, const s4u::Host* destination,
               const std::vector<s4u::LinkInRoute>& links, bool symmetrical) {
  zone->add_route(source->get_netpoint(),
                  destination == nullptr ? nullptr : destination->get_netpoint(), nullptr, nullptr,
                  links, symmetrical);
}

#endif

}  // namespace slackline::sim
