#include "sched/export/dataflow_graph.h"

#include <fmt/format.h>

#include "sched/export/messages.h"

namespace slackline::sched {

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

}  // namespace slackline::sched
