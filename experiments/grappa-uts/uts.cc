// Grappa: unbalanced tree search.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/irregular.h"
#include "sched/workloads/tasks/uts_tree.h"

namespace slackline::experiments {
namespace {

void add_trees(ExperimentReport& report, Facts& facts, bool quick) {
  std::vector<std::string> trees = {"T1"};
  if (!quick) trees = {"T1", "T5", "T2", "T3", "T1L"};
  ReportTable table{"Trees of the benchmark", {"tree", "vertices", "leaves", "depth"}};
  for (const std::string& tree : trees) {
    const sched::UtsTree::Size size = sched::UtsTree(*sched::uts_sample(tree)).measure();
    table.add({tree, static_cast<double>(size.vertices), static_cast<double>(size.leaves),
               static_cast<double>(size.depth)});
    facts.judge("vertices", static_cast<double>(size.vertices), tree);
    facts.judge("leaves", static_cast<double>(size.leaves), tree);
  }
  report.tables.push_back(std::move(table));
}

ExperimentReport grappa_uts(const Options& options) {
  ExperimentReport report{"Unbalanced tree search in global memory",
                          "Grappa (proposal, 2013), section on performance"};
  Facts facts(report, "grappa-uts");
  add_trees(report, facts, options.quick);
  const std::uint32_t ranks = 16;
  const std::uint32_t depth = options.quick ? 6 : 7;
  sched::UtsParameters parameters = *sched::uts_sample("T1");
  parameters.depth = depth;
  const auto vertices = static_cast<double>(sched::UtsTree(parameters).measure().vertices);
  const machine::Platform platform = machine::load_platform("sierra");
  ReportTable table{fmt::format("T1 to depth {}: {} vertices by {} cores", depth, vertices, ranks),
                    {"tasks a core", "time, ms", "vertices, 10^6 / s"}};
  Figure figure{"grappa-uts",
                "Tree search: throughput against tasks",
                {"tasks a core", 2},
                {"vertices, 10^6 / s", 0},
                {{"messages alone"}}};
  std::map<std::uint32_t, double> rate;
  for (std::uint32_t tasks = 1; tasks <= 64; tasks *= 2) {
    const IrregularRun run =
        run_irregular(fmt::format("tree-search:ranks={},tree=T1,depth={},tasks={},work=100ns",
                                  ranks, depth, tasks),
                      platform);
    rate[tasks] = vertices / run.makespan_s;
    table.add({static_cast<double>(tasks), 1e3 * run.makespan_s, rate[tasks] / 1e6});
    figure.series[0].add(tasks, rate[tasks] / 1e6);
  }
  report.add(std::move(table), std::move(figure));
  report.constants = {
      {"tree, counted", "T1L: geometric, fixed, d = 13, b = 4, r = 29", "stated: T1L"},
      {"tree, simulated", fmt::format("T1 to depth {}", depth),
       "assumed: a graph of operations of T1L would have some 10^9 of them"},
      {"machine", "preset sierra, 16 cores", "assumed: the text names no machine"},
      {"work", "100 ns a vertex", "assumed"},
  };
  facts.judge("tasks", rate[16] / rate[1]);
  facts.judge("busy", rate[64] / rate[32]);
  report.notes.push_back(
      "Not simulated: that Grappa is 3.2 times as fast as a Cray XMT at 16 nodes. There is no "
      "model "
      "of an XMT here.");
  return report;
}

}  // namespace

extern const Experiment kGrappaUts = {
    "grappa-uts", "unbalanced tree search by tasks that steal work", grappa_uts};

}  // namespace slackline::experiments
