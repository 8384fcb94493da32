#include "machine/topology/fat_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "base/number.h"
#include "machine/topology/checks.h"
#include "machine/topology/figures.h"
#include "machine/topology/routing.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

constexpr std::uint32_t kMaxArity = 160;  // 1,024,000 hosts

std::uint32_t cables(const FatTree& tree, std::size_t level) {
  return tree.parallel.empty() ? 1 : tree.parallel[level];
}

// A node of level l is labelled by one digit per level. Those below l count switches (radix `up`),
// the others count nodes (radix `down`); the number of a node in its level is its label, with the
// first digit varying fastest. Neighbours differ in the digit between their levels alone.
class FatTreeNetwork final : public Network {
 public:
  explicit FatTreeNetwork(const Platform& platform)
      : rate_(cable_rate(platform)), routing_(platform.topology.routing) {
    const auto& tree = shape_of<FatTree>(platform);
    std::uint32_t below = 1;     // hosts under a switch of the level
    std::uint32_t switches = 1;  // that have the same hosts under them
    hosts_ = 1;
    for (const std::uint32_t down : tree.down) hosts_ *= down;
    std::uint32_t links = 0;
    for (std::size_t l = 0; l < tree.down.size(); ++l) {
      Level level;
      level.hosts = below;
      level.switches = switches;
      level.up = tree.up[l];
      level.ports = tree.up[l] * cables(tree, l);
      level.first_link = links;
      if (l > 0) links += 2 * hosts_ / below * switches * level.ports;
      levels_.push_back(level);
      below *= tree.down[l];
      switches *= tree.up[l];
    }
    link_count_ = links;
    last_switches_ = switches;
    leaf_hosts_ = tree.down[0];
  }
  std::uint32_t host_count() const override { return hosts_; }
  std::uint32_t unit_hosts() const override { return leaf_hosts_; }

  std::vector<Link> inner_links() const override {
    std::vector<Link> links;
    links.reserve(link_count_);
    for (std::size_t l = 1; l < levels_.size(); ++l) {
      const Level& level = levels_[l];
      for (std::uint32_t n = 0; n < hosts_ / level.hosts * level.switches; ++n) {
        const std::string node = fmt::format("{}{}-{}", kSwitch, l, n);
        for (std::uint32_t port = 0; port < level.ports; ++port) {  // formatted by hand: so many
          const std::string number = std::to_string(port);
          links.push_back({node + ".up-" + number, rate_});
          links.push_back({node + ".down-" + number, rate_});
        }
      }
    }
    return links;
  }

  // D-mod-k as Zahavi has it: the destination's number alone says which port leads up, and the way
  // down is that by which the destination's other messages come. So the shifts of all hosts by one
  // distance never meet in a tree of full bisection. (Without parallel cables, these are the ways
  // of SimGrid. Of such cables SimGrid takes others, with which shifts do meet.)
  // Adaptive ways are numbered from that one on: their ports up are so many further at each level.
  // ECMP hashes the two hosts at every level instead. So does Valiant's, but up to the last level:
  // by way of one of its switches, unless both hosts are at one leaf.
  void append_way(Flow flow, std::vector<LinkId>& way) const override {
    const std::uint32_t src = flow.src;
    const std::uint32_t dst = flow.dst;
    std::size_t top = level_above(src, dst);
    if (routing_.kind == Routing::Kind::kValiant && top > 1) top = levels_.size();
    const std::size_t first = way.size();
    way.resize(first + 2 * (top - 1));
    std::uint32_t label = 0;                  // the digits below the level
    std::uint32_t way_number = flow.channel;  // of what is still to be chosen
    for (std::size_t l = 1; l < top; ++l) {
      const Level& level = levels_[l];
      const std::uint32_t port = port_up(flow, l, way_number);
      way[first + l - 1] = link(level, label + src / level.hosts * level.switches, port, false);
      way[first + 2 * (top - 1) - l] =
          link(level, label + dst / level.hosts * level.switches, port, true);
      label += port % level.up * level.switches;
    }
  }

