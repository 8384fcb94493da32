#include "experiments/grappa-uts/uts.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "experiments/facts.h"
#include "experiments/irregular.h"
#include "sched/workload/uts_tree.h"

namespace slackline::experiments {
namespace {

struct Published {
  const char* name;
  double vertices;
  double leaves;
};

void add_trees(Report& report, Facts& facts, bool quick) {
  std::vector<Published> trees = {{"T1", 4'130'071, 3'305'118},
                                  {"T5", 4'147'582, 2'181'318},
                                  {"T2", 4'117'769, 2'342'762},
                                  {"T3", 4'112'897, 3'599'034}};
  if (quick) trees.resize(1);
  if (!quick) trees.push_back({"T1L", 102'181'082, 81'746'377});
  Table table{"Trees of the benchmark", {"tree", "vertices", "leaves", "depth"}, {}};
  for (const Published& tree : trees) {
    const sched::UtsTree::Size size = sched::UtsTree(*sched::uts_sample(tree.name)).measure();
    table.add({std::string(tree.name), static_cast<double>(size.vertices),
               static_cast<double>(size.leaves), static_cast<double>(size.depth)});
    facts.equal(fmt::format("{}: vertices", tree.name), Source::kDerived, tree.vertices,
                static_cast<double>(size.vertices), 0);
    facts.equal(fmt::format("{}: leaves", tree.name), Source::kDerived, tree.leaves,
                static_cast<double>(size.leaves), 0);
  }
  report.tables.push_back(std::move(table));
}

}  // namespace

Report grappa_uts(const Options& options) {
  Report report{"Unbalanced tree search in global memory",
                "Grappa (proposal, 2013), section on performance",
                {},
                {},
                {},
                {},
                {}};
  Facts facts(report);
  add_trees(report, facts, options.quick);
  const std::uint32_t ranks = 16;
  const std::uint32_t depth = options.quick ? 6 : 7;
  sched::UtsParameters parameters = *sched::uts_sample("T1");
  parameters.depth = depth;
  const auto vertices = static_cast<double>(sched::UtsTree(parameters).measure().vertices);
  const machine::Platform platform = machine::load_platform("sierra");
  Table table{fmt::format("T1 to depth {}: {} vertices by {} cores", depth, vertices, ranks),
              {"tasks a core", "time, ms", "vertices, 10^6 / s"},
              {}};
  Figure figure{"grappa-uts",
                "Tree search: throughput against tasks",
                {"tasks a core", 2},
                {"vertices, 10^6 / s", 0},
                {{"messages alone", {}, {}}},
                false};
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
  report.tables.push_back(std::move(table));
  report.figures.push_back(std::move(figure));
  report.constants = {
      {"tree, counted", "T1L: geometric, fixed, d = 13, b = 4, r = 29", "stated: T1L"},
      {"tree, simulated", fmt::format("T1 to depth {}", depth),
       "assumed: a graph of operations of T1L would have some 10^9 of them"},
      {"machine", "preset sierra, 16 cores", "assumed: the text names no machine"},
      {"work", "100 ns a vertex", "assumed"},
  };
  facts.at_least("tasks hide latency: 16 a core against one", Source::kDerived, 2,
                 rate[16] / rate[1]);
  facts.at_most("…until the cores are busy: 64 a core against 32", Source::kDerived, 1.25,
                rate[64] / rate[32]);
  report.notes.push_back(
      "Not simulated: that Grappa is 3.2 times as fast as a Cray XMT at 16 nodes. There is no "
      "model "
      "of an XMT here.");
  return report;
}

}  // namespace slackline::experiments
