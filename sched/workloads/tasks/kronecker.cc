#include "sched/workloads/tasks/kronecker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/grouped.h"
#include "base/mix.h"

namespace slackline::sched {

Graph graph_of(std::uint32_t vertices,
               std::span<const std::pair<std::uint32_t, std::uint32_t>> edges) {
  Graph graph;
  graph.drawn_edges = edges.size();
  base::Grouped<std::uint32_t, std::uint64_t> to(vertices, [&](auto&& take) {
    for (const auto& [u, v] : edges) {
      if (u == v) continue;
      take(u, v);
      take(v, u);
    }
  });
  graph.begin.assign(1, 0);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const std::span<std::uint32_t> neighbours = to[v];
    std::sort(neighbours.begin(), neighbours.end());
    graph.to.insert(graph.to.end(), neighbours.begin(),
                    std::unique(neighbours.begin(), neighbours.end()));
    graph.begin.push_back(graph.to.size());
  }
  return graph;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> kronecker_edges(std::uint32_t scale,
                                                                     std::uint32_t edge_factor,
                                                                     std::uint64_t seed) {
  const std::uint32_t vertices = 1u << scale;
  std::vector<std::uint32_t> name(vertices);
  std::iota(name.begin(), name.end(), 0u);
  for (std::uint32_t i = vertices; i > 1; --i) {
    std::swap(name[i - 1], name[below(draw(seed, {0, i}), i)]);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  const std::uint64_t count = std::uint64_t{edge_factor} << scale;
  edges.reserve(count);
  for (std::uint64_t e = 0; e < count; ++e) {
    std::uint32_t u = 0;
    std::uint32_t v = 0;
    for (std::uint32_t bit = 0; bit < scale; ++bit) {
      // One of four quarters, in hundredths.
      const std::uint32_t quarter = below(draw(seed, {1, e, bit}), 100);
      u = u << 1 | (quarter >= 57 + 19 ? 1 : 0);
      v = v << 1 | ((quarter >= 57 && quarter < 57 + 19) || quarter >= 57 + 19 + 19 ? 1 : 0);
    }
    edges.emplace_back(name[u], name[v]);
  }
  return edges;
}

std::vector<std::uint32_t> breadth_first_levels(const Graph& graph, std::uint32_t root) {
  std::vector<std::uint32_t> level(graph.vertices(), kUnreached);
  std::vector<std::uint32_t> queue{root};
  level[root] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint32_t u = queue[head];
    for (const std::uint32_t v : graph.neighbours(u)) {
      if (level[v] != kUnreached) continue;
      level[v] = level[u] + 1;
      queue.push_back(v);
    }
  }
  return level;
}

std::optional<std::string> parents_defect(const Graph& graph, std::uint32_t root,
                                          std::span<const std::uint32_t> parents) {
  if (parents.size() != graph.vertices()) {
    return fmt::format("{} parents of {} vertices", parents.size(), graph.vertices());
  }
  const std::vector<std::uint32_t> level = breadth_first_levels(graph, root);
  if (parents[root] != root) return fmt::format("root {} has another parent", root);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    const std::uint32_t parent = parents[v];
    if (v == root) continue;
    if ((parent == kUnreached) != (level[v] == kUnreached)) {
      return fmt::format("vertex {} is {}", v,
                         parent == kUnreached ? "left out" : "reached without a way");
    }
    if (parent == kUnreached) continue;
    const auto near = graph.neighbours(v);
    if (parent >= graph.vertices() || !std::binary_search(near.begin(), near.end(), parent)) {
      return fmt::format("vertex {}: its parent {} is no neighbour", v, parent);
    }
    if (level[parent] + 1 != level[v]) {
      return fmt::format("vertex {} of level {}: its parent {} is of level {}", v, level[v], parent,
                         level[parent]);
    }
  }
  return std::nullopt;
}

std::uint32_t busiest_vertex(const Graph& graph) {
  std::uint32_t best = 0;
  for (std::uint32_t v = 1; v < graph.vertices(); ++v) {
    if (graph.neighbours(v).size() > graph.neighbours(best).size()) best = v;
  }
  return best;
}

}  // namespace slackline::sched
