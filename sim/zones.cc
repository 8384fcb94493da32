#include "sim/zones.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sim/simgrid_version.h"

namespace slackline::sim {
namespace {

namespace s4u = simgrid::s4u;
using machine::LinkId;
using machine::PathId;

// A route has that many entries for each link on a way.
constexpr std::uint32_t kMostParts = 256;

s4u::Link* sealed(s4u::Link* link) {
  link->set_latency(0);
  link->seal();
  return link;
}

}  // namespace

void require_few_parts(const machine::Paths& paths) {
  if (paths.common_parts() <= kMostParts) return;
  throw Unsupported(
      fmt::format("routing=spray over {} ways: SimGrid takes {}; expected another engine",
                  paths.common_parts(), kMostParts));
}

HeldFlows held_flows(const machine::Setting& setting, const machine::Paths& paths) {
  HeldFlows held;
  if (!setting.wiring.pcie().limits()) return held;
  const sched::Schedule& schedule = setting.schedule;
  for (const sched::Op& op : schedule.ops()) {
    if (!sched::is_initiator(op.kind)) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    if (bytes <= setting.platform.interleave_bytes) continue;
    const PathId first = paths.of(op.channel, sched::has_reply(op.kind));
    for (std::uint32_t way = 0; way < paths[first].ways; ++way) {
      const PathId path(first.value + way);
      const machine::Path& p = paths[path];
      const double most_bytes_per_s = paths.most_bytes_per_s(path, bytes);
      const bool is_held = most_bytes_per_s < p.bytes_per_s ||
                           (p.change_count != 0 && most_bytes_per_s < machine::Paths::kNoLimit);
      if (is_held) held.emplace(path, bytes);
    }
  }
  return held;
}

Zones::Zones(const machine::Platform& platform, const machine::Wiring& wiring,
             const machine::Paths& paths, const HeldFlows& held, double grains_per_byte)
    : grains_per_byte_(grains_per_byte), parts_(paths.common_parts()) {
  if (platform.topology.kind() == machine::TopologyKind::kStar && !wiring.has_switches()) {
    make_star(wiring, paths, held);
  } else {
    make_full(wiring, paths, held);
  }
}

// Each leaves from a host of its own, by the same route behind a link of the rate that the message
// never has more than. That is passed once, in however many parts messages are sprayed, and gives
// each message all that it has.
void Zones::add_held(s4u::NetZone* zone, PathId path, const s4u::Host* destination,
                     const std::vector<s4u::LinkInRoute>& route, const machine::Paths& paths,
                     const HeldFlows& held) {
  for (auto flow = held.lower_bound({path, 0}); flow != held.end() && flow->first == path; ++flow) {
    const std::string name = fmt::format("held-{}-{}", path.value, flow->second);
    s4u::Link* link =
        add_link(zone, name, paths.most_bytes_per_s(path, flow->second) * grains_per_byte_);
    link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    std::vector<s4u::LinkInRoute> behind{s4u::LinkInRoute(sealed(link))};
    behind.insert(behind.end(), route.begin(), route.end());
    s4u::Host* source = add_host(zone, name);
    add_route(zone, source, destination, behind, false);
    held_.emplace(*flow, source);
  }
}

// What a slow pair sends leaves from a host of its own, which has the sender's NIC behind a link of
// the pair's rate, and so does what PCIe holds: SimGrid 3.32 takes no rate for a direct message.
void Zones::make_star(const machine::Wiring& wiring, const machine::Paths& paths,
                      const HeldFlows& held) {
  s4u::NetZone* zone = add_star_zone("star");
  std::vector<s4u::Host*> hosts;
  std::vector<s4u::SplitDuplexLink*> nics;
  const auto host_count = static_cast<std::uint32_t>(wiring.links().size() / 2);
  for (std::uint32_t h = 0; h < host_count; ++h) {
    hosts.push_back(add_host(zone, fmt::format("host-{}", h)));
    const double rate = wiring.links()[2 * h].rate.bytes_per_second();
    nics.push_back(add_duplex_link(zone, fmt::format("nic-{}", h), rate * grains_per_byte_));
    nics.back()->set_latency(0);
    nics.back()->seal();
    add_route(zone, hosts.back(), nullptr, {{nics.back(), s4u::LinkInRoute::Direction::UP}}, true);
    links_.push_back(nics.back()->get_link_up());
    links_.push_back(nics.back()->get_link_down());
  }
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    const machine::Path& path = paths[PathId(i)];
    if (path.local) {
      ends_.emplace_back(nullptr, nullptr);
      continue;
    }
    const std::uint32_t from = paths.links(PathId(i)).front().value / 2;
    const std::uint32_t to = paths.links(PathId(i)).back().value / 2;
    s4u::Host* source = hosts[from];
    std::vector<s4u::LinkInRoute> route;
    if (path.pair_bytes_per_s > 0) {
      const std::string name = fmt::format("{}", i);
      source = add_host(zone, "slow-" + name);
      s4u::Link* link =
          sealed(add_link(zone, "rate-" + name, path.pair_bytes_per_s * grains_per_byte_));
      route.emplace_back(link);
    }
    route.emplace_back(nics[from], s4u::LinkInRoute::Direction::UP);
    if (source != hosts[from]) add_route(zone, source, nullptr, route, false);
    add_held(zone, PathId(i), nullptr, route, paths, held);
    ends_.emplace_back(source, hosts[to]);
  }
  zone->seal();
}

