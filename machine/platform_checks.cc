#include "machine/platform_checks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "machine/congestion.h"
#include "machine/host_figures.h"
#include "machine/platform_figures.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

// Figures of what is off would say nothing.
void check_unused_congestion(const Platform& platform, std::string_view what) {
  const Congestion& congestion = platform.congestion;
  for (const PlatformFigure& figure : platform_figures()) {
    if (figure.section != "congestion" || figure.key == "congestion") continue;
    const bool used = figure.key.starts_with("pfc_")    ? congestion.pfc
                      : figure.key == "congestion_step" ? congestion.any()
                                                        : congestion.dcqcn;
    if (used || figure.get(platform).empty()) continue;
    throw InputError(fmt::format("{}: {} and congestion={}; expected one that has it", what,
                                 figure.key, format_congestion(congestion)));
  }
}

// Under fair NICs messages of several sizes would share the link, of which each takes another part
// for its bytes on the wire.
void check_pcie(const Platform& platform, std::string_view what) {
  const Pcie& pcie = platform.pcie;
  if (pcie.limits()) {
    if (platform.nic == NicDiscipline::kSerial) return;
    throw Unsupported(
        fmt::format("{}: pcie_rate and nic=fair, where messages would share the link to the host's "
                    "memory; expected nic=serial",
                    what));
  }
  if (pcie == Pcie{}) return;
  throw InputError(fmt::format("{}: {} without pcie_rate; expected both", what,
                               pcie.header_bytes != 0 ? "pcie_header" : "pcie_payload"));
}

// A network that nobody is on, or that has no rate, would say nothing.
void check_scale_up(const Platform& platform, std::string_view what) {
  const Node& node = platform.node;
  if (!node.scale_up.any()) {
    if (node.scale_up == ScaleUp{}) return;
    throw InputError(
        fmt::format("{}: scale_up_latency without scale_up_rate; expected both", what));
  }
  if (!node.is_shared()) {
    throw InputError(fmt::format(
        "{}: scale_up_rate with one rank a node, which has nobody there to reach; expected "
        "ranks_per_node above 1",
        what));
  }
  if (!is_without(platform.topology, "scale_up_rate")) return;
  throw Unsupported(
      fmt::format("{}: scale_up_rate on {}, whose file has all links; expected links of the file",
                  what, entry_of(platform.topology).name));
}

}  // namespace

void check_platform(const Platform& platform, std::string_view what) {
  entry_of(platform.topology).check(platform, what);
  const Node& node = platform.node;
  if (node.ranks % node.threads != 0) {
    throw InputError(
        fmt::format("{}: threads_per_process is {}; expected a divisor of ranks_per_node, {}", what,
                    node.threads, node.ranks));
  }
  if (node.threads % node.threads_per_qp != 0) {
    throw InputError(
        fmt::format("{}: threads_per_qp is {}; expected a divisor of threads_per_process, {}", what,
                    node.threads_per_qp, node.threads));
  }
  if (node.qp_lock > platform.o_post) {
    throw InputError(fmt::format(
        "{}: qp_lock is {}, and o_post {}; expected a lock that is held for a part of the post",
        what, sched::format_time(node.qp_lock), sched::format_time(platform.o_post)));
  }
  if (node.qp_lock.count() > 0 && node.qp_sharer.count() > 0) {
    throw InputError(fmt::format(
        "{}: qp_lock and qp_sharer, which stand for the same wait; expected one of them", what));
  }
  if (node.numa_hop.count() > 0 && is_without(platform.topology, "numa_hop")) {
    throw Unsupported(
        fmt::format("{}: numa_hop on {}, whose routes have their latencies from the file; expected "
                    "numa_hop=0",
                    what, entry_of(platform.topology).name));
  }
  if (node.rails.are_several() && is_without(platform.topology, "rails")) {
    throw Unsupported(
        fmt::format("{}: {} rails on {}, whose hosts have one NIC each; expected star, "
                    "two-level, fat-tree or dragonfly",
                    what, node.rails.count, entry_of(platform.topology).name));
  }
  check_scale_up(platform, what);
  check_host_figures(platform, what);
  if (platform.hosts.any() && is_without(platform.topology, "host_rate")) {
    throw Unsupported(fmt::format(
        "{}: hosts that differ on {}, whose file has all links; expected links of the file", what,
        entry_of(platform.topology).name));
  }
  check_pcie(platform, what);
  if (platform.switch_cost.count() > 0 && !platform.service_thread) {
    throw InputError(
        fmt::format("{}: switch_cost without completions=service; expected both", what));
  }
  check_unused_congestion(platform, what);
  check_congestion(platform, what);
  if (!platform.switches.any()) return;
  if (node.is_shared()) {
    throw Unsupported(
        fmt::format("{}: switches and {} ranks a node; expected ranks_per_node=1 where ranks are "
                    "switches",
                    what, node.ranks));
  }
  if (node.rails.are_several()) {
    throw Unsupported(
        fmt::format("{}: switches and {} rails; expected rails=1 where ranks are "
                    "switches",
                    what, node.rails.count));
  }
}

}  // namespace slackline::machine
