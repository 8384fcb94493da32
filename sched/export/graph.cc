#include "sched/export/graph.h"

#include <fmt/format.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <cstdint>
#include <sstream>

#include "base/append.h"
#include "base/shown_text.h"
#include "sched/export/messages.h"

namespace slackline::sched {
namespace {

// What an operation's vertex carries. `block` and `channel` are −1 where there is none.
struct VertexInfo {
  std::string kind;
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
  std::int64_t channel = -1;
  std::uint64_t bytes = 0;  // Schedule::payload_bytes
  std::int64_t block = -1;  // of data messages and their receives
  std::string label;        // all of this for people, on lines
};

// `edge-done` and `edge-issued` are the schedule's edges, after the event of the predecessor that
// they wait for; `message` leads from a send or put to its match.
struct EdgeInfo {
  std::string kind;
};

using DataflowGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, VertexInfo,
                                            EdgeInfo, boost::no_property, boost::vecS>;

// Vertex i is operation i. Out of each vertex lead first the schedule's edges, then its message.
DataflowGraph dataflow_graph(const Schedule& schedule) {
  DataflowGraph graph(schedule.op_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    VertexInfo& info = graph[i];
    info.kind = name(op.kind);
    info.rank = op.rank.value;
    info.lane = op.lane;
    info.step = op.step;
    if (op.channel.valid()) info.channel = op.channel.value;
    info.bytes = schedule.payload_bytes(op);
  }
  for (const DataMessage& message : data_messages(schedule)) {
    const auto block = static_cast<std::int64_t>(message.block);
    graph[message.op.value].block = block;
    const OpId match = schedule.op(message.op).match;
    if (match.valid()) graph[match.value].block = block;
  }
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    VertexInfo& info = graph[i];
    info.label = fmt::format("{} {}\nstep {}", info.kind, i, info.step);
    if (info.bytes != 0) info.label += fmt::format("\n{}", format_bytes(info.bytes));
    if (info.block >= 0) info.label += fmt::format("\nblock {}", info.block);
  }
  for (const Edge& edge : schedule.edges()) {
    boost::add_edge(edge.pred.value, edge.succ.value,
                    EdgeInfo{edge.on == On::kDone ? "edge-done" : "edge-issued"}, graph);
  }
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    const bool source = op.kind == OpKind::kSend || op.kind == OpKind::kPut;
    if (source && op.match.valid()) boost::add_edge(i, op.match.value, EdgeInfo{"message"}, graph);
  }
  return graph;
}

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
                                dot_string(shown(schedule.title())));
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    const std::uint32_t end = schedule.end_op(RankId(rank)).value;
    append(out, "  subgraph cluster_{0} {{\n    label=\"rank {0}\";\n", rank);
    std::uint32_t op = schedule.first_op(RankId(rank)).value;
    for (; op != end; ++op) append(out, "    {};\n", op);
    out += "  }\n";
  }
  return out;
}

std::string_view look_of(const std::string& edge_kind) {
  if (edge_kind == "message") return " [style=bold, color=blue]";
  return edge_kind == "edge-issued" ? " [style=dashed]" : "";
}

// What XML 1.0 cannot hold, even escaped, becomes a question mark.
std::string xml_text(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7f) c = '?';
  }
  return text;
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

std::string write_graphml(const Schedule& schedule) {
  require_static(schedule, "graphml");
  DataflowGraph graph = dataflow_graph(schedule);
  boost::dynamic_properties properties;
  properties.property("digest",
                      boost::make_constant_property<DataflowGraph*>(to_string(schedule.digest())));
  properties.property("title",
                      boost::make_constant_property<DataflowGraph*>(xml_text(schedule.title())));
  properties.property("kind", boost::get(&VertexInfo::kind, graph));
  properties.property("rank", boost::get(&VertexInfo::rank, graph));
  properties.property("lane", boost::get(&VertexInfo::lane, graph));
  properties.property("step", boost::get(&VertexInfo::step, graph));
  properties.property("channel", boost::get(&VertexInfo::channel, graph));
  properties.property("bytes", boost::get(&VertexInfo::bytes, graph));
  properties.property("block", boost::get(&VertexInfo::block, graph));
  properties.property("label", boost::get(&VertexInfo::label, graph));
  properties.property("kind", boost::get(&EdgeInfo::kind, graph));
  std::ostringstream out;
  boost::write_graphml(out, graph, properties, true);
  return out.str();
}

}  // namespace slackline::sched
