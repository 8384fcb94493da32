// implied_edges [SPEC]: which edges of a schedule say nothing that other arcs do not say. A
// schedule is a graph of Boost's as it is, whose transitive reduction is Boost's, too.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_reduction.hpp>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/graph.h"

using namespace slackline::sched;

int main(int argc, char** argv) {
  try {
    const Schedule schedule =
        compile(parse_spec(argc > 1 ? argv[1] : "scatter-allgather:ranks=4,bytes=4MiB"));
    // Arcs that only may hold imply nothing.
    const EventGraph graph(schedule, {.posted = false, .entry = false});
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> reduced;
    std::vector<std::uint32_t> to(num_vertices(graph));
    const auto index = get(boost::vertex_index, graph);
    boost::transitive_reduction(graph, reduced,
                                boost::make_iterator_property_map(to.begin(), index), index);
    std::uint32_t edges = 0, implied = 0;
    for (const Arc& arc : graph.arcs()) {
      if (get(edge_arc_kind, graph, arc) != ArcKind::kEdge) continue;
      ++edges;
      if (boost::edge(to[arc.source], to[arc.target], reduced).second) continue;
      ++implied;
      std::printf(
          "%s waits for the %s of %s anyway\n", describe(schedule, OpId(arc.target / 2)).c_str(),
          arc.source % 2 == 0 ? "issue" : "end", describe(schedule, OpId(arc.source / 2)).c_str());
    }
    std::printf("%u of %u edges are implied by others\n", implied, edges);
    return 0;
  } catch (const slackline::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
