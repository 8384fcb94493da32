#include "sched/workloads/tasks/graph_options.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::sched {

const GraphOptions& graph_options(const Spec& spec) {
  const GraphOptions& o = spec.own<GraphOptions>();
  if (o.scale == 0 || o.scale > kMostScale) {
    throw InputError(fmt::format("scale: {}; expected 1 to {}", o.scale, kMostScale));
  }
  if (o.edge_factor == 0 || o.edge_factor > 1024) {
    throw InputError(fmt::format("edge-factor: {}; expected 1 to 1024", o.edge_factor));
  }
  return o;
}

Graph drawn_graph(const GraphOptions& options, std::uint64_t seed) {
  return graph_of(1u << options.scale, kronecker_edges(options.scale, options.edge_factor, seed));
}

}  // namespace slackline::sched