void Zones::make_full(const machine::Wiring& wiring, const machine::Paths& paths,
                      const HeldFlows& held) {
  s4u::NetZone* zone = add_full_zone("network");
  std::vector<s4u::Host*> hosts;
  for (std::uint32_t r = 0; r < wiring.rank_count(); ++r) {
    hosts.push_back(add_host(zone, fmt::format("rank-{}", r)));
  }
  for (std::uint32_t l = 0; l < wiring.links().size(); ++l) {
    const machine::Link& link = wiring.links()[l];
    links_.push_back(
        add_link(zone, fmt::format("link-{}", l), rate_of(link.rate.bytes_per_second())));
    if (!link.shared) links_.back()->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    sealed(links_.back());
  }
  std::set<std::pair<sched::RankId, sched::RankId>> joined;
  std::map<machine::PairOnNics, s4u::Link*> of_rate;
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    const machine::Path& path = paths[PathId(i)];
    if (path.local) {
      ends_.emplace_back(nullptr, nullptr);
      continue;
    }
    std::vector<s4u::LinkInRoute> route;
    const bool is_first = joined.emplace(path.src, path.dst).second;
    if (path.pair_bytes_per_s > 0) {
      const auto [pair, is_new] = of_rate.try_emplace(machine::pair_on_nics(path), nullptr);
      if (is_new) {
        pair->second =
            sealed(add_link(zone, fmt::format("rate-{}", i), rate_of(path.pair_bytes_per_s)));
      }
      route.insert(route.end(), parts_, s4u::LinkInRoute(pair->second));
    }
    const auto links = paths.links(PathId(i));
    for (std::size_t l = 0; l < links.size(); ++l) {
      route.insert(route.end(), paths.parts(PathId(i), l) * (parts_ / path.parts),
                   s4u::LinkInRoute(links_[links[l].value]));
    }
    // Two hosts have one route in SimGrid: another channel's way leaves from a host of its own.
    s4u::Host* src = is_first ? hosts[path.src.value] : add_host(zone, fmt::format("flow-{}", i));
    s4u::Host* dst = hosts[path.dst.value];
    add_route(zone, src, dst, route, false);
    ends_.emplace_back(src, dst);
    add_held(zone, PathId(i), dst, route, paths, held);
  }
  zone->seal();
}

void Zones::set_rate(machine::LinkId link, double bytes_per_s) {
  links_[link.value]->set_bandwidth(rate_of(bytes_per_s));
}

}  // namespace slackline::sim
