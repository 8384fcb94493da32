#include "analysis/advice/makespan_floor.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "machine/congestion.h"
#include "machine/lane.h"
#include "machine/run/adaptive_ways.h"
#include "machine/run/lanes.h"

namespace slackline::analysis {
namespace {

using machine::LinkId;
using sched::Op;
using sched::OpId;

// What serves one thing at a time, or shares its rate among several.
struct Resource {
  double first_s = std::numeric_limits<double>::infinity();  // it cannot begin before
  double busy_s = 0;
  double after_s = std::numeric_limits<double>::infinity();  // the run goes on that long, at least

  void add(double head_s, double use_s, double tail_s) {
    first_s = std::min(first_s, head_s);
    busy_s += use_s;
    after_s = std::min(after_s, std::max(0.0, tail_s));
  }
  double floor_s() const { return busy_s == 0 ? 0 : first_s + busy_s + after_s; }
};

// From each moment to the end.
std::vector<double> tails_s(const ConstraintGraph& graph) {
  std::vector<double> tail_s(graph.node_count(), 0);
  for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it) {
    for (const std::uint32_t index : graph.out_of(*it)) {
      const Constraint& c = graph.constraints()[index];
      tail_s[it->value] = std::max(tail_s[it->value], c.weight_s + tail_s[c.head.value]);
    }
  }
  return tail_s;
}

}  // namespace

double makespan_floor_s(const machine::Setting& setting) {
  const sched::Schedule& schedule = setting.schedule;
  const machine::Platform& platform = setting.platform;
  const machine::Wiring& wiring = setting.wiring;
  machine::require_no_switches(platform, "floors of makespans");
  machine::require_fixed_ways(platform, "floors of makespans");
  machine::require_no_congestion(platform, "floors of makespans");
  if (schedule.op_count() == 0) return 0;
  const machine::Paths paths(schedule, wiring, {});
  const ConstraintGraph graph = ConstraintGraph::of_every_run(setting, machine::Delays(), paths);
  const std::span<const double> head_s = graph.time_s();
  const std::vector<double> tail_s = tails_s(graph);
  double floor_s = *std::max_element(head_s.begin(), head_s.end());

  const bool serial = platform.nic == machine::NicDiscipline::kSerial;
  // The hosts of a SimGrid file have links and no ports that could be shared.
  const bool has_ports = platform.topology.kind() != machine::TopologyKind::kSimgridFile;
  const machine::LaneIndex lane_index(schedule);
  std::vector<Resource> lanes(lane_index.count());
  // Ports of large messages and of small ones; links are passed by large ones.
  std::vector<Resource> ports(4 * std::size_t{paths.nic_count()});
  std::vector<Resource> links(wiring.links().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const OpId id(i);
    const Op& op = schedule.op(id);
    if (machine::holds_lane(op.kind)) {
      const double hold_s = machine::lane_time_s(schedule, platform, op);
      const NodeId issued = NodeId::of(id, Moment::kIssued);
      const bool posted = machine::is_posted(op.kind);
      lanes[lane_index.of(i, op)].add(head_s[issued.value] - (posted ? hold_s : 0), hold_s,
                                      tail_s[issued.value] - (posted ? 0 : hold_s));
    }
    if (!sched::is_initiator(op.kind) || sched::has_reply(op.kind)) continue;
    const std::uint64_t bytes = schedule.payload_bytes(op);
    const bool large = bytes > platform.interleave_bytes;
    const machine::PathId path = paths.of(op.channel, false);
    const double wire_bytes = paths.wire_bytes(path, bytes);
    const double wire_s = paths.alone_s(path, bytes);
    const NodeId wire = NodeId::of(id, Moment::kWire);
    const double begin_s = head_s[wire.value];
    const double after_s = tail_s[wire.value] - wire_s;
    if (paths[path].local) continue;
    if (serial || (large && has_ports)) {
      // Fair ports are shared; a message takes its bytes' share of them.
      const auto use_s = [&](LinkId port) {
        return wire_bytes / wiring.links()[port.value].rate.bytes_per_second();
      };
      const std::span<const LinkId> way = paths.links(path);
      ports[4 * paths[path].src_nic.value + (large ? 0 : 1)].add(
          begin_s, serial ? wire_s : use_s(way.front()), after_s);
      ports[4 * paths[path].dst_nic.value + (large ? 2 : 3)].add(
          begin_s, serial ? wire_s : use_s(way.back()), after_s);
    }
    if (!large) continue;
    const std::span<const LinkId> way = paths.links(path);
    for (std::size_t l = 1; l + 1 < way.size(); ++l) {
      const machine::Link& link = wiring.links()[way[l].value];
      if (!link.shared) continue;
      links[way[l].value].add(
          begin_s, wire_bytes * paths.share(path, l) / link.rate.bytes_per_second(), after_s);
    }
  }
  for (const std::vector<Resource>* all : {&lanes, &ports, &links}) {
    for (const Resource& resource : *all) floor_s = std::max(floor_s, resource.floor_s());
  }
  return floor_s;
}

}  // namespace slackline::analysis
