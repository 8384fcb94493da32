#include "sched/export/exporter.h"

#include <algorithm>
#include <array>

#include "sched/export/csv.h"
#include "sched/export/goal.h"
#include "sched/export/graph.h"
#include "sched/export/json.h"
#include "sched/export/msccl.h"
#include "sched/text.h"

namespace slackline::sched {
namespace {

// A new format is one line here.
constexpr std::array kExporters = {
    ExporterEntry{"text", "Slackline's own form, read back exactly", write_text},
    ExporterEntry{"json", "every field by name, read back exactly", write_json},
    ExporterEntry{"dot", "the dataflow graph for Graphviz", write_dot},
    ExporterEntry{"graphml", "the dataflow graph for networkx, Gephi, yEd", write_graphml},
    ExporterEntry{"goal", "a program for LogGOPSim and ATLAHS", write_goal},
    ExporterEntry{"csv", "one row per data message", write_csv},
    ExporterEntry{"msccl-xml", "an algorithm for MSCCL's GPU runtime", write_msccl},
};

}  // namespace

std::span<const ExporterEntry> exporters() { return kExporters; }

const ExporterEntry* find_exporter(std::string_view name) {
  const auto found = std::find_if(kExporters.begin(), kExporters.end(),
                                  [&](const ExporterEntry& entry) { return entry.name == name; });
  return found == kExporters.end() ? nullptr : found;
}

}  // namespace slackline::sched