  // By level, from the leaf switches on, and within a level by number.
  std::optional<std::uint32_t> find_switch(std::string_view name) const override {
    if (!name.starts_with(kSwitch)) return std::nullopt;
    const std::string_view rest = name.substr(kSwitch.size());
    const std::size_t dash = std::min(rest.find('-'), rest.size());
    const auto level = base::whole_number<std::uint32_t>(rest.substr(0, dash));
    const auto node =
        base::whole_number<std::uint32_t>(rest.substr(std::min(dash + 1, rest.size())));
    if (!level || !node || *level == 0 || *level > levels_.size() || *node >= nodes_at(*level) ||
        name != fmt::format("{}{}-{}", kSwitch, *level, *node)) {
      return std::nullopt;
    }
    std::uint32_t before = 0;
    for (std::size_t l = 1; l < *level; ++l) before += nodes_at(l);
    return before + *node;
  }
  std::string switch_names() const override {
    return fmt::format("{0}1-0 … {0}{1}-{2}", kSwitch, levels_.size(),
                       nodes_at(levels_.size()) - 1);
  }

  // Up to the lowest level at which a switch has both places under it, and down. What the places
  // leave open of the way, the destination's first host decides by d-mod-k, whatever the routing.
  bool append_switch_way(Place from, Place to, std::vector<LinkId>& way) const override {
    const Vertex src = vertex_of(from);
    const Vertex dst = vertex_of(to);
    const std::size_t least = std::min(src.level, dst.level);
    if (src.label % switches_at(least) != dst.label % switches_at(least)) return false;
    std::size_t top = std::max(src.level, dst.level);
    while (src.first_host / hosts_under(top) != dst.first_host / hosts_under(top)) ++top;
    std::vector<std::uint32_t> ports(top);
    std::uint32_t label = src.label % switches_at(least);  // of the way's switch at `top`
    for (std::size_t l = least; l < top; ++l) {
      const Level& level = levels_[l];
      const std::uint32_t choice = dst.first_host / level.switches;
      const std::uint32_t digit = (l < src.level   ? src.label / level.switches
                                   : l < dst.level ? dst.label / level.switches
                                                   : choice) %
                                  level.up;
      ports[l] = digit + choice / level.up % (level.ports / level.up) * level.up;
      label += digit * level.switches;
    }
    const auto pass = [&](std::size_t l, std::uint32_t host, bool down) {
      const Level& level = levels_[l];
      way.push_back(l == 0
                        ? LinkId(2 * host + (down ? 1 : 0))
                        : link(level, label % level.switches + host / level.hosts * level.switches,
                               ports[l], down));
    };
    for (std::size_t l = src.level; l < top; ++l) pass(l, src.first_host, false);
    for (std::size_t l = top; l-- > dst.level;) pass(l, dst.first_host, true);
    return true;
  }

  std::uint32_t way_count(std::uint32_t src, std::uint32_t dst) const override {
    std::uint32_t ways = 1;
    for (std::size_t l = 1; l < level_above(src, dst); ++l) ways *= levels_[l].ports;
    return ways;
  }

  // Every switch that a part reaches on its way up spreads it over all its ports, and it comes down
  // by the same ports of the destination's side.
  Spray append_all_ways(std::uint32_t src, std::uint32_t dst, std::vector<LinkId>& links,
                        std::vector<std::uint32_t>& parts) const override {
    const std::size_t top = level_above(src, dst);
    Spray spray{1, 2 * (top - 1)};
    for (std::size_t l = 1; l < top; ++l) spray.parts *= levels_[l].ports;
    const auto append = [&](std::size_t l, std::uint32_t host, bool down) {
      const Level& level = levels_[l];
      for (std::uint32_t label = 0; label < level.switches; ++label) {
        for (std::uint32_t port = 0; port < level.ports; ++port) {
          links.push_back(link(level, label + host / level.hosts * level.switches, port, down));
          parts.push_back(spray.parts / (level.switches * level.ports));
        }
      }
    };
    for (std::size_t l = 1; l < top; ++l) append(l, src, false);
    for (std::size_t l = top; --l > 0;) append(l, dst, true);
    return spray;
  }

 private:
  // Of the nodes of one level, and of the ports that lead up from them.
  struct Level {
    std::uint32_t hosts;     // under each
    std::uint32_t switches;  // that have the same hosts under them
    std::uint32_t up;
    std::uint32_t ports;
    std::uint32_t first_link;
  };

