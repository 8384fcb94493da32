#include "analysis/slack/run_matrices.h"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "base/error.h"
#include "machine/paths.h"
#include "machine/run/adaptive_ways.h"

namespace slackline::analysis {
namespace {

using Entry = Eigen::Triplet<double>;

// Eigen counts in int.
int counted(std::size_t count, const char* what) {
  if (count <= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return static_cast<int>(count);
  }
  throw InputError(fmt::format("a matrix of {} {}; expected less than 2^31", count, what));
}

SparseRows matrix_of(std::size_t rows, std::size_t columns, const std::vector<Entry>& entries) {
  SparseRows matrix(counted(rows, "rows"), counted(columns, "columns"));
  counted(entries.size(), "entries");
  matrix.setFromTriplets(entries.begin(), entries.end());  // equal places are added up
  return matrix;
}

}  // namespace

ConstraintSystem constraint_system(const machine::Setting& setting, const sched::Trace& trace,
                                   WireTimes wire) {
  const ConstraintGraph graph = frozen_run(setting, trace, wire);
  const auto constraints = graph.constraints();
  counted(2 * constraints.size(), "entries");
  ConstraintSystem system;
  system.weight_s.resize(static_cast<int>(constraints.size()));
  std::vector<Entry> entries;
  entries.reserve(2 * constraints.size());
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const int row = static_cast<int>(i);
    entries.emplace_back(row, static_cast<int>(constraints[i].tail.value), -1.0);
    entries.emplace_back(row, static_cast<int>(constraints[i].head.value), 1.0);
    system.weight_s[row] = constraints[i].weight_s;
  }
  system.matrix = matrix_of(constraints.size(), graph.node_count(), entries);
  const int moments = static_cast<int>(graph.node_count());
  system.earliest_s.resize(moments);
  system.time_s.resize(moments);
  for (int m = 0; m < moments; ++m) {
    const NodeId node{static_cast<std::uint32_t>(m)};
    system.earliest_s[m] = graph.source_s(node);
    system.time_s[m] = graph.time_s()[node.value];
  }
  return system;
}

SparseRows traffic_bytes(const sched::Schedule& schedule) {
  std::vector<Entry> entries;
  for (const sched::Op& op : schedule.ops()) {
    if (!sched::is_initiator(op.kind)) continue;
    const sched::Channel& channel = schedule.channel(op.channel);
    const bool back = sched::has_reply(op.kind);
    entries.emplace_back(static_cast<int>((back ? channel.dst : channel.src).value),
                         static_cast<int>((back ? channel.src : channel.dst).value),
                         static_cast<double>(schedule.payload_bytes(op)));
  }
  return matrix_of(schedule.rank_count(), schedule.rank_count(), entries);
}

SparseRows link_incidence(const machine::Setting& setting) {
  machine::require_fixed_ways(setting.platform, "links that operations pass");
  const machine::Paths paths(setting);
  const sched::Schedule& schedule = setting.schedule;
  std::vector<Entry> entries;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind)) continue;
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    const auto links = paths.links(path);
    for (std::size_t l = 0; l < links.size(); ++l) {
      entries.emplace_back(static_cast<int>(i), static_cast<int>(links[l].value),
                           paths.share(path, l));
    }
  }
  return matrix_of(schedule.op_count(), setting.wiring.links().size(), entries);
}

}  // namespace slackline::analysis
