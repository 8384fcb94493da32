// Which Kronecker graph a search is of.
#pragma once

#include <cstdint>

#include "sched/pattern/option.h"
#include "sched/workloads/tasks/kronecker.h"

namespace slackline::sched {

inline constexpr std::uint32_t kMostScale = 24;

struct GraphOptions {
  std::uint32_t scale = 8;         // 2^scale vertices, 1 to kMostScale
  std::uint32_t edge_factor = 16;  // drawn edges per vertex, 1 to 1024
};

inline constexpr auto kGraphOptions = option_list(
    count_option<&GraphOptions::scale>("scale", "1 to 24", "breadth-first: 2^scale vertices"),
    count_option<&GraphOptions::edge_factor>("edge-factor", "1 to 1024",
                                             "breadth-first: edges drawn per vertex"));

/// Throws InputError for options out of their range.
const GraphOptions& graph_options(const Spec& spec);

/// The graph that a spec names, by its own seed.
Graph drawn_graph(const GraphOptions& options, std::uint64_t seed);

/// Edges that are drawn.
constexpr std::uint64_t drawn_edges(const GraphOptions& options) {
  return std::uint64_t{options.edge_factor} << options.scale;
}

}  // namespace slackline::sched
