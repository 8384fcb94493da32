#include "engines/htsim_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <variant>
#include <vector>

#include "engines/plain_machine.h"
#include "machine/topology/checks.h"
#include "machine/topology_entry.h"

namespace slackline::engines {
namespace {

constexpr std::string_view kWho = "htsim";
constexpr std::uint64_t kGiga = 1'000'000'000;
// Whatever the links' rate, its hosts' programs give their NICs a byte in 0.04 ns. Beyond that rate
// they, not the links, would say how long a message takes.
constexpr std::uint64_t kMostGbps = 200;

// From the hosts up; level 0 has the leaf switches.
struct Level {
  std::uint32_t down;      // links down of one switch
  std::uint32_t up;        // and up: 0 of the last level
  std::uint32_t parallel;  // links between two neighbours, down
};

std::uint64_t whole_gbps(const machine::Platform& platform) {
  const std::uint64_t bps = platform.rate.bits_per_second;
  if (bps % kGiga != 0 || bps > kMostGbps * kGiga) {
    refuse(kWho, fmt::format("rate={}", sched::format_rate(platform.rate)),
           fmt::format("whole Gb/s, at most {}", kMostGbps));
  }
  return bps / kGiga;
}

std::vector<Level> levels_of(const machine::Star&, const machine::Platform&, std::uint32_t ranks) {
  return {{ranks, 1, 1}, {1, 0, 1}};
}

std::vector<Level> levels_of(const machine::TwoLevel& shape, const machine::Platform& platform,
                             std::uint32_t) {
  const auto rate = static_cast<double>(platform.rate.bits_per_second);
  const double uplinks = shape.uplink.bits_per_second != 0
                             ? static_cast<double>(shape.uplink.bits_per_second) / rate
                             : shape.hosts / shape.oversubscription;
  const auto whole = static_cast<std::uint32_t>(std::clamp(uplinks, 0.0, 1.0 * shape.hosts));
  if (whole != uplinks || whole == 0 || shape.hosts % whole != 0) {
    refuse(kWho,
           fmt::format("uplinks of {:.6g} times a NIC's rate for racks of {} hosts", uplinks,
                       shape.hosts),
           "a divisor of the hosts");
  }
  return {{shape.hosts, whole, 1}, {shape.racks, 0, 1}};
}

std::vector<Level> levels_of(const machine::FatTree& tree, const machine::Platform& platform,
                             std::uint32_t) {
  if (const machine::Rate cable = machine::cable_rate(platform); cable != platform.rate) {
    refuse(kWho, fmt::format("link_rate={}", sched::format_rate(cable)), "the NICs' rate");
  }
  if (tree.down.size() == 1) return levels_of(machine::Star{}, platform, tree.down[0]);
  if (tree.down.size() > 3) {
    refuse(kWho, fmt::format("a fat tree of {} levels", tree.down.size()), "at most three");
  }
  const auto parallel = [&](std::size_t l) { return tree.parallel.empty() ? 1 : tree.parallel[l]; };
  std::vector<Level> levels;
  for (std::size_t l = 0; l < tree.down.size(); ++l) {
    const bool last = l + 1 == tree.down.size();
    levels.push_back(
        {tree.down[l] * parallel(l), last ? 0 : tree.up[l + 1] * parallel(l + 1), parallel(l)});
    const Level& level = levels.back();
    if (!last && (level.up > level.down || level.down % level.up != 0)) {
      refuse(kWho, fmt::format("switches of {} links down and {} up", level.down, level.up),
             "as many down as up, or a multiple");
    }
  }
  return levels;
}

template <class Other>
std::vector<Level> levels_of(const Other&, const machine::Platform& platform, std::uint32_t) {
  refuse(kWho, machine::entry_of(platform.topology).name, "a star, two-level or a fat tree");
}

std::uint64_t whole_ns(double ps) {
  return static_cast<std::uint64_t>(std::max(1LL, std::llround(ps * 1e-3)));
}

}  // namespace

HtsimNetwork htsim_network(const machine::Platform& platform, std::uint32_t ranks) {
  require_plain_machine(platform, kWho);
  if (platform.placement != machine::Placement{}) {
    refuse(kWho, fmt::format("placement={}", machine::format_placement(platform.placement)),
           "packed");
  }
  const std::vector<Level> levels =
      std::visit([&](const auto& shape) { return levels_of(shape, platform, ranks); },
                 platform.topology.shape);
  HtsimNetwork network;
  network.gbps = whole_gbps(platform);
  // A pod is what one switch of the last tier but one reaches; two tiers are one pod.
  network.nodes = 1;
  std::uint32_t pod = 1;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    network.nodes *= levels[l].down / levels[l].parallel;
    if (l < 2) pod = network.nodes;
  }
  network.text = fmt::format("Nodes {}\nTiers {}\nPodsize {}\n", network.nodes, levels.size(), pod);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Level& level = levels[l];
    const double latency_ps = l == 0 ? 0.5 * static_cast<double>(platform.latency.count())
                                     : static_cast<double>(platform.topology.hop_latency.count());
    network.text += fmt::format(
        "\nTier {}\nDownlink_speed_Gbps {}\nRadix_Down {}\nDownlink_Latency_ns {}\n"
        "Switch_Latency_ns 0\n",
        l, network.gbps, level.down, whole_ns(latency_ps));
    if (level.up != 0) {
      network.text +=
          fmt::format("Radix_Up {}\nOversubscribed {}\n", level.up, level.down / level.up);
    }
    if (level.parallel != 1) network.text += fmt::format("Bundle {}\n", level.parallel);
  }
  return network;
}

}  // namespace slackline::engines
