#include "hw/testbed/switch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "sched/ids.h"

namespace slackline::hw {
namespace {

using machine::LinkId;
using machine::Route;
using machine::Wiring;
using sched::RankId;

// Finds the tree from its leaves. A *unit* is a host at first. All of its ways begin with one link
// and end with another: its cable. Units whose ways to each other have no further links are on one
// switch. Each switch with all that is below it is a unit of the next round, whose cable is one
// link further in. The round in which one unit is left is the last.
class TreeFinder {
 public:
  explicit TreeFinder(const Wiring& wiring) : wiring_(wiring), count_(wiring.rank_count()) {
    if (count_ < 2) throw InputError(fmt::format("{} host; a network has at least two", count_));
    for (std::uint32_t src = 0; src < count_; ++src) {
      for (std::uint32_t dst = 0; dst < count_; ++dst) add_route(src, dst);
    }
  }

  SwitchTree find() {
    std::vector<Unit> units;
    for (std::uint32_t host = 0; host < count_; ++host) {
      units.push_back({{host}, {}});
      tree_.hosts.push_back({host_name(host), 0, {}});
    }
    for (std::size_t round = 0;; ++round) {
      for (Unit& unit : units) unit.cable = cable_of(unit, round);
      std::vector<Unit> above = joined(units, round);
      if (above.size() == 1) break;
      units = std::move(above);
    }
    share_out_latency();
    return std::move(tree_);
  }

 private:
  struct Unit {
    std::vector<std::uint32_t> hosts;
    SwitchTree::Cable cable;
    std::optional<std::uint32_t> top = {};  // its highest switch; none: it is a host
  };

  std::string host_name(std::uint32_t host) const { return wiring_.host_name(RankId(host)); }
  const Route& route(std::uint32_t src, std::uint32_t dst) const {
    return routes_[std::size_t{src} * count_ + dst];
  }
  std::string pair(std::uint32_t src, std::uint32_t dst) const {
    return fmt::format("from {} to {}", host_name(src), host_name(dst));
  }
  [[noreturn]] static void refuse(const std::string& why) {
    throw Unsupported(
        fmt::format("{}; expected a tree of switches, with a host at each leaf", why));
  }

  void add_route(std::uint32_t src, std::uint32_t dst) {
    routes_.emplace_back();
    if (src == dst) return;
    Route& way = routes_.back();
    way = wiring_.route(RankId(src), RankId(dst));
    if (way.local) refuse(fmt::format("ranks {} and {} share a machine", src, dst));
    for (const LinkId link : way.links) {
      if (!wiring_.links()[link.value].shared) {
        refuse(fmt::format("link {} gives every message its whole rate", name_of(link)));
      }
    }
  }

  const std::string& name_of(LinkId link) const { return wiring_.links()[link.value].name; }

  LinkId link_at(std::uint32_t src, std::uint32_t dst, std::size_t round, bool first) const {
    const std::vector<LinkId>& links = route(src, dst).links;
    if (links.size() < 2 * (round + 1)) {
      refuse(fmt::format("the way {} passes {} links, and others of theirs pass more",
                         pair(src, dst), links.size()));
    }
    return first ? links[round] : links[links.size() - 1 - round];
  }

  // The one link that all ways out of the unit pass there, or all ways into it.
  LinkId only_link(const Unit& unit, std::size_t round, bool out) {
    std::optional<LinkId> only;
    for (const std::uint32_t near : unit.hosts) {
      for (std::uint32_t far = 0; far < count_; ++far) {
        if (std::ranges::binary_search(unit.hosts, far)) continue;
        const LinkId link =
            out ? link_at(near, far, round, true) : link_at(far, near, round, false);
        if (only && *only != link) {
          refuse(fmt::format("there are several ways {}: by link {} and by link {}",
                             out ? "out of " + host_name(near) : "into " + host_name(near),
                             name_of(*only), name_of(link)));
        }
        only = link;
      }
    }
    if (!taken_.insert(*only).second) {
      refuse(fmt::format("link {} serves several hosts or switches, or both directions",
                         name_of(*only)));
    }
    return *only;
  }

