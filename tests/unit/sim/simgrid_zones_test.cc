// Fat trees, tori and dragonflies against SimGrid's own: all pairs, link by link.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xbt/log.h>

#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

#include "machine/platform.h"
#include "machine/wiring.h"
#include "sim/child_run.h"

namespace slackline::sim {
namespace {

namespace s4u = simgrid::s4u;
using machine::LinkId;
using machine::Platform;
using machine::Wiring;
using sched::RankId;

constexpr std::uint32_t kMaxHops = 30;

// What SimGrid says of one pair: its links, by a number and a rate each.
struct Way {
  std::uint32_t length;
  std::uint32_t links[kMaxHops];
  double bytes_per_s[kMaxHops];
};

// SimGrid's ways between all pairs of a cluster's hosts, src by src.
class ClusterWays {
 public:
  /// `topology` and `parameters` are those of a platform file's cluster.
  ClusterWays(const std::string& topology, const std::string& parameters, const Platform& platform,
              std::uint32_t hosts)
      : hosts_(hosts), memory_(std::size_t{hosts} * hosts * sizeof(Way)) {
    const ScratchFile file;
    file.write(fmt::format(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version='4.1'><zone id='zone' routing='Full'><cluster id='cluster' "
        "prefix='host-' suffix='' radical='0-{}' "
        "speed='1Gf' bw='{}bps' lat='0s' sharing_policy='SPLITDUPLEX' topology='{}' "
        "topo_parameters='{}'/></zone></platform>\n",
        hosts - 1, platform.rate.bits_per_second, topology, parameters));
    run_in_child([&] {
      xbt_log_control_set("root.thresh:error");
      s4u::Engine engine("clusters");
      engine.load_platform(file.path());
      engine.seal_platform();
      std::vector<s4u::Host*> made;
      for (std::uint32_t h = 0; h < hosts; ++h) {
        made.push_back(engine.host_by_name(fmt::format("host-{}", h)));
      }
      std::map<const s4u::Link*, std::uint32_t> numbers;
      for (std::uint32_t s = 0; s < hosts; ++s) {
        for (std::uint32_t d = 0; d < hosts; ++d) {
          if (s == d) continue;  // SimGrid's clusters know no way to oneself without loopback
          std::vector<s4u::Link*> links;
          double latency_s = 0;
          made[s]->route_to(made[d], links, &latency_s);
          Way& way = ways()[s * hosts + d];
          if (links.size() > kMaxHops) throw std::runtime_error("a longer way than expected");
          way.length = static_cast<std::uint32_t>(links.size());
          for (std::size_t i = 0; i < links.size(); ++i) {
            const auto number = static_cast<std::uint32_t>(numbers.size());
            way.links[i] = numbers.emplace(links[i], number).first->second;
            way.bytes_per_s[i] = links[i]->get_bandwidth();
          }
        }
      }
    });
  }
  const Way& at(std::uint32_t src, std::uint32_t dst) const { return ways()[src * hosts_ + dst]; }

 private:
  Way* ways() const { return static_cast<Way*>(memory_.data()); }
  std::uint32_t hosts_;
  SharedMemory memory_;
};

// Pairs up our links and SimGrid's, one to one.
class Pairing {
 public:
  void meet(LinkId ours, std::uint32_t theirs) {
    ASSERT_EQ(theirs_.emplace(ours, theirs).first->second, theirs);
    ASSERT_EQ(ours_.emplace(theirs, ours).first->second, ours);
  }

