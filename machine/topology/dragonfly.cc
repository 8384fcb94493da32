#include "machine/topology/dragonfly.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/mix.h"
#include "machine/topology/checks.h"
#include "machine/topology/figures.h"
#include "machine/topology/routing.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

Rate bundle(const Platform& platform, Rate cable, std::uint32_t cables) {
  const Rate one = cable.bits_per_second != 0 ? cable : cable_rate(platform);
  return Rate{one.bits_per_second * cables};
}

// Of n things in a row, the place of `other` among all but `self`.
std::uint32_t among_others(std::uint32_t self, std::uint32_t other) {
  return other < self ? other : other - 1;
}

// Each NIC of a router's hosts as a host.
Dragonfly with_nics(const Platform& platform) {
  Dragonfly shape = shape_of<Dragonfly>(platform);
  shape.hosts *= platform.node.rails.count;
  return shape;
}

class DragonflyNetwork final : public Network {
 public:
  explicit DragonflyNetwork(const Platform& platform)
      : shape_(with_nics(platform)),
        routing_(platform.topology.routing),
        green_(bundle(platform, shape_.green_rate, shape_.green)),
        black_(bundle(platform, shape_.black_rate, shape_.black)),
        blue_(bundle(platform, shape_.blue_rate, shape_.blue)),
        in_group_(shape_.chassis * shape_.routers),
        first_black_(routers() * (shape_.routers - 1)),
        first_blue_(first_black_ + routers() * (shape_.chassis - 1)) {}

  std::uint32_t host_count() const override { return routers() * shape_.hosts; }
  std::uint32_t unit_hosts() const override { return in_group_ * shape_.hosts; }
  std::uint32_t leaf_hosts() const override { return shape_.hosts; }

  std::vector<Link> inner_links() const override {
    std::vector<Link> links;
    for (std::uint32_t r = 0; r < routers(); ++r) {
      const std::uint32_t chassis = r / shape_.routers * shape_.routers;  // its first router
      for (std::uint32_t other = chassis; other < chassis + shape_.routers; ++other) {
        if (other != r) links.push_back({fmt::format("router-{}.green-{}", r, other), green_});
      }
    }
    for (std::uint32_t r = 0; r < routers(); ++r) {
      const std::uint32_t group = r / in_group_ * in_group_;  // its first router
      for (std::uint32_t c = 0; c < shape_.chassis; ++c) {
        const std::uint32_t other = group + c * shape_.routers + r % shape_.routers;
        if (other != r) links.push_back({fmt::format("router-{}.black-{}", r, other), black_});
      }
    }
    for (std::uint32_t g = 0; g < shape_.groups; ++g) {
      for (std::uint32_t other = 0; other < shape_.groups; ++other) {
        if (other != g) links.push_back({fmt::format("group-{}.blue-{}", g, other), blue_});
      }
    }
    return links;
  }

  void append_way(Flow flow, std::vector<LinkId>& way) const override {
    std::uint32_t from = flow.src / shape_.hosts;
    const std::uint32_t to = flow.dst / shape_.hosts;
    const std::uint32_t from_group = from / in_group_;
    const std::uint32_t to_group = to / in_group_;
    const auto go = [&](std::uint32_t router) {
      const bool black_first =
          routing_.kind == Routing::Kind::kEcmp && hashed_choice(routing_, flow, from, 2) == 1;
      append_in_group(from, router, black_first, way);
    };
    const auto cross = [&](std::uint32_t group) {
      const std::uint32_t here = from / in_group_;
      go(gateway(here, group));
      way.push_back(blue(here, group));
      from = gateway(group, here);
    };
    if (from_group != to_group) {
      if (routing_.kind == Routing::Kind::kValiant && shape_.groups > 2) {
        cross(third_group(flow.src, flow.dst, from_group, to_group));
      }
      cross(to_group);
    }
    go(to);
  }

  // Half of a message goes round each side where a group's chassis and place both change.
  Spray append_all_ways(std::uint32_t src, std::uint32_t dst, std::vector<LinkId>& links,
                        std::vector<std::uint32_t>& parts) const override {
    Spray spray{2, 0};
    const auto append = [&](std::uint32_t from, std::uint32_t to) {
      const std::uint32_t corner = corner_of(from, to);
      const bool both = corner != from && corner != to;
      const std::size_t before = links.size();
      append_link(from, corner, links);
      if (both) append_link(from, corner_of(to, from), links);
      append_link(corner, to, links);
      if (both) append_link(corner_of(to, from), to, links);
      parts.resize(links.size(), both ? 1 : 2);
      spray.hops += (links.size() - before) / (both ? 2 : 1);
    };
    std::uint32_t from = src / shape_.hosts;
    const std::uint32_t to = dst / shape_.hosts;
    const std::uint32_t from_group = from / in_group_;
    const std::uint32_t to_group = to / in_group_;
    if (from_group != to_group) {
      append(from, gateway(from_group, to_group));
      links.push_back(blue(from_group, to_group));
      parts.push_back(2);
      ++spray.hops;
      from = gateway(to_group, from_group);
    }
    append(from, to);
    return spray;
  }

 private:
  // The router of a group that has the link to the other.
  std::uint32_t gateway(std::uint32_t group, std::uint32_t other) const {
    return group * in_group_ + other;
  }
  LinkId blue(std::uint32_t group, std::uint32_t other) const {
    return inner(first_blue_ + group * (shape_.groups - 1) + among_others(group, other));
  }

