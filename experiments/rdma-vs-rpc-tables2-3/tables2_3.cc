// RDMA vs. RPC (2019), tables II and III: operations of hash tables and queues.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/advice/structure_cost.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/structures.h"

namespace slackline::experiments {
namespace {

using sched::Promise;
using sched::StructureAccess;

std::string spec_of(const analysis::CostRow& row, std::uint32_t ranks, std::uint32_t clients,
                    std::uint32_t operations) {
  const bool table = row.access == StructureAccess::kInsert || row.access == StructureAccess::kFind;
  return fmt::format("{}:ranks={},clients={},operations={},op={},level={},handler={}",
                     table ? "hash-table" : "queue", ranks, clients, operations, name(row.access),
                     sched::name(row.level), "20ns");
}

double stated_us(StructureAccess access, Promise level) {
  return 1e6 * analysis::find_cost_row(access, level)->price_s(analysis::stated_costs());
}

ExperimentReport rdma_vs_rpc_tables2_3(const Options& options) {
  ExperimentReport report{"What operations on data structures cost, as sums of messages",
                          "RDMA vs. RPC (2019), tables II and III"};
  const std::uint32_t nodes = options.quick ? 32 : 64;
  const std::uint32_t per_node = options.quick ? 2 : 8;
  const std::uint32_t ranks = nodes * per_node;
  const std::uint32_t operations = options.quick ? 20 : 40;
  // Two processes, each on a node of its own.
  const machine::Platform idle = cori(1);
  const machine::Wiring wiring(idle, 2);
  const analysis::ComponentCosts costs =
      analysis::idle_costs(idle, wiring, sched::RankId(1), sched::RankId(0), sched::Time{20'000});
  const machine::Platform busy = cori(per_node);
  ReportTable table{
      fmt::format("us; under load: {} nodes, {}, all of which operate", nodes, processes(per_node)),
      {"table", "operation", "level", "cost", "of table I", "model of cori", "alone",
       "under load"}};
  double furthest = 0;
  bool dearer = true;
  for (const analysis::CostRow& row : analysis::cost_rows()) {
    const double model_s = row.price_s(costs);
    const double alone_s = measure_structure(spec_of(row, 2, 1, 1), idle).operation_s;
    const double load_s =
        measure_structure(spec_of(row, ranks, ranks, operations), busy).operation_s;
    furthest = std::max(furthest, std::abs(alone_s / model_s - 1));
    if (row.local == 0) dearer = dearer && load_s > alone_s;
    table.add({std::string(row.table), std::string(name(row.access)),
               std::string(sched::name(row.level)), std::string(row.formula),
               1e6 * row.price_s(analysis::stated_costs()), 1e6 * model_s, 1e6 * alone_s,
               1e6 * load_s});
  }
  report.tables.push_back(std::move(table));
  Facts facts(report, "rdma-vs-rpc-tables2-3");
  const auto price = [&](std::string_view what, StructureAccess access, Promise level) {
    facts.judge("prices", stated_us(access, level), what);
  };
  price("insert crw", StructureAccess::kInsert, Promise::kReadWrite);
  price("insert cw", StructureAccess::kInsert, Promise::kWrite);
  price("find crw", StructureAccess::kFind, Promise::kReadWrite);
  price("find cr", StructureAccess::kFind, Promise::kRead);
  price("push cw", StructureAccess::kPush, Promise::kWrite);
  price("pop cr", StructureAccess::kPop, Promise::kRead);
  facts.judge("alone", furthest);
  facts.judge_words("load", dearer, dearer ? "yes" : "no");
  report.constants = structure_constants(per_node);
  report.constants.push_back({"local operation (l)", "20 ns and a copy", "assumed"});
  report.notes.push_back(
      "'Of table I' puts the paper's messages into the formulas, with 3.8 us for the persistent "
      "compare-and-swap too. The model and the runs have the preset's figures, of which o_post is "
      "calibrated to table I's put.");
  return report;
}

}  // namespace

extern const Experiment kRdmaVsRpcTables23 = {
    "rdma-vs-rpc-tables2-3", "operations of hash tables and queues as sums of messages",
    rdma_vs_rpc_tables2_3};

}  // namespace slackline::experiments
