#include "sched/export/graphml.h"

#include <boost/graph/graphml.hpp>
#include <sstream>

#include "sched/export/dataflow_graph.h"

namespace slackline::sched {
namespace {

// What XML 1.0 cannot hold, even escaped, becomes a question mark.
std::string xml_text(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7f) c = '?';
  }
  return text;
}

}  // namespace

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