  // `way_number` says which port of each level, where ways are numbered; takes what it uses of it.
  std::uint32_t port_up(const Flow& flow, std::size_t l, std::uint32_t& way_number) const {
    const Level& level = levels_[l];
    const std::uint32_t own = flow.dst / level.switches % level.ports;
    if (routing_.kind == Routing::Kind::kOwn) return own;
    if (routing_.kind != Routing::Kind::kAdaptive) {
      return hashed_choice(routing_, flow, l, level.ports);
    }
    const std::uint32_t further = way_number % level.ports;
    way_number /= level.ports;
    return (own + further) % level.ports;
  }

  static constexpr std::string_view kSwitch = "switch-";

  struct Vertex {
    std::size_t level;
    std::uint32_t label;  // of its digits below the level
    std::uint32_t first_host;
  };
  Vertex vertex_of(Place place) const {
    if (!place.is_switch) return {0, 0, place.number};
    std::size_t level = 1;
    std::uint32_t number = place.number;
    for (; number >= nodes_at(level); ++level) number -= nodes_at(level);
    return {level, number % switches_at(level), number / switches_at(level) * hosts_under(level)};
  }
  // Up to the last level, from which no port leads up.
  std::uint32_t hosts_under(std::size_t level) const {
    return level < levels_.size() ? levels_[level].hosts : hosts_;
  }
  std::uint32_t switches_at(std::size_t level) const {
    return level < levels_.size() ? levels_[level].switches : last_switches_;
  }
  std::uint32_t nodes_at(std::size_t level) const {
    return hosts_ / hosts_under(level) * switches_at(level);
  }

  // The lowest level at which a switch has both hosts under it.
  std::size_t level_above(std::uint32_t src, std::uint32_t dst) const {
    std::size_t level = 1;
    while (level < levels_.size() && src / levels_[level].hosts != dst / levels_[level].hosts) {
      ++level;
    }
    return level;
  }

  LinkId link(const Level& level, std::uint32_t node, std::uint32_t port, bool down) const {
    return inner(level.first_link + 2 * (node * level.ports + port) + (down ? 1 : 0));
  }

  Rate rate_;
  Routing routing_;
  std::uint32_t hosts_;
  std::uint32_t leaf_hosts_;
  std::uint32_t last_switches_;  // of the last level
  std::uint32_t link_count_;
  std::vector<Level> levels_;
};

void check_ways(const Platform& platform, std::string_view what) {
  const Routing::Kind kind = platform.topology.routing.kind;
  if (kind != Routing::Kind::kSpray && kind != Routing::Kind::kAdaptive) return;
  const auto& tree = shape_of<FatTree>(platform);
  double ways = 1;
  for (std::size_t l = 1; l < tree.up.size(); ++l)
    ways *= static_cast<double>(tree.up[l]) * cables(tree, l);
  if (kind == Routing::Kind::kAdaptive) {
    if (ways <= kMaxAdaptiveWays) return;
    throw InputError(fmt::format("{}: a choice of {:.0f} ways; expected at most {}", what, ways,
                                 kMaxAdaptiveWays));
  }
  if (ways <= kMaxSprayParts) return;
  throw InputError(fmt::format("{}: spraying over {:.0f} ways; expected at most {}", what, ways,
                               kMaxSprayParts));
}

// The ports of leaf switches are NICs'.
void check_rails(const Platform& platform, std::string_view what) {
  const Rails& rails = platform.node.rails;
  if (!rails.are_several()) return;
  const auto& tree = shape_of<FatTree>(platform);
  if (rails.wiring == RailWiring::kOneLeaf) {
    if (tree.down[0] % rails.count == 0) return;
    throw InputError(fmt::format(
        "{}: {} rails on leaf switches for {} NICs; expected a divisor of that, so that "
        "all NICs of a host are on one leaf",
        what, rails.count, tree.down[0]));
  }
  const std::uint32_t leaves = host_product(tree.down, what) / tree.down[0];
  if (leaves % rails.count == 0) return;
  throw InputError(fmt::format(
      "{}: {} rails on {} leaf switches; expected a divisor of that, so that each group "
      "of leaves has one for every rail",
      what, rails.count, leaves));
}

