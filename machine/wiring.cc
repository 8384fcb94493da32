#include "machine/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "machine/input_text.h"
#include "machine/network.h"
#include "machine/placement.h"
#include "machine/platform_checks.h"
#include "machine/topology/checks.h"
#include "machine/topology_entry.h"

namespace slackline::machine {

namespace {

std::string nic_suffix(std::uint32_t rail, const Rails& rails) {
  return rails.are_several() ? fmt::format(".nic-{}", rail) : std::string();
}

constexpr std::string_view kScaleUp = "scale-up-";

std::string generated_name(std::uint32_t host) { return "host-" + std::to_string(host); }

// "host-3" is host 3; "host-03" is none.
std::optional<std::uint32_t> generated_host(std::string_view name, std::uint32_t hosts) {
  constexpr std::string_view kBefore = "host-";
  if (!name.starts_with(kBefore)) return std::nullopt;
  const auto host = base::whole_number<std::uint32_t>(name.substr(kBefore.size()));
  if (!host || *host >= hosts || generated_name(*host) != name) return std::nullopt;
  return host;
}

}  // namespace

// A generated network, with the host of every node; or, without one, the hosts' names and the
// routes that were told.
struct Wiring::Contents {
  std::unique_ptr<Network> network;
  RailEnds ends;
  std::vector<std::uint32_t> host_of_node;
  bool sprayed = false;
  bool by_channel = false;
  bool adaptive = false;
  std::uint32_t ranks = 0;
  std::uint32_t host_ranks = 0;          // those before the switches
  std::vector<std::uint32_t> switch_at;  // of the network, that the last ranks are
  std::vector<std::string> switch_name;  // of each
  std::vector<std::string> fixed_names;
  std::map<std::tuple<sched::RankId, sched::RankId, ChannelNumber>, Route> fixed;
  std::vector<Link> links;
  std::uint32_t first_scale_up = 0;  // of the links
  Time latency{0};
  Time hop_latency{0};
  Node node;
  Rate copy_rate;
  Framing framing;
  Pcie pcie;
  HostFigures hosts;  // of a generated network; others have their links and routes

  // What NICs in other zones than their ranks add to a way that takes `plain` without them.
  Time numa_hops(sched::RankId src, NicId src_nic, sched::RankId dst, NicId dst_nic,
                 Time plain) const {
    const int hops = (node.is_away(src, src_nic) ? 1 : 0) + (node.is_away(dst, dst_nic) ? 1 : 0);
    if (hops != 0 && node.numa_hop > (sched::kForever - Time{1} - plain) / hops) {
      throw InputError("numa_hop: a way takes 106 days or more with it; expected less");
    }
    return hops * node.numa_hop;
  }
  // What hosts that are farther away than others add to such a way.
  Time farther(sched::RankId src, sched::RankId dst, Time plain) const {
    if (!hosts.latency.any()) return Time{0};
    const Time most = sched::kForever - Time{1} - plain;
    const auto of = [&](sched::RankId rank) {
      return is_switch(rank) ? Time{0} : hosts.latency.of(host_of(rank), Time{0});
    };
    if (of(src) > most || of(dst) > most - of(src)) {
      throw InputError("host_latency: a way takes 106 days or more with it; expected less");
    }
    return of(src) + of(dst);
  }
  std::uint32_t host_of(sched::RankId rank) const { return host_of_node[node.of(rank)]; }
  // Of the network.
  std::uint32_t end_of(NicId nic) const {
    return ends.of(host_of_node[nic.value / ends.rails.count], nic.value % ends.rails.count);
  }

  std::uint32_t nics() const { return node.nic_count_for(host_ranks); }
  bool is_switch(sched::RankId rank) const { return rank.value >= host_ranks; }
  Network::Place place_of(sched::RankId rank) const {
    if (is_switch(rank)) return {true, switch_at[rank.value - host_ranks]};
    return {false, end_of(NicId(rank.value))};
  }
  void find_switches(const Platform& platform, std::string_view where);
  void add_scale_up();
  Route switch_route(sched::RankId src, sched::RankId dst) const;

  // Of a rack: all of its hosts, whose NICs are on one leaf switch or on one for each rail.
  std::uint32_t unit_hosts() const {
    const std::uint32_t nics = network->unit_hosts();
    return ends.rails.wiring == RailWiring::kOptimized ? nics : nics / ends.rails.count;
  }