  // Any but the two, for two hosts always the same.
  std::uint32_t third_group(std::uint32_t src, std::uint32_t dst, std::uint32_t from_group,
                            std::uint32_t to_group) const {
    std::uint32_t group = sched::below(sched::draw(routing_.seed, {src, dst}), shape_.groups - 2);
    const auto [first, second] = std::minmax(from_group, to_group);
    if (group >= first) ++group;
    if (group >= second) ++group;
    return group;
  }

  std::uint32_t routers() const { return shape_.groups * in_group_; }

  // Along the chassis first, then across to the other chassis, as SimGrid; or the other way round.
  void append_in_group(std::uint32_t from, std::uint32_t to, bool black_first,
                       std::vector<LinkId>& way) const {
    const std::uint32_t corner = black_first ? corner_of(to, from) : corner_of(from, to);
    append_link(from, corner, way);
    append_link(corner, to, way);
  }

  // In the chassis of one router of a group, at the place of another.
  std::uint32_t corner_of(std::uint32_t chassis, std::uint32_t place) const {
    return chassis - chassis % shape_.routers + place % shape_.routers;
  }

  // Between two routers that a link joins; none to itself.
  void append_link(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& way) const {
    const std::uint32_t from_place = from % shape_.routers;
    const std::uint32_t to_place = to % shape_.routers;
    if (from_place != to_place) {
      way.push_back(inner(from * (shape_.routers - 1) + among_others(from_place, to_place)));
    } else if (from != to) {
      way.push_back(
          inner(first_black_ + from * (shape_.chassis - 1) +
                among_others(from % in_group_ / shape_.routers, to % in_group_ / shape_.routers)));
    }
  }

  Dragonfly shape_;
  Routing routing_;
  Rate green_;
  Rate black_;
  Rate blue_;
  std::uint32_t in_group_;  // routers
  std::uint32_t first_black_;
  std::uint32_t first_blue_;
};

void check_bundle(const Platform& platform, Rate cable, std::uint32_t cables, std::string_view key,
                  std::string_view what) {
  require_given(cables, key, what);
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (bundle(platform, cable, 1).bits_per_second <= most / cables) return;
  throw InputError(fmt::format("{}: {} cables of {} are too fast; expected at most {} bps together",
                               what, cables, key, most));
}

void check(const Platform& platform, std::string_view what) {
  const auto& shape = shape_of<Dragonfly>(platform);
  require_given(shape.groups, "groups", what);
  require_given(shape.chassis, "chassis", what);
  require_given(shape.routers, "routers", what);
  require_given(shape.hosts, "hosts", what);
  require_few_nics(host_product({shape.groups, shape.chassis, shape.routers, shape.hosts}, what),
                   platform, what);
  const double in_group = static_cast<double>(shape.chassis) * shape.routers;
  if (shape.groups > in_group) {
    throw InputError(
        fmt::format("{}: {} groups of {} routers cannot be joined all to all; expected at most as "
                    "many groups as a group has routers",
                    what, shape.groups, in_group));
  }
  const double groups = shape.groups;
  require_few_links(
      groups * in_group * (shape.routers - 1.0 + shape.chassis - 1.0) + groups * (groups - 1),
      what);
  check_bundle(platform, shape.green_rate, shape.green, "green", what);
  check_bundle(platform, shape.black_rate, shape.black, "black", what);
  check_bundle(platform, shape.blue_rate, shape.blue, "blue", what);
}

constexpr std::array<PlatformFigure, 13> kFigures = {{
    meaning("how many, of chassis", count_figure<Dragonfly, &Dragonfly::groups>("groups")),
    meaning("of a group", count_figure<Dragonfly, &Dragonfly::chassis>("chassis")),
    meaning("of a chassis", count_figure<Dragonfly, &Dragonfly::routers>("routers")),
    meaning("of a router", count_figure<Dragonfly, &Dragonfly::hosts>("hosts")),
    meaning("cables between two routers of a chassis; 1",
            count_figure<Dragonfly, &Dragonfly::green>("green")),
    meaning("cables between two routers of a group; 1",
            count_figure<Dragonfly, &Dragonfly::black>("black")),
    meaning("cables between two groups; 1", count_figure<Dragonfly, &Dragonfly::blue>("blue")),
    meaning("of a cable in a chassis; link_rate",
            figure_of_shape<RateFigure, Dragonfly, &Dragonfly::green_rate>("green_rate")),
    meaning("of a cable in a group; link_rate",
            figure_of_shape<RateFigure, Dragonfly, &Dragonfly::black_rate>("black_rate")),
    meaning("of a cable between groups; link_rate",
            figure_of_shape<RateFigure, Dragonfly, &Dragonfly::blue_rate>("blue_rate")),
    link_rate_figure(),
    hop_latency_figure(),
    routing_figure<OwnRouting::kMinimal>(),
}};

constexpr std::array<std::string_view, 2> kWithout = {"rail_wiring", "switches"};

}  // namespace

const TopologyEntry& dragonfly_entry() {
  static const TopologyEntry entry = {
      "dragonfly",
      "groups of routers, all joined to all, with minimal routing, ECMP, Valiant's or spraying",
      Dragonfly{},
      kFigures,
      check,
      [](const Platform& platform, std::uint32_t) -> std::unique_ptr<Network> {
        return std::make_unique<DragonflyNetwork>(platform);
      },
      kWithout};
  return entry;
}

}  // namespace slackline::machine
