// Grappa: small messages against the network's peak, and what gathering them gains.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/irregular.h"

namespace slackline::experiments {
namespace {

// By size, on the machine that facts are held on.
std::map<std::uint64_t, double> add_raw(ExperimentReport& report, std::uint32_t nodes,
                                        std::uint32_t messages) {
  const std::vector<std::string> machines = {"sierra", "fdr-4node", "fractus"};
  ReportTable table{"Share of the peak bisection bandwidth that single writes reach, %",
                    {"bytes of a write", "sierra", "fdr-4node", "fractus"}};
  Figure figure{"grappa-aggregation-raw",
                "Single writes against the peak",
                {"bytes of a write", 2},
                {"share of the peak, %", 0}};
  for (const std::string& name : machines) figure.series.push_back({name});
  std::map<std::uint64_t, double> share;
  for (const std::uint64_t bytes :
       {8ull, 44ull, 128ull, 512ull, 1024ull, 2048ull, 4096ull, 16384ull, 65536ull}) {
    std::vector<NumberOrText> row{static_cast<double>(bytes)};
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const double reached =
          100 * share_of_peak(machine::load_platform(machines[m]), nodes, bytes, messages);
      if (m == 0) share[bytes] = reached;
      row.emplace_back(reached);
      figure.series[m].add(static_cast<double>(bytes), reached);
    }
    table.add(std::move(row));
  }
  report.add(std::move(table), std::move(figure));
  return share;
}

struct Rates {  // accesses per second of all ranks, by tasks a core
  std::map<std::uint32_t, double> alone;
  std::map<std::uint32_t, double> gathered;
};

Rates add_tasks(ExperimentReport& report, std::uint32_t nodes, std::uint32_t most) {
  const machine::Platform platform = machine::load_platform("sierra");
  ReportTable table{
      "Random fetch-and-adds by delegates: millions a second, all cores",
      {"tasks a core", "each alone", "gathered to 4096 B", "records a write, gathered"}};
  Figure figure{"grappa-aggregation-tasks",
                "Throughput against tasks",
                {"tasks a core", 2},
                {"fetch-and-adds, 10^6 / s", 10},
                {{"each alone"}, {"gathered to 4096 B"}}};
  Rates rates;
  for (std::uint32_t tasks = 1; tasks <= most; tasks *= 4) {
    const std::uint32_t accesses = std::max(64u, 16 * tasks);
    const std::string spec = fmt::format(
        "random-access:ranks={},accesses={},words=4096,tasks={},record=40", nodes, accesses, tasks);
    const double count = static_cast<double>(nodes) * accesses;
    rates.alone[tasks] = count / run_irregular(spec, platform).makespan_s;
    const IrregularRun gathered = run_irregular(spec + ",aggregation=destination", platform);
    rates.gathered[tasks] = count / gathered.makespan_s;
    const double records = 2 * count * (nodes - 1) / nodes;  // requests and replies
    table.add({static_cast<double>(tasks), rates.alone[tasks] / 1e6, rates.gathered[tasks] / 1e6,
               records / static_cast<double>(gathered.writes)});
    figure.add(tasks, {rates.alone[tasks] / 1e6, rates.gathered[tasks] / 1e6});
  }
  report.add(std::move(table), std::move(figure));
  return rates;
}

ExperimentReport grappa_aggregation(const Options& options) {
  ExperimentReport report{"Small messages, and queues that gather them",
                          "Grappa (proposal, 2013), section on communication"};
  const std::uint32_t nodes = options.quick ? 4 : 8;
  const std::map<std::uint64_t, double> share = add_raw(report, nodes, options.quick ? 300 : 1000);
  const Rates rates = add_tasks(report, nodes, options.quick ? 1024 : 4096);
  report.constants = {
      {"machine", fmt::format("preset sierra, {} nodes", nodes),
       "assumed: InfiniBand of the time (QDR); the text names no machine"},
      {"request", "40 B and a mark", "stated: most under 44 B"},
      {"queue", "sent at 4096 B, or when its oldest message has waited 1 ms", "stated"},
      {"switch", "38 ns", "stated"},
      {"accesses", "16 a task, and 64 a core at least", "assumed"},
  };
  Facts facts(report, "grappa-aggregation");
  facts.judge("small", share.at(44));
  facts.judge("1kib", share.at(1024));
  facts.judge("4096", share.at(4096));
  const std::uint32_t most = rates.alone.rbegin()->first;
  facts.judge("most-tasks", rates.gathered.at(most) / rates.alone.at(most));
  facts.judge("one-task", rates.gathered.at(1) / rates.alone.at(1));
  facts.judge("tasks", rates.gathered.at(most) / rates.gathered.at(1));
  report.notes.push_back(
      "With few tasks a queue never fills: every message waits out its millisecond. Latency is "
      "traded for throughput, as the text says, and only many tasks can afford it.");
  return report;
}

}  // namespace

extern const Experiment kGrappaAggregation = {
    "grappa-aggregation", "small messages, alone or gathered, by many tasks a core",
    grappa_aggregation};

}  // namespace slackline::experiments