  // Of a way past `switches`.
  Time way_latency(std::size_t switches) const {
    const auto hops = static_cast<std::int64_t>(switches) - 1;
    const Time longest = sched::kForever - Time{1};
    if (hops > 0 && hop_latency > (longest - latency) / hops) {
      throw InputError(fmt::format(
          "hop_latency: a way past {} switches takes 106 days or more; expected less", switches));
    }
    return latency + hops * hop_latency;
  }
};

// Behind all other links, which keep their numbers.
void Wiring::Contents::add_scale_up() {
  if (!node.scale_up.any()) return;
  first_scale_up = static_cast<std::uint32_t>(links.size());
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t host = host_of(sched::RankId(r));
    const Rate rate = hosts.scale_up_rate.of(host, node.scale_up.rate);
    const std::string port = fmt::format("{}.{}{}", generated_name(host), kScaleUp, r % node.ranks);
    links.push_back({port + ".out", rate});
    links.push_back({port + ".in", rate});
  }
}

void Wiring::Contents::find_switches(const Platform& platform, std::string_view where) {
  if (!platform.switches.any()) return;
  const std::string known = network->switch_names();
  if (known.empty()) {
    throw Unsupported(
        fmt::format("{}: ranks that are switches of a {}; expected star, two-level or "
                    "fat-tree",
                    where, entry_of(platform.topology).name));
  }
  for (const std::string& name : platform.switches.names) {
    const auto found = network->find_switch(name);
    if (!found) {
      throw InputError(fmt::format("{}: {} is no switch of the network; expected {}", where,
                                   in_quotes(name), known));
    }
    switch_at.push_back(*found);
    switch_name.push_back(name);
  }
}

// A host is half a latency from its switch, so that what a switch passes on takes as long as what
// passes it.
Route Wiring::Contents::switch_route(sched::RankId src, sched::RankId dst) const {
  const auto name = [&](sched::RankId rank) {
    return is_switch(rank) ? switch_name[rank.value - host_ranks] : generated_name(host_of(rank));
  };
  Route route;
  if (src == dst || !network->append_switch_way(place_of(src), place_of(dst), route.links)) {
    throw InputError(
        fmt::format("rank {} on {} to rank {} on {}: no way leads up to a switch and down again; "
                    "expected channels between switches that are above or below each other",
                    src.value, name(src), dst.value, name(dst)));
  }
  const bool between = is_switch(src) && is_switch(dst);
  const std::size_t inner = route.links.size() - (between ? 0 : 1);
  route.latency = way_latency(inner + 1) - latency;
  if (between) return route;
  const Time half = latency / 2;
  route.latency += is_switch(src) ? latency - half : half;
  route.latency += farther(src, dst, route.latency);
  return route;
}

namespace {

// Their sum is the latency between zones.
void check_zone_latency(const Node& node) {
  if (node.zone_latency < sched::kForever - node.memory_latency) return;
  throw InputError("zone_latency: 106 days or more with memory_latency; expected less");
}

}  // namespace

Wiring::Wiring(const Platform& platform, std::uint32_t ranks)
    : contents_(std::make_unique<Contents>()) {
  const std::string where = "platform " + in_quotes(platform.name);
  check_platform(platform, where);
  check_zone_latency(platform.node);
  contents_->node = platform.node;
  contents_->copy_rate = platform.copy_rate;
  contents_->framing = platform.framing;
  contents_->pcie = platform.pcie;
  contents_->hosts = platform.hosts;
  if (platform.switches.count() > ranks) {
    throw InputError(
        fmt::format("{}: {} switches for {} ranks; expected no more switches than ranks", where,
                    platform.switches.count(), ranks));
  }
  contents_->host_ranks = ranks - platform.switches.count();
  const std::uint32_t nodes = platform.node.count_for(contents_->host_ranks);
  const Rails& rails = platform.node.rails;
  require_few_nics(nodes, platform, where);
  contents_->network = entry_of(platform.topology).network(platform, nodes * rails.count);
  contents_->ends = {rails, contents_->network->leaf_hosts()};
  contents_->by_channel = platform.topology.routing.kind == Routing::Kind::kEcmp;
  contents_->sprayed = platform.topology.routing.kind == Routing::Kind::kSpray;
  contents_->adaptive = platform.topology.routing.kind == Routing::Kind::kAdaptive;
  contents_->latency = platform.latency;
  contents_->hop_latency = platform.topology.hop_latency;
  contents_->find_switches(platform, where);
  const std::uint32_t ends = contents_->network->host_count();
  const std::uint32_t hosts = ends / rails.count;
  // A star has as many as a run fills, and its figures are of more.
  if (platform.topology.kind() != TopologyKind::kStar) {
    require_hosts(platform.hosts, hosts, where);
  }
  HostSet set;
  set.count = hosts;
  set.per_unit = contents_->unit_hosts();
  set.find = [hosts](std::string_view name) { return generated_host(name, hosts); };
  set.name_form = hosts > 0 ? fmt::format("host-0 … host-{}", hosts - 1) : "";
  if (platform.node.is_shared()) set.of = "node";
  contents_->host_of_node = place_ranks(platform.placement, nodes, set, where);
  contents_->ranks = ranks;
  std::vector<Link> inner = contents_->network->inner_links();
  contents_->links.reserve(2 * std::size_t{ends} + inner.size());
  contents_->links.resize(2 * std::size_t{ends});
  for (std::uint32_t h = 0; h < hosts; ++h) {
    for (std::uint32_t rail = 0; rail < rails.count; ++rail) {
      const std::string nic = generated_name(h) + nic_suffix(rail, rails);
      const std::size_t end = contents_->ends.of(h, rail);
      const Rate rate = platform.hosts.rate.of(h, platform.rate);
      contents_->links[2 * end] = {nic + ".out", rate};
      contents_->links[2 * end + 1] = {nic + ".in", rate};
    }
  }
  contents_->links.insert(contents_->links.end(), std::make_move_iterator(inner.begin()),
                          std::make_move_iterator(inner.end()));
  contents_->add_scale_up();
}

