// What every topology comes to: hosts, the links between its switches, and the way through them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/wiring.h"

namespace slackline::machine {

inline constexpr std::uint32_t kMaxSprayParts = 4096;
inline constexpr std::uint32_t kMaxAdaptiveWays = 256;

/// Hosts are numbered from 0. Link 2h is what host h's NIC sends over, 2h + 1 what it receives
/// over; the inner links, from switch to switch, follow. A host has one NIC here: a machine of
/// several stands for as many (machine/rails.h says which).
class Network {
 public:
  virtual ~Network() = default;

  virtual std::uint32_t host_count() const = 0;
  /// The hosts of a rack, a leaf switch or a group, which are numbered one after another: what
  /// round-robin placement deals ranks over. Divides host_count().
  virtual std::uint32_t unit_hosts() const = 0;
  /// The hosts of one switch, which are numbered one after another. Divides unit_hosts().
  virtual std::uint32_t leaf_hosts() const { return unit_hosts(); }
  /// In the order of their ids, the first being 2 × host_count().
  virtual std::vector<Link> inner_links() const = 0;
  /// Messages from one host to another over the `channel`-th of the channels there, from 0 on.
  struct Flow {
    std::uint32_t src;
    std::uint32_t dst;
    // Matters to Kind::kEcmp alone; with kAdaptive it is the number of one of way_count() ways.
    std::uint32_t channel = 0;
  };
  /// Appends the inner links of the flow's way, in order. Costs O(their number).
  virtual void append_way(Flow flow, std::vector<LinkId>& way) const = 0;

  /// How many equally short ways there are between two hosts, at most kMaxAdaptiveWays: of
  /// Kind::kAdaptive alone.
  virtual std::uint32_t way_count(std::uint32_t, std::uint32_t) const { return 1; }

  /// A switch that a rank can be, by its name; nothing if there is none of that name. Where a
  /// network has such switches, they are numbered by it.
  virtual std::optional<std::uint32_t> find_switch(std::string_view) const { return std::nullopt; }
  /// "rack-0 … rack-3 or core", for errors; empty if no rank can be a switch.
  virtual std::string switch_names() const { return {}; }
  /// Where a way begins or ends.
  struct Place {
    bool is_switch = false;
    std::uint32_t number = 0;
  };
  /// Appends all links of the way between two places, those of NICs included, in order. At least
  /// one of them is a switch, and they are not the same. False if no way leads up and then down.
  virtual bool append_switch_way(Place, Place, std::vector<LinkId>&) const { return false; }

  /// A message that is sprayed: of `parts` equal parts, each passes `hops` inner links.
  struct Spray {
    std::uint32_t parts = 1;
    std::size_t hops = 0;
  };
  /// Appends the inner links of all equally short ways, each once, to `links`, and how many of the
  /// message's parts pass each to `parts`, which is as long. At most kMaxSprayParts parts. Links
  /// stand in the order of hops: those that are the first of a way, then those that are the second…
  virtual Spray append_all_ways(std::uint32_t src, std::uint32_t dst, std::vector<LinkId>& links,
                                std::vector<std::uint32_t>& parts) const {
    const std::size_t before = links.size();
    append_way({src, dst}, links);
    parts.resize(links.size(), 1);
    return {1, links.size() - before};
  }

 protected:
  LinkId inner(std::uint32_t index) const { return LinkId(2 * host_count() + index); }
};

}  // namespace slackline::machine
