#include "machine/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "machine/input_text.h"
#include "machine/network.h"
#include "machine/placement.h"
#include "machine/platform_figures.h"
#include "machine/topology/checks.h"
#include "machine/topology_entry.h"

namespace slackline::machine {

namespace {

std::string nic_suffix(std::uint32_t rail, const Rails& rails) {
  return rails.are_several() ? fmt::format(".nic-{}", rail) : std::string();
}

std::string generated_name(std::uint32_t host) { return fmt::format("host-{}", host); }

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
  std::uint32_t ranks = 0;
  std::vector<std::string> fixed_names;
  std::map<std::tuple<sched::RankId, sched::RankId, ChannelNumber>, Route> fixed;
  std::vector<Link> links;
  Time latency{0};
  Time hop_latency{0};
  Node node;
  Rate copy_rate;
  Framing framing;

  std::uint32_t host_of(sched::RankId rank) const { return host_of_node[node.of(rank)]; }
  // Of the network.
  std::uint32_t end_of(NicId nic) const {
    return ends.of(host_of_node[nic.value / ends.rails.count], nic.value % ends.rails.count);
  }

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
  check_topology(platform, where);
  check_zone_latency(platform.node);
  contents_->node = platform.node;
  contents_->copy_rate = platform.copy_rate;
  contents_->framing = platform.framing;
  const std::uint32_t nodes = platform.node.count_for(ranks);
  const Rails& rails = platform.node.rails;
  require_few_nics(nodes, platform, where);
  contents_->network = entry_of(platform.topology).network(platform, nodes * rails.count);
  contents_->ends = {rails, contents_->network->leaf_hosts()};
  contents_->by_channel = platform.topology.routing.kind == Routing::Kind::kEcmp;
  contents_->sprayed = platform.topology.routing.kind == Routing::Kind::kSpray;
  contents_->latency = platform.latency;
  contents_->hop_latency = platform.topology.hop_latency;
  const std::uint32_t ends = contents_->network->host_count();
  const std::uint32_t hosts = ends / rails.count;
  HostSet set;
  set.count = hosts;
  set.per_unit = contents_->unit_hosts();
  set.find = [hosts](std::string_view name) { return generated_host(name, hosts); };
  set.name_form = hosts > 0 ? fmt::format("host-0 … host-{}", hosts - 1) : "";
  if (platform.node.is_shared()) set.of = "node";
  contents_->host_of_node = place_ranks(platform.placement, nodes, set, where);
  contents_->ranks = ranks;
  const std::vector<Link> inner = contents_->network->inner_links();
  contents_->links.resize(2 * std::size_t{ends});
  for (std::uint32_t h = 0; h < hosts; ++h) {
    for (std::uint32_t rail = 0; rail < rails.count; ++rail) {
      const std::string nic = generated_name(h) + nic_suffix(rail, rails);
      const std::size_t end = contents_->ends.of(h, rail);
      contents_->links[2 * end] = {nic + ".out", platform.rate};
      contents_->links[2 * end + 1] = {nic + ".in", platform.rate};
    }
  }
  contents_->links.insert(contents_->links.end(), inner.begin(), inner.end());
}

Wiring::Wiring(std::vector<std::string> host_of_rank, std::vector<Link> links,
               std::vector<FixedRoute> routes, const Node& node, Rate copy_rate,
               const Framing& framing)
    : contents_(std::make_unique<Contents>()) {
  check_zone_latency(node);
  contents_->node = node;
  contents_->copy_rate = copy_rate;
  contents_->framing = framing;
  contents_->ranks = static_cast<std::uint32_t>(host_of_rank.size());
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
  return {std::move(hosts), std::move(links),     std::move(routes),
          node(),           contents_->copy_rate, framing()};
}

Wiring::~Wiring() = default;
Wiring::Wiring(Wiring&&) noexcept = default;
Wiring& Wiring::operator=(Wiring&&) noexcept = default;

std::uint32_t Wiring::rank_count() const { return contents_->ranks; }

const Node& Wiring::node() const { return contents_->node; }

const Framing& Wiring::framing() const { return contents_->framing; }

std::string Wiring::host_name(sched::RankId rank) const {
  return contents_->network ? generated_name(contents_->host_of(rank))
                            : contents_->fixed_names[rank.value];
}

std::uint32_t Wiring::rack(sched::RankId rank) const {
  if (!contents_->network) return 0;
  return contents_->host_of(rank) / contents_->unit_hosts();
}

std::string Wiring::nic_name(NicId nic) const {
  const Node& node = contents_->node;
  const std::uint32_t machine = nic.value / node.rails.count;
  return host_name(sched::RankId(machine * node.ranks)) +
         nic_suffix(nic.value % node.rails.count, node.rails);
}

bool Wiring::is_by_channel() const { return contents_->by_channel; }

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
  const Node& node = contents_->node;
  if (node.is_local(src, dst)) return {{}, node.latency(src, dst), true, contents_->copy_rate};
  if (contents_->network) {
    const std::uint32_t from = contents_->end_of(node.nic(src, dst, channel.rail));
    const std::uint32_t to = contents_->end_of(node.nic(dst, src, channel.rail));
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