Wiring::Wiring(std::vector<std::string> host_of_rank, std::vector<Link> links,
               std::vector<FixedRoute> routes, const Node& node, Rate copy_rate,
               const Framing& framing, const Pcie& pcie)
    : contents_(std::make_unique<Contents>()) {
  check_zone_latency(node);
  contents_->node = node;
  contents_->copy_rate = copy_rate;
  contents_->framing = framing;
  contents_->pcie = pcie;
  contents_->ranks = static_cast<std::uint32_t>(host_of_rank.size());
  contents_->host_ranks = contents_->ranks;
  contents_->fixed_names = std::move(host_of_rank);
  contents_->links = std::move(links);
  for (FixedRoute& fixed : routes) {
    contents_->by_channel = contents_->by_channel || fixed.channel.way != 0;
    contents_->fixed.emplace(std::tuple(fixed.src, fixed.dst, fixed.channel),
                             std::move(fixed.route));
  }
}

Wiring Wiring::with(std::vector<Link> links, std::vector<FixedRoute> routes) const {
  std::vector<std::string> hosts;
  for (std::uint32_t r = 0; r < rank_count(); ++r) hosts.push_back(host_name(sched::RankId(r)));
  Wiring changed(std::move(hosts), std::move(links), std::move(routes), node(),
                 contents_->copy_rate, framing(), pcie());
  // Switches stay switches, whose links are ports of their own; and equal ways such, of which
  // channels do not have one each.
  changed.contents_->host_ranks = contents_->host_ranks;
  changed.contents_->switch_name = contents_->switch_name;
  changed.contents_->adaptive = contents_->adaptive;
  if (contents_->adaptive) changed.contents_->by_channel = false;
  return changed;
}

Wiring::~Wiring() = default;
Wiring::Wiring(Wiring&&) noexcept = default;
Wiring& Wiring::operator=(Wiring&&) noexcept = default;

std::uint32_t Wiring::rank_count() const { return contents_->ranks; }

const Node& Wiring::node() const { return contents_->node; }

const Framing& Wiring::framing() const { return contents_->framing; }

const Pcie& Wiring::pcie() const { return contents_->pcie; }

bool Wiring::has_switches() const { return contents_->host_ranks != contents_->ranks; }

bool Wiring::is_switch(sched::RankId rank) const { return contents_->is_switch(rank); }

std::uint32_t Wiring::nic_count() const {
  const std::uint32_t nics = contents_->nics();
  if (contents_->node.scale_up.any()) return nics + contents_->ranks;
  return has_switches() ? nics + static_cast<std::uint32_t>(links().size()) : nics;
}

NicId Wiring::source_nic(sched::RankId src, sched::RankId dst, ChannelNumber channel,
                         const Route& route) const {
  if (contents_->is_switch(src)) return NicId(contents_->host_ranks + route.links.front().value);
  if (route.scale_up) return NicId(contents_->nics() + src.value);
  return contents_->node.nic(src, dst, channel.rail);
}

NicId Wiring::destination_nic(sched::RankId src, sched::RankId dst, ChannelNumber channel,
                              const Route& route) const {
  if (contents_->is_switch(dst)) return NicId(contents_->host_ranks + route.links.back().value);
  if (route.scale_up) return NicId(contents_->nics() + dst.value);
  return contents_->node.nic(dst, src, channel.rail);
}

bool Wiring::is_scale_up_port(NicId nic) const {
  return contents_->node.scale_up.any() && nic.value >= contents_->nics();
}

bool Wiring::is_switch_port(NicId nic) const {
  return has_switches() && nic.value >= contents_->host_ranks;
}