  SwitchTree::Cable cable_of(const Unit& unit, std::size_t round) {
    const auto rate = [&](LinkId link) { return wiring_.links()[link.value].rate; };
    const LinkId up = only_link(unit, round, true);
    return {rate(up), rate(only_link(unit, round, false)), sched::Time(0)};
  }

  bool are_joined(std::uint32_t src, std::uint32_t dst, std::size_t round) const {
    return route(src, dst).links.size() == 2 * (round + 1);
  }

  // Units on one switch become one.
  std::vector<Unit> joined(std::vector<Unit>& units, std::size_t round) {
    std::vector<Unit> all;
    std::optional<sched::Time> latency;
    std::vector<std::uint32_t> on(units.size());
    for (std::size_t u = 0; u < units.size(); ++u) {
      const std::uint32_t host = units[u].hosts.front();
      const auto found = std::ranges::find_if(
          all, [&](const Unit& other) { return are_joined(host, other.hosts.front(), round); });
      on[u] = static_cast<std::uint32_t>(found - all.begin());
      if (found == all.end()) {
        all.push_back({{}, {}, static_cast<std::uint32_t>(tree_.switches.size())});
        tree_.switches.emplace_back();
        made_in_.push_back(round);
      }
      Unit& above = all[on[u]];
      check_joined(units[u], above, round, latency);
      above.hosts.insert(above.hosts.end(), units[u].hosts.begin(), units[u].hosts.end());
      std::ranges::sort(above.hosts);
    }
    if (latency) below_ = *latency;
    latency_of_round_.push_back(latency);
    for (std::size_t u = 0; u < units.size(); ++u) plug_in(units[u], *all[on[u]].top);
    return all;
  }

  // All ways between the unit and those that are on the switch already end there, and take as long
  // as others of this round.
  void check_joined(const Unit& unit, const Unit& above, std::size_t round,
                    std::optional<sched::Time>& latency) const {
    for (const std::uint32_t one : unit.hosts) {
      for (const std::uint32_t other : above.hosts) {
        for (const auto& [src, dst] : {std::pair{one, other}, std::pair{other, one}}) {
          if (!are_joined(src, dst, round)) {
            refuse(fmt::format("the way {} passes {} links, and others of theirs pass {}",
                               pair(src, dst), route(src, dst).links.size(), 2 * (round + 1)));
          }
          const sched::Time own = route(src, dst).latency;
          if (!latency) latency = own;
          if (own != *latency || own < below_) {
            refuse(
                fmt::format("the latency {} is {}, and that of ways of as many or fewer "
                            "switches is {}",
                            pair(src, dst), sched::format_time(own),
                            sched::format_time(own < below_ ? below_ : *latency)));
          }
        }
      }
    }
  }

  void plug_in(const Unit& unit, std::uint32_t above) {
    if (unit.top) {
      tree_.switches[*unit.top].above = above;
      tree_.switches[*unit.top].cable = unit.cable;
    } else {
      SwitchTree::Host& host = tree_.hosts[unit.hosts.front()];
      host.on = above;
      host.cable = unit.cable;
    }
  }

  // Hosts have what the nearest others are away, and each switch's cable what the next ones are
  // further.
  void share_out_latency() {
    std::optional<sched::Time> before;
    for (std::size_t round = 0; round < latency_of_round_.size(); ++round) {
      const std::optional<sched::Time> here = latency_of_round_[round];
      if (!here) continue;
      if (!before) {
        for (SwitchTree::Host& host : tree_.hosts) host.cable.latency = *here;
      } else {
        for (std::size_t s = 0; s < tree_.switches.size(); ++s) {
          if (made_in_[s] + 1 == round) tree_.switches[s].cable.latency = *here - *before;
        }
      }
      before = here;
    }
  }

  const Wiring& wiring_;
  std::uint32_t count_;
  std::vector<Route> routes_;
  std::set<LinkId> taken_;
  SwitchTree tree_;
  std::vector<std::size_t> made_in_;  // the round of each switch
  // Between hosts that met there; none where no hosts did.
  std::vector<std::optional<sched::Time>> latency_of_round_;
  sched::Time below_{0};  // the last of those
};

}  // namespace

SwitchTree switch_tree(const Wiring& wiring) { return TreeFinder(wiring).find(); }

}  // namespace slackline::hw