 private:
  std::map<LinkId, std::uint32_t> theirs_;
  std::map<std::uint32_t, LinkId> ours_;
};

Platform platform_of(machine::Shape shape) {
  Platform platform;
  platform.topology.shape = std::move(shape);
  return platform;
}

TEST(SimgridZones, FatTreesAgree) {
  const std::vector<machine::FatTree> shapes = {
      {{4}, {1}, {1}},
      {{4, 4}, {1, 2}, {1, 1}},
      {{4, 4}, {1, 4}, {1, 1}},
      {{4, 4}, {1, 2}, {1, 2}},
      {{3, 2, 2}, {1, 2, 3}, {1, 1, 1}},
      {{3, 2, 2}, {1, 2, 3}, {1, 2, 1}},
      {{2, 3, 2, 2}, {1, 1, 2, 3}, {1, 3, 1, 2}},
      machine::k_ary_fat_tree(4),
      machine::k_ary_fat_tree(6),
  };
  for (const machine::FatTree& tree : shapes) {
    const Platform platform = platform_of(tree);
    SCOPED_TRACE(platform.spec());
    std::uint32_t hosts = 1;
    for (const std::uint32_t down : tree.down) hosts *= down;
    const bool cables = tree.parallel != std::vector<std::uint32_t>(tree.parallel.size(), 1);
    const ClusterWays cluster(
        "FAT_TREE",
        fmt::format("{};{};{};{}", tree.down.size(), fmt::join(tree.down, ","),
                    fmt::join(tree.up, ","), fmt::join(tree.parallel, ",")),
        platform, hosts);
    const Wiring wiring(platform, hosts);
    Pairing pairing;
    for (std::uint32_t s = 0; s < hosts; ++s) {
      for (std::uint32_t d = 0; d < hosts; ++d) {
        if (s == d) continue;
        const auto route = wiring.route(RankId(s), RankId(d)).links;
        const Way& way = cluster.at(s, d);
        ASSERT_EQ(route.size(), way.length) << s << " to " << d;
        // Of parallel cables SimGrid 3.32 uses the first alone on the way up, and one by the
        // source's number on the way down; ours are the destination's both ways.
        for (std::size_t i = 0; i < route.size() && !cables; ++i) {
          ASSERT_NO_FATAL_FAILURE(pairing.meet(route[i], way.links[i])) << s << " to " << d;
        }
      }
    }
  }
}

// SimGrid's torus has no links between a host and its router: its ways are ours without the NICs.
TEST(SimgridZones, ToriAgree) {
  const std::vector<std::vector<std::uint32_t>> shapes = {{2},       {5},       {8},      {3, 3},
                                                          {4, 4, 2}, {5, 3, 4}, {2, 1, 6}};
  for (const auto& dims : shapes) {
    const Platform platform = platform_of(machine::Torus{dims});
    SCOPED_TRACE(platform.spec());
    std::uint32_t hosts = 1;
    for (const std::uint32_t size : dims) hosts *= size;
    const ClusterWays cluster("TORUS", fmt::format("{}", fmt::join(dims, ",")), platform, hosts);
    const Wiring wiring(platform, hosts);
    // Of two equal ways round SimGrid takes the one that goes down if it begins in the middle.
    const auto from_the_middle = [&](std::uint32_t s, std::uint32_t d) {
      for (const std::uint32_t size : dims) {
        if (size > 2 && s % size * 2 == size && d % size == 0) return true;
        s /= size;
        d /= size;
      }
      return false;
    };
    Pairing pairing;
    for (std::uint32_t s = 0; s < hosts; ++s) {
      for (std::uint32_t d = 0; d < hosts; ++d) {
        if (s == d) continue;
        const auto route = wiring.route(RankId(s), RankId(d)).links;
        const Way& way = cluster.at(s, d);
        ASSERT_EQ(route.size(), way.length + 2) << s << " to " << d;
        if (from_the_middle(s, d)) continue;
        for (std::size_t i = 0; i < way.length; ++i) {
          ASSERT_NO_FATAL_FAILURE(pairing.meet(route[i + 1], way.links[i])) << s << " to " << d;
        }
      }
    }
  }
}

// SimGrid's blue cables all end at a group's first chassis, so that it has no more groups than a
// chassis has routers. Its ways in the last group take for granted that they begin in that chassis:
// from another one, after a green link, they go on from a router that they have not come to. Such
// pairs, in one group, are left out.
TEST(SimgridZones, DragonfliesAgree) {
  const std::vector<machine::Dragonfly> shapes = {
      {1, 1, 1, 4},          {1, 2, 3, 2},          {2, 1, 2, 2},
      {3, 2, 4, 2, 2, 3, 5}, {4, 3, 5, 1, 1, 2, 3}, {5, 2, 5, 2, 1, 1, 1},
  };
  for (const machine::Dragonfly& shape : shapes) {
    const Platform platform = platform_of(shape);
    SCOPED_TRACE(platform.spec());
    const std::uint32_t hosts = shape.groups * shape.chassis * shape.routers * shape.hosts;
    const ClusterWays cluster(
        "DRAGONFLY",
        fmt::format("{},{};{},{};{},{};{}", shape.groups, shape.blue, shape.chassis, shape.black,
                    shape.routers, shape.green, shape.hosts),
        platform, hosts);
    const Wiring wiring(platform, hosts);
    const auto leaps = [&](std::uint32_t from, std::uint32_t to) {
      const std::uint32_t in_group = shape.chassis * shape.routers;
      return from / in_group == to / in_group && from % in_group >= shape.routers &&
             from % shape.routers != to % shape.routers;
    };
    Pairing pairing;
    for (std::uint32_t s = 0; s < hosts; ++s) {
      for (std::uint32_t d = 0; d < hosts; ++d) {
        if (s == d || leaps(s / shape.hosts, d / shape.hosts)) continue;
        const auto route = wiring.route(RankId(s), RankId(d)).links;
        const Way& way = cluster.at(s, d);
        ASSERT_EQ(route.size(), way.length) << s << " to " << d;
        for (std::size_t i = 0; i < way.length; ++i) {
          ASSERT_NO_FATAL_FAILURE(pairing.meet(route[i], way.links[i])) << s << " to " << d;
          ASSERT_DOUBLE_EQ(wiring.links()[route[i].value].rate.bytes_per_second(),
                           way.bytes_per_s[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace slackline::sim