std::string Wiring::host_name(sched::RankId rank) const {
  if (contents_->is_switch(rank)) return contents_->switch_name[rank.value - contents_->host_ranks];
  return contents_->network ? generated_name(contents_->host_of(rank))
                            : contents_->fixed_names[rank.value];
}

std::uint32_t Wiring::rack(sched::RankId rank) const {
  if (!contents_->network || contents_->is_switch(rank)) return 0;
  return contents_->host_of(rank) / contents_->unit_hosts();
}

std::string Wiring::nic_name(NicId nic) const {
  if (is_switch_port(nic)) return links()[nic.value - contents_->host_ranks].name;
  const Node& node = contents_->node;
  if (is_scale_up_port(nic)) {
    const sched::RankId rank(nic.value - contents_->nics());
    return fmt::format("{}.{}{}", host_name(rank), kScaleUp, rank.value % node.ranks);
  }
  const std::uint32_t machine = nic.value / node.rails.count;
  return host_name(sched::RankId(machine * node.ranks)) +
         nic_suffix(nic.value % node.rails.count, node.rails);
}

bool Wiring::is_by_channel() const { return contents_->by_channel; }

bool Wiring::is_adaptive() const { return contents_->adaptive; }

std::uint32_t Wiring::way_count(sched::RankId src, sched::RankId dst, ChannelNumber channel) const {
  const Node& node = contents_->node;
  if (!is_adaptive() || is_switch(src) || is_switch(dst) || node.is_local(src, dst)) return 1;
  if (contents_->network) {
    return contents_->network->way_count(contents_->end_of(node.nic(src, dst, channel.rail)),
                                         contents_->end_of(node.nic(dst, src, channel.rail)));
  }
  std::uint32_t ways = 1;
  while (contents_->fixed.contains({src, dst, ChannelNumber{ways, channel.rail}})) ++ways;
  return ways;
}

std::span<const Link> Wiring::links() const { return contents_->links; }

// By comparing all: names are asked for a few times in a run, and an index would cost more than the
// network itself.
std::optional<LinkId> Wiring::find_link(std::string_view name) const {
  const auto& links = contents_->links;
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.name == name; });
  if (found == links.end()) return std::nullopt;
  return LinkId(static_cast<std::uint32_t>(found - links.begin()));
}

Route Wiring::route(sched::RankId src, sched::RankId dst, ChannelNumber channel) const {
  if (contents_->network && (contents_->is_switch(src) || contents_->is_switch(dst))) {
    return contents_->switch_route(src, dst);
  }
  const Node& node = contents_->node;
  if (node.is_local(src, dst) && !node.scales_up(src, dst)) {
    return {{}, node.latency(src, dst), true, contents_->copy_rate};
  }
  if (contents_->network && node.scales_up(src, dst)) {
    Route route;
    route.links = {LinkId(contents_->first_scale_up + 2 * src.value),
                   LinkId(contents_->first_scale_up + 2 * dst.value + 1)};
    route.latency = node.scale_up.latency;
    route.scale_up = true;
    return route;
  }
  if (contents_->network) {
    const NicId src_nic = node.nic(src, dst, channel.rail);
    const NicId dst_nic = node.nic(dst, src, channel.rail);
    const std::uint32_t from = contents_->end_of(src_nic);
    const std::uint32_t to = contents_->end_of(dst_nic);
    Route route;
    route.links.push_back(LinkId(2 * from));
    std::size_t hops = 0;
    if (from != to && contents_->sprayed) {
      route.parts_on.push_back(0);
      const Network::Spray spray =
          contents_->network->append_all_ways(from, to, route.links, route.parts_on);
      hops = spray.hops;
      std::uint32_t together = spray.parts;  // that pass the same links everywhere
      for (const std::uint32_t parts : route.parts_on) together = std::gcd(together, parts);
      for (std::uint32_t& parts : route.parts_on) parts /= together;
      route.parts = spray.parts / together;
      route.parts_on.front() = route.parts;
      route.parts_on.push_back(route.parts);
    } else if (from != to) {
      contents_->network->append_way({from, to, channel.way}, route.links);
      hops = route.links.size() - 1;
    }
    route.links.push_back(LinkId(2 * to + 1));
    route.latency = contents_->way_latency(hops + 1);
    route.latency += contents_->numa_hops(src, src_nic, dst, dst_nic, route.latency);
    route.latency += contents_->farther(src, dst, route.latency);
    return route;
  }
  const auto found = contents_->fixed.find({src, dst, channel});
  if (found == contents_->fixed.end()) {
    throw InternalError(
        fmt::format("no route is known from rank {} to rank {}", src.value, dst.value));
  }
  return found->second;
}

}  // namespace slackline::machine
