// Kronecker graphs as Graph 500 draws them, and breadth-first search over them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace slackline::sched {

/// An undirected graph: each vertex's neighbours in order, none twice, itself not among them.
struct Graph {
  std::vector<std::uint64_t> begin;  // of each vertex, in `to`; one more than vertices
  std::vector<std::uint32_t> to;
  std::uint64_t drawn_edges = 0;  // those that were drawn, repeats and loops among them

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  std::span<const std::uint32_t> neighbours(std::uint32_t vertex) const {
    return std::span(to).subspan(begin[vertex], begin[vertex + 1] - begin[vertex]);
  }
};

/// Loops are left out and repeats kept once; ends are below `vertices`.
Graph graph_of(std::uint32_t vertices,
               std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);

/// edge_factor · 2^scale edges with A, B, C, D = 0.57, 0.19, 0.19, 0.05, vertices renamed by a
/// random permutation. `scale` ≤ 30.
std::vector<std::pair<std::uint32_t, std::uint32_t>> kronecker_edges(std::uint32_t scale,
                                                                     std::uint32_t edge_factor,
                                                                     std::uint64_t seed);

inline constexpr std::uint32_t kUnreached = 0xffffffffu;

/// The distance of every vertex from `root`; kUnreached where there is no way.
std::vector<std::uint32_t> breadth_first_levels(const Graph& graph, std::uint32_t root);

/// What is wrong with a tree of parents, as Graph 500 validates it: the root is its own parent;
/// exactly the vertices that can be reached have one; it is a neighbour, one level nearer. Nothing
/// if nothing is.
std::optional<std::string> parents_defect(const Graph& graph, std::uint32_t root,
                                          std::span<const std::uint32_t> parents);

/// A vertex with the most neighbours, the least of them.
std::uint32_t busiest_vertex(const Graph& graph);

}  // namespace slackline::sched
