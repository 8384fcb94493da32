// Grappa: queues for every end point, or a hierarchy of nodes and groups.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/irregular.h"
#include "sched/workloads/tasks/end_points.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kCores = 16;  // of a node
constexpr std::uint32_t kGroup = 8;

struct Growth {
  double first = 0;  // queues over n log2 n at the fewest nodes…
  double worst = 0;  // …and the most of it
  double flat = 0;   // at 2048
  double queues = 0;
  double hops = 0;
  double most_hops_over_log = 0;
};

Growth add_counts(ExperimentReport& report) {
  ReportTable table{"Queues and hops, nodes of 16 cores, groups of 8",
                    {"nodes", "end points n", "queues, flat", "queues, hierarchical",
                     "over n log2 n", "hops, flat", "hops, hierarchical"}};
  Figure figure{"grappa-hierarchy-queues",
                "Queues needed",
                {"end points", 2},
                {"queues", 10},
                {{"one for each end point"}, {"hierarchical"}}};
  Growth growth;
  for (std::uint32_t nodes = 2; nodes <= 128; nodes *= 2) {
    const std::uint32_t n = nodes * kCores;
    const sched::Hierarchy hierarchy(n, kCores, kGroup);
    const double flat = static_cast<double>(n) * (n - 1);
    const auto queues = static_cast<double>(hierarchy.queues());
    const double hops = hierarchy.most_hops();
    const double ratio = queues / (n * std::log2(n));
    if (nodes == 2) growth.first = ratio;
    growth.worst = std::max(growth.worst, ratio);
    growth.flat = flat;
    growth.queues = queues;
    growth.hops = hops;
    growth.most_hops_over_log = std::max(growth.most_hops_over_log, hops / std::log2(n));
    table.add({static_cast<double>(nodes), static_cast<double>(n), flat, queues, ratio, 1.0, hops});
    figure.add(n, {flat, queues});
  }
  report.add(std::move(table), std::move(figure));
  return growth;
}

struct Measured {
  IrregularRun raw;
  IrregularRun flat;
  IrregularRun hierarchical;
};

Measured add_runs(ExperimentReport& report, bool quick) {
  const std::uint32_t ranks = quick ? 64 : 256;
  const std::uint32_t tasks = quick ? 64 : 128;
  const machine::Platform platform = machine::load_platform("sierra");
  const std::string spec =
      fmt::format("random-access:ranks={},accesses={},words=256,tasks={},cores=16,group={}", ranks,
                  2 * tasks, tasks, quick ? 2 : kGroup);
  Measured m;
  m.raw = run_irregular(spec, platform);
  m.flat = run_irregular(spec + ",aggregation=destination", platform);
  m.hierarchical = run_irregular(spec + ",aggregation=hierarchical", platform);
  ReportTable table{
      fmt::format("Random accesses of {} end points, {} tasks each", ranks, tasks),
      {"messages go", "queues used", "writes an access", "time, ms", "accesses, 10^6 / s"}};
  const double count = 2.0 * tasks * ranks;
  const auto add = [&](const char* name, const IrregularRun& run) {
    table.add({std::string(name), static_cast<double>(run.channels),
               static_cast<double>(run.writes) / count, 1e3 * run.makespan_s,
               count / run.makespan_s / 1e6});
  };
  add("alone", m.raw);
  add("gathered by destination", m.flat);
  add("gathered in a hierarchy", m.hierarchical);
  report.tables.push_back(std::move(table));
  return m;
}

ExperimentReport grappa_hierarchy(const Options& options) {
  ExperimentReport report{"Queues for every end point, or a hierarchy of them",
                          "Grappa (proposal, 2013), section on the improved networking layer"};
  const Growth growth = add_counts(report);
  const Measured measured = add_runs(report, options.quick);
  report.constants = {
      {"machine", "preset sierra; every core with a NIC of its own",
       "assumed: the text names no machine"},
      {"largest system", "128 nodes of 16 cores: 2048 end points", "stated"},
      {"groups", "8 nodes, 8 groups, and so on; the first node of each is its router", "assumed"},
  };
  Facts facts(report, "grappa-hierarchy");
  facts.judge("flat", growth.flat);
  facts.judge("n-log-n", growth.worst / growth.first);
  facts.judge("fewer", growth.flat / growth.queues);
  facts.judge("hops", growth.most_hops_over_log);
  facts.judge_words("more-hops", growth.hops > 1, fmt::format("{}", growth.hops));
  const auto writes = [](const IrregularRun& run) { return static_cast<double>(run.writes); };
  facts.judge("writes", writes(measured.hierarchical) / writes(measured.flat));
  facts.judge("queues", static_cast<double>(measured.hierarchical.channels) /
                            static_cast<double>(measured.flat.channels));
  facts.judge("time", measured.hierarchical.makespan_s / measured.flat.makespan_s);
  report.notes.push_back(
      "At these numbers of tasks no queue fills, and messages wait out their millisecond at every "
      "hop: the hierarchy pays O(log n) of them. The text expects O(log n) more threads for that.");
  report.notes.push_back(
      "Routers are nodes like the others here: they run tasks, too. The text gives them to routing "
      "alone.");
  return report;
}

}  // namespace

extern const Experiment kGrappaHierarchy = {
    "grappa-hierarchy", "queues for every end point, or by nodes and groups", grappa_hierarchy};

}  // namespace slackline::experiments
