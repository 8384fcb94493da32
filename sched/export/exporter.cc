#include "sched/export/exporter.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/named.h"
#include "sched/export/chakra.h"
#include "sched/export/csv.h"
#include "sched/export/events.h"
#include "sched/export/goal.h"
#include "sched/export/goal_binary.h"
#include "sched/export/graph.h"
#include "sched/export/json.h"
#include "sched/export/msccl.h"
#include "sched/export/mscclpp.h"
#include "sched/text.h"

namespace slackline::sched {
namespace {

// A new format is one line here. Memory was measured for binomial pipelines and calls of 400,000
// operations and more: 190, 700, 660, 1,480, 740, 2,250, 220 and 230 bytes an operation, and a
// little more is asked for.
constexpr std::array kExporters = {
    ExporterEntry{"text", "Slackline's own form, read back exactly", write_text, 300},
    ExporterEntry{"json", "every field by name, read back exactly", write_json, 800},
    ExporterEntry{"dot", "the dataflow graph for Graphviz", write_dot, 750},
    ExporterEntry{"graphml", "the dataflow graph for networkx, Gephi, yEd", write_graphml, 1700},
    ExporterEntry{"events-dot", "each operation's issued and done, for Graphviz", write_events_dot,
                  900},
    ExporterEntry{"events-graphml", "the same for networkx: acyclic, arcs by kind",
                  write_events_graphml, 2500},
    ExporterEntry{"goal",
                  "a program for LogGOPSim and ATLAHS",
                  write_goal,
                  300,
                  false,
                  nullptr,
                  {},
                  write_goal_on_nics},
    ExporterEntry{"goal-bin",
                  "the same as txt2bin makes of it, for their simulators",
                  write_goal_binary,
                  300,
                  true,
                  nullptr,
                  {},
                  write_goal_binary_on_nics},
    ExporterEntry{"csv", "one row per data message", write_csv, 300},
    ExporterEntry{"msccl-xml", "an algorithm for MSCCL's GPU runtime", write_msccl, 700},
    ExporterEntry{"mscclpp-json", "an execution plan for MSCCL++'s GPU runtime", write_mscclpp,
                  6000},
    ExporterEntry{"chakra", "a trace of each rank for astra-sim: PREFIX.RANK.et", nullptr, 600,
                  true, write_chakra, ".et"},
};

}  // namespace

std::span<const ExporterEntry> exporters() { return kExporters; }

std::string written_whole(const ExporterEntry& exporter, const Schedule& schedule) {
  if (exporter.write != nullptr) return exporter.write(schedule);
  throw Unsupported(
      fmt::format("{}: it is a file of each rank; expected `slackline export --to {} -o PREFIX`",
                  exporter.name, exporter.name));
}

const ExporterEntry* find_exporter(std::string_view name) {
  return base::find_named(kExporters, name);
}

}  // namespace slackline::sched
