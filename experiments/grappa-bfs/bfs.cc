// Grappa: breadth-first search over a Kronecker graph.
#include <fmt/format.h>

#include <map>
#include <string>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/irregular.h"
#include "sched/workloads/tasks/breadth_first_levels.h"
#include "sched/workloads/tasks/breadth_first_search.h"
#include "sched/workloads/tasks/graph_options.h"

namespace slackline::experiments {
namespace {

constexpr std::uint64_t kSeed = 1;

// Edges that the search comes to, both ways.
std::uint64_t edges_reached(const sched::Graph& graph, std::uint32_t root) {
  std::uint64_t traversed = 0;
  const auto level = sched::breadth_first_levels(graph, root);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    if (level[v] != sched::kUnreached) traversed += graph.neighbours(v).size();
  }
  return traversed;
}

// With a message for each pair of ranks and level.
void add_levels(ExperimentReport& report, Facts& facts, const machine::Platform& platform,
                bool quick) {
  const sched::GraphOptions size{quick ? 14u : 20u, 16};
  const sched::Graph graph = sched::drawn_graph(size, kSeed);
  const std::uint32_t root = sched::busiest_vertex(graph);
  const auto traversed = static_cast<double>(edges_reached(graph, root));
  ReportTable table{
      fmt::format("By levels: 2^{} vertices, {} edges drawn", size.scale, graph.drawn_edges),
      {"cores", "time, ms", "edges, 10^6 / s", "operations"}};
  std::map<std::uint32_t, double> rate;
  bool sound = true;
  for (std::uint32_t ranks = 2; ranks <= 16; ranks *= 2) {
    const sched::LevelSearch search = sched::search_levels(
        sched::parse_spec(
            fmt::format("breadth-first-levels:ranks={},scale={},work=5ns,handler=10ns,seed={}",
                        ranks, size.scale, kSeed)),
        graph);
    const IrregularRun run = run_irregular(search.schedule, platform);
    rate[ranks] = traversed / 2 / run.makespan_s;
    table.add({static_cast<double>(ranks), 1e3 * run.makespan_s, rate[ranks] / 1e6,
               static_cast<double>(run.ops)});
    sound = sound && !sched::parents_defect(graph, root, search.parents).has_value();
  }
  report.tables.push_back(std::move(table));
  report.constants.push_back({"by levels", "5 ns to scan an edge, 10 ns for a record", "assumed"});
  facts.judge_words("sound-by-levels", sound, sound ? "sound" : "not sound");
  facts.judge("cores-by-levels", rate[16] / rate[2]);
  facts.judge("constant-rate-by-levels", rate[16] / rate[8] / (rate[4] / rate[2]));
}

ExperimentReport grappa_bfs(const Options& options) {
  ExperimentReport report{"Breadth-first search over a Kronecker graph",
                          "Grappa (proposal, 2013), section on performance"};
  const std::uint32_t scale = options.quick ? 9 : 12;
  constexpr std::uint32_t kEdgeFactor = 16;
  const sched::Graph graph =
      sched::graph_of(1u << scale, sched::kronecker_edges(scale, kEdgeFactor, kSeed));
  const std::uint32_t root = sched::busiest_vertex(graph);
  const std::uint64_t traversed = edges_reached(graph, root);
  const machine::Platform platform = machine::load_platform("sierra");
  ReportTable table{
      fmt::format("2^{} vertices, {} edges drawn; 64 tasks a core", scale, graph.drawn_edges),
      {"cores", "time, ms", "edges, 10^6 / s", "edges, 10^6 / s and core"}};
  Figure figure{"grappa-bfs",
                "Breadth-first search: throughput",
                {"cores", 2},
                {"edges traversed, 10^6 / s", 2},
                {{"messages alone"}}};
  Facts facts(report, "grappa-bfs");
  std::map<std::uint32_t, double> rate;
  bool sound = true;
  for (std::uint32_t ranks = 2; ranks <= 16; ranks *= 2) {
    const std::string spec =
        fmt::format("breadth-first-search:ranks={},scale={},tasks=64,seed={}", ranks, scale, kSeed);
    const IrregularRun run = run_irregular(spec, platform);
    rate[ranks] = static_cast<double>(traversed) / 2 / run.makespan_s;
    table.add({static_cast<double>(ranks), 1e3 * run.makespan_s, rate[ranks] / 1e6,
               rate[ranks] / 1e6 / ranks});
    figure.series[0].add(ranks, rate[ranks] / 1e6);
    if (ranks == 4) {
      const auto parents = sched::breadth_first_parents(sched::parse_spec(spec));
      sound = !sched::parents_defect(graph, root, parents).has_value();
    }
  }
  report.add(std::move(table), std::move(figure));
  report.constants = {
      {"graph", fmt::format("Kronecker, scale {}, edge factor 16", scale),
       "stated: scale 25, 2^29 edges; smaller, as said below"},
      {"machine", "preset sierra", "assumed: the text names no machine"},
      {"tasks", "64 a core, loops split down to four edges", "assumed"},
  };
  facts.judge_words("sound", sound, sound ? "sound" : "not sound");
  facts.judge("cores", rate[16] / rate[2]);
  facts.judge("constant-rate", rate[16] / rate[8] / (rate[4] / rate[2]));
  add_levels(report, facts, platform, options.quick);
  report.notes.push_back(
      "Not simulated: 2^25 vertices and 2^29 edges (some 10^10 operations; a schedule has at most "
      "2^31), and that a Cray XMT is 2.5 times as fast at 16 nodes.");
  return report;
}

}  // namespace

extern const Experiment kGrappaBfs = {"grappa-bfs", "breadth-first search over a Kronecker graph",
                                      grappa_bfs};

}  // namespace slackline::experiments
