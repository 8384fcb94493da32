// A platform's network as links and routes: what the ranks of one run are joined by.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/platform.h"
#include "sched/ids.h"

namespace slackline::machine {

using LinkId = sched::Id<struct LinkTag>;

/// One direction of a cable, or of a bundle of parallel ones that share the load.
struct Link {
  std::string name;    // "host-3.out", "rack-2.up"; unique
  Rate rate;           // > 0
  bool shared = true;  // false: every message gets the whole rate (SimGrid's fat pipe)
};

struct Route {
  std::vector<LinkId> links;  // in the order they are passed, NICs included; none if local
  Time latency{0};            // one way, from NIC to NIC or from rank to rank
  bool local = false;         // through the memory of a machine that both ranks are on, …
  Rate copy_rate{};           // …which has this rate
  bool scale_up = false;      // over its scale-up network, from port to port
  // Of messages that are sprayed over several ways, all of whose links stand in `links`, each once:
  std::uint32_t parts = 1;                   // how many equal parts they have, and…
  std::vector<std::uint32_t> parts_on = {};  // …how many pass each link; empty: all
};

/// Which of the channels from one rank to another, so far as it matters to their ways.
struct ChannelNumber {
  std::uint32_t way = 0;   // counted from 0, if the wiring is by channel or adaptive, else 0
  std::uint32_t rail = 0;  // of numbers_for_rails()
  friend auto operator<=>(const ChannelNumber&, const ChannelNumber&) = default;
};

/// Immutable; routes are computed when they are asked for, so that a large network costs no more
/// than its links.
class Wiring {
 public:
  /// Lays out the platform's topology and places the ranks, or the nodes of several ranks that they
  /// fill in order, on its hosts. Host h's NIC sends over link 2h, "host-h.out", and receives over
  /// link 2h + 1, "host-h.in". Of several NICs a host, NIC n of host h is "host-h.nic-n", and
  /// machine/rails.h says which of the network's ends it is. A way's latency is the platform's, and
  /// its hop latency for each switch after the first. Of a scale-up network the k-th rank of host h
  /// sends over "host-h.scale-up-k.out", and receives over the link after it. Throws InputError if
  /// the ranks cannot be placed (more than hosts, or a bad placement file) or the topology's
  /// figures make no network, Unsupported for a topology that only SimGrid can read. The last ranks
  /// are switches, if the platform says so (machine/switches.h); the others fill the hosts. A way
  /// from a host to a switch, or back, has half of the latency, and any way the hop latency for
  /// each link that lies between two switches. Throws Unsupported for switches that the topology
  /// has no names for, InputError for a name that it does not have.
  Wiring(const Platform& platform, std::uint32_t ranks);
  /// Links and routes that somebody else found out. `routes` holds those that will be asked for.
  struct FixedRoute {
    sched::RankId src;
    sched::RankId dst;
    Route route;
    ChannelNumber channel = {};
  };
  /// Local routes need not be told: `node` and `copy_rate` say them.
  Wiring(std::vector<std::string> host_of_rank, std::vector<Link> links,
         std::vector<FixedRoute> routes, const Node& node = {}, Rate copy_rate = {},
         const Framing& framing = {}, const Pcie& pcie = {});
  /// The same hosts, machines, framing and PCIe with these links and routes.
  Wiring with(std::vector<Link> links, std::vector<FixedRoute> routes) const;
  ~Wiring();
  Wiring(Wiring&&) noexcept;
  Wiring& operator=(Wiring&&) noexcept;

  std::uint32_t rank_count() const;
  const Node& node() const;
  /// Whether some ranks are switches, and whether that one is.
  bool has_switches() const;
  bool is_switch(sched::RankId rank) const;
  /// The NICs that ranks' channels take, and after them the ports of a scale-up network, one for
  /// each rank, or those of switches: each link that a switch sends or receives over is a port of
  /// its own. Of the ends of a route.
  std::uint32_t nic_count() const;
  NicId source_nic(sched::RankId src, sched::RankId dst, ChannelNumber channel,
                   const Route& route) const;
  NicId destination_nic(sched::RankId src, sched::RankId dst, ChannelNumber channel,
                        const Route& route) const;
  /// A port of a scale-up network.
  bool is_scale_up_port(NicId nic) const;
  /// A port of a switch, which keeps no gap.
  bool is_switch_port(NicId nic) const;
  /// Of every link.
  const Framing& framing() const;
  /// Of every NIC.
  const Pcie& pcie() const;
  /// The name of the host that a rank is on, or of the switch that it is.
  std::string host_name(sched::RankId rank) const;
  /// The rack, leaf switch or group that a rank's host is in, as the topology numbers them; 0 where
  /// nobody said, and of a switch.
  std::uint32_t rack(sched::RankId rank) const;
  std::span<const Link> links() const;
  /// "host-3", or "host-3.nic-1" where hosts have several; "host-3.scale-up-0"; of a switch's port,
  /// the link's.
  std::string nic_name(NicId nic) const;
  /// Nothing if no link has that name.
  std::optional<LinkId> find_link(std::string_view name) const;
  /// Whether two channels from one rank to another may have different ways, as with ECMP.
  bool is_by_channel() const;
  /// Whether a message takes one of several equally short ways when it starts, and how many there
  /// are over that channel: ChannelNumber::way is one's number then.
  bool is_adaptive() const;
  std::uint32_t way_count(sched::RankId src, sched::RankId dst, ChannelNumber channel) const;
  /// The way of a message from src to dst over that channel. A rank's way to itself passes its own
  /// NIC, out and in, unless the rank shares its machine. Throws InternalError for a fixed wiring
  /// that was not told this route, and InputError for a way from a switch to itself, or between
  /// switches that no way up and then down joins.
  Route route(sched::RankId src, sched::RankId dst, ChannelNumber channel = {}) const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace slackline::machine
