#include "hw/testbed/switch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"
#include "sched/ids.h"

namespace slackline::hw {
namespace {

using machine::LinkId;
using machine::Route;
using machine::Wiring;
using sched::RankId;

// Takes the network for a tree, and then looks whether it is that one.
//
// The last switch is the one in the middle of a longest way, from host `one_` to host `other_`. The
// ways from a host to these two have their first links in common, as far as the switch where the
// host's branch meets the longest way. Where that lies says which of the two is across the last
// switch, and how many links of the way to it go up: the host's *climb*. The last links of the way
// back, from the last one on, are their cables' other direction. Below each link that is not a
// host's is a switch.
//
// What was found is right if every way is the tree's. So a network that is no tree needs no other
// test than that, and that no link has two places.
class TreeFinder {
 public:
  explicit TreeFinder(const Wiring& wiring) : wiring_(wiring), count_(wiring.rank_count()) {
    if (count_ < 2) throw InputError(fmt::format("{} host; a network has at least two", count_));
    for (std::uint32_t src = 0; src < count_; ++src) {
      for (std::uint32_t dst = 0; dst < count_; ++dst) add_route(src, dst);
    }
  }

  SwitchTree find() {
    const auto longest =
        std::ranges::max_element(routes_, {}, [](const Route& way) { return way.links.size(); });
    one_ = static_cast<std::uint32_t>((longest - routes_.begin()) / count_);
    other_ = static_cast<std::uint32_t>((longest - routes_.begin()) % count_);
    for (std::uint32_t host = 0; host < count_; ++host) place(host);
    for (std::uint32_t src = 0; src < count_; ++src) {
      for (std::uint32_t dst = 0; dst < count_; ++dst) {
        if (src != dst) check_way(src, dst);
      }
    }
    return tree();
  }

 private:
  static constexpr std::size_t kLast = 0;  // of nodes_: the last switch

  struct Node {
    std::size_t above = kLast;
    std::size_t depth = 0;
    LinkId up, down;
    bool is_host = false;
  };
  struct Climb {
    std::vector<LinkId> up;
    std::vector<LinkId> down;  // of the same cables
  };

  std::string host_name(std::uint32_t host) const { return wiring_.host_name(RankId(host)); }
  const std::string& name_of(LinkId link) const { return wiring_.links()[link.value].name; }
  const std::vector<LinkId>& links(std::uint32_t src, std::uint32_t dst) const {
    return routes_[std::size_t{src} * count_ + dst].links;
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
    if (way.parts > 1) {
      refuse(fmt::format("messages from {} to {} are sprayed over several ways", host_name(src),
                         host_name(dst)));
    }
    for (const LinkId link : way.links) {
      if (!wiring_.links()[link.value].shared) {
        refuse(fmt::format("link {} gives every message its whole rate", name_of(link)));
      }
    }
  }

  // Where the host's branch leaves the longest way: how many links from host `one_`.
  std::size_t branches_at(std::uint32_t host, std::size_t in_common) const {
    const std::size_t length = links(one_, other_).size();
    const std::size_t along = links(host, other_).size() - in_common;
    return along > length ? 0 : length - along;
  }

  Climb climb_of(std::uint32_t host) const {
    const std::size_t length = links(one_, other_).size(), half = length / 2;
    std::uint32_t across = host == one_ ? other_ : one_;
    std::size_t steps = host == one_ ? half : length - half;
    if (host != one_ && host != other_) {
      const std::vector<LinkId>&to_one = links(host, one_), &to_other = links(host, other_);
      const auto in_common =
          static_cast<std::size_t>(std::ranges::mismatch(to_one, to_other).in1 - to_one.begin());
      const std::size_t at = branches_at(host, in_common);
      across = at <= half ? other_ : one_;
      steps = in_common + (at <= half ? half - at : at - half);
    }
    const std::vector<LinkId>&out = links(host, across), &in = links(across, host);
    if (steps == 0 || steps >= out.size() || steps >= in.size()) {
      refuse(fmt::format("the ways between {} and {} pass {} and {} links, and others' more",
                         host_name(host), host_name(across), out.size(), in.size()));
    }
    const auto count = static_cast<std::ptrdiff_t>(steps);
    return {{out.begin(), out.begin() + count}, {in.rbegin(), in.rbegin() + count}};
  }

  LinkId taken(LinkId link) {
    if (!taken_.insert(link).second) {
      refuse(fmt::format("link {} serves several hosts or switches, or both directions",
                         name_of(link)));
    }
    return link;
  }

