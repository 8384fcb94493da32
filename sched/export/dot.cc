#include "sched/export/dot.h"

#include <fmt/format.h>

#include <boost/graph/graphviz.hpp>
#include <iterator>
#include <sstream>

#include "sched/export/dataflow_graph.h"

namespace slackline::sched {
namespace {

// `text` as a quoted string of the DOT language; its lines are kept apart.
std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string clusters(const Schedule& schedule) {
  std::string out = fmt::format("  label={};\n  rankdir=LR;\n  node [shape=box];\n",
                                dot_string(schedule.title()));
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    const std::uint32_t end = schedule.end_op(RankId(rank)).value;
    fmt::format_to(std::back_inserter(out), "  subgraph cluster_{0} {{\n    label=\"rank {0}\";\n",
                   rank);
    std::uint32_t op = schedule.first_op(RankId(rank)).value;
    for (; op != end; ++op) fmt::format_to(std::back_inserter(out), "    {};\n", op);
    out += "  }\n";
  }
  return out;
}

std::string_view look_of(const std::string& edge_kind) {
  if (edge_kind == "message") return " [style=bold, color=blue]";
  return edge_kind == "edge-issued" ? " [style=dashed]" : "";
}

}  // namespace

std::string write_dot(const Schedule& schedule) {
  require_static(schedule, "dot");
  const DataflowGraph graph = dataflow_graph(schedule);
  std::ostringstream out;
  boost::write_graphviz(
      out, graph,
      [&](std::ostream& stream, std::size_t vertex) {
        stream << " [label=" << dot_string(graph[vertex].label) << "]";
      },
      [&](std::ostream& stream, const auto& edge) { stream << look_of(graph[edge].kind); },
      [&](std::ostream& stream) { stream << clusters(schedule); });
  return out.str();
}

}  // namespace slackline::sched