void check_length(std::span<const std::uint32_t> list, std::string_view key,
                  std::span<const std::uint32_t> down, std::string_view what) {
  if (list.size() != down.size()) {
    throw InputError(fmt::format(
        "{}: {} has {} numbers and down has {}; expected one for each level of switches", what, key,
        list.size(), down.size()));
  }
  if (list[0] != 1) {
    throw InputError(fmt::format("{}: {} begins with {}; expected 1, as a NIC has one cable", what,
                                 key, list[0]));
  }
  if (std::find(list.begin(), list.end(), 0u) != list.end()) {
    throw InputError(fmt::format("{}: {} has a 0; expected numbers from 1 on", what, key));
  }
}

void check(const Platform& platform, std::string_view what) {
  const auto& tree = shape_of<FatTree>(platform);
  if (tree.down.empty()) {
    throw InputError(fmt::format(
        "{}: down is missing; expected down and up such as 4x4 and 1x2, or arity", what));
  }
  check_length(tree.up, "up", tree.down, what);
  if (!tree.parallel.empty()) check_length(tree.parallel, "parallel", tree.down, what);
  for (const std::uint32_t down : tree.down) require_given(down, "down", what);
  double nodes = host_product(tree.down, what);
  double links = 0;
  for (std::size_t l = 0; l < tree.down.size(); ++l) {
    const double up = tree.up[l];
    if (l > 0) links += 2 * nodes * up * cables(tree, l);
    require_few_links(links, what);
    nodes = nodes / tree.down[l] * up;
  }
  check_ways(platform, what);
  check_rails(platform, what);
}

void set_arity(Platform& platform, std::string_view text, std::string_view what) {
  const std::uint64_t arity = sched::parse_count(text, what, 2, kMaxArity);
  if (arity % 2 != 0) {
    throw InputError(fmt::format("{}: {} is odd; expected an even number of ports", what, arity));
  }
  shape_of<FatTree>(platform) = k_ary_fat_tree(static_cast<std::uint32_t>(arity));
}

constexpr std::array<std::string_view, 3> kNotWithArity = {"down", "up", "parallel"};

constexpr std::array<PlatformFigure, 7> kFigures = {{
    meaning("of a switch, by level, leaf switches first: hosts or switches below",
            figure_of_shape<CountsFigure, FatTree, &FatTree::down>("down")),
    meaning("of a host or switch, by level: switches above",
            figure_of_shape<CountsFigure, FatTree, &FatTree::up>("up")),
    meaning("cables of each, by level; 1",
            {"parallel", "network", "parallel", "whole numbers such as [1, 2] or \"1x2\"",
             figure_of_shape<CountsFigure, FatTree, &FatTree::parallel>("parallel").set,
             [](const Platform& platform) {
               const auto& tree = shape_of<FatTree>(platform);
               return CountsFigure::write(tree.parallel.empty()
                                              ? std::vector<std::uint32_t>(tree.down.size(), 1)
                                              : tree.parallel);
             },
             FigureForm::kList}),
    meaning("ports of a switch: a fat tree of three levels in place of these three",
            {"arity", "network", "arity", "an even number of ports such as 8", set_arity,
             [](const Platform&) { return std::string(); },  // written as down, up and parallel
             FigureForm::kWhole, kNotWithArity}),
    link_rate_figure(),
    hop_latency_figure(),
    routing_figure<OwnRouting::kDModK>(),
}};

}  // namespace

FatTree k_ary_fat_tree(std::uint32_t k) {
  return {{k / 2, k / 2, k}, {1, k / 2, k / 2}, {1, 1, 1}};
}

const TopologyEntry& fat_tree_entry() {
  static const TopologyEntry entry = {
      "fat-tree",
      "switches in levels, with d-mod-k routing, ECMP, Valiant's or spraying",
      FatTree{},
      kFigures,
      check,
      [](const Platform& platform, std::uint32_t) -> std::unique_ptr<Network> {
        return std::make_unique<FatTreeNetwork>(platform);
      }};
  return entry;
}

}  // namespace slackline::machine