  // The host, and the switches below the last one that its climb passes.
  void place(std::uint32_t host) {
    const Climb climb = climb_of(host);
    std::size_t above = kLast;
    for (std::size_t step = climb.up.size(); step-- > 0;) {
      const auto known = below_.find(climb.up[step]);
      if (step > 0 && known != below_.end()) {
        above = known->second;
        continue;
      }
      const LinkId up = taken(climb.up[step]);
      const LinkId down = taken(climb.down[step]);
      nodes_.push_back({above, nodes_[above].depth + 1, up, down, step == 0});
      above = nodes_.size() - 1;
      if (step > 0) below_.emplace(up, above);
    }
    node_of_.push_back(above);
  }

  // That the network's way is the tree's.
  void check_way(std::uint32_t src, std::uint32_t dst) const {
    std::vector<LinkId> way, down;
    std::size_t one = node_of_[src], other = node_of_[dst];
    while (one != other) {
      if (nodes_[one].depth >= nodes_[other].depth) {
        way.push_back(nodes_[one].up);
        one = nodes_[one].above;
      } else {
        down.push_back(nodes_[other].down);
        other = nodes_[other].above;
      }
    }
    const std::size_t up = way.size();
    way.insert(way.end(), down.rbegin(), down.rend());
    const std::vector<LinkId>& real = links(src, dst);
    if (real.size() != way.size()) {
      refuse(
          fmt::format("the way from {} to {} passes {} links, and by others' ways it would pass {}",
                      host_name(src), host_name(dst), real.size(), way.size()));
    }
    const auto [found, expected] = std::ranges::mismatch(real, way);
    if (found == real.end()) return;
    const bool out = static_cast<std::size_t>(expected - way.begin()) < up;
    refuse(fmt::format("there are several ways {} {}: by link {} and by link {}",
                       out ? "out of" : "into", host_name(out ? src : dst), name_of(*expected),
                       name_of(*found)));
  }

  // Switches that are further down come first; the last switch comes last.
  SwitchTree tree() const {
    std::vector<std::size_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t n) { return nodes_[n].depth; });
    std::erase_if(order, [&](std::size_t n) { return nodes_[n].is_host; });
    std::vector<std::uint32_t> number(nodes_.size());
    for (std::uint32_t s = 0; s < order.size(); ++s) number[order[s]] = s;
    const auto rate = [&](LinkId link) { return wiring_.links()[link.value].rate; };
    const auto cable = [&](const Node& node) {
      return SwitchTree::Cable{rate(node.up), rate(node.down)};
    };
    SwitchTree tree;
    for (const std::size_t n : order) {
      tree.switches.emplace_back();
      if (n == kLast) continue;
      tree.switches.back() = {number[nodes_[n].above], cable(nodes_[n])};
    }
    for (std::uint32_t host = 0; host < count_; ++host) {
      const Node& node = nodes_[node_of_[host]];
      tree.hosts.push_back({host_name(host), number[node.above], cable(node)});
      for (std::uint32_t to = 0; to < count_; ++to) {
        tree.hosts.back().latency_to.push_back(routes_[std::size_t{host} * count_ + to].latency);
      }
    }
    return tree;
  }

  const Wiring& wiring_;
  std::uint32_t count_;
  std::vector<Route> routes_;
  std::uint32_t one_ = 0, other_ = 0;  // of a longest way
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<std::size_t> node_of_;     // of hosts
  std::map<LinkId, std::size_t> below_;  // a switch, by the link that goes up from it
  std::set<LinkId> taken_;
};

}  // namespace

SwitchTree switch_tree(const Wiring& wiring) {
  if (wiring.framing() != machine::Framing{}) {
    throw Unsupported(
        "mtu, packet_overhead and coding: a testbed has packets of its own, and its rates are what "
        "messages get; expected a platform without them");
  }
  if (wiring.pcie().limits()) {
    throw Unsupported(
        "pcie_rate: a testbed has no NICs beside its interfaces; expected a platform without it");
  }
  if (wiring.node().rails.are_several()) {
    throw Unsupported(
        "rails: the hosts of a testbed have one interface each; expected a platform with rails=1");
  }
  if (wiring.node().scale_up.any()) {
    throw Unsupported(
        "scale_up_rate: the hosts of a testbed have one interface each, and no network within; "
        "expected a platform without it");
  }
  if (wiring.has_switches()) {
    throw Unsupported(
        "switches: those of a testbed forward and nothing else; expected a platform without the "
        "figure switches");
  }
  if (wiring.is_by_channel()) {
    throw Unsupported(
        "routing=ecmp: a testbed is a tree of switches, with one way between two hosts; expected "
        "another routing");
  }
  if (wiring.is_adaptive()) {
    throw Unsupported(
        "routing=adaptive: a testbed is a tree of switches, with one way between two hosts; "
        "expected "
        "another routing");
  }
  return TreeFinder(wiring).find();
}

}  // namespace slackline::hw
