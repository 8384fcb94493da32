// RDMA against RPC, table I: what a put, a get, a compare-and-swap and a fetch-and-op cost.
#include "experiments/component_cost.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/structures.h"

namespace slackline::experiments {
namespace {

ExperimentReport rdma_vs_rpc_table1(const Options& options) {
  ExperimentReport report{"The cost of one-sided operations on 64 nodes of 32 processes",
                          "RDMA vs. RPC (IA3 2019), table I"};
  const std::uint32_t operations = options.quick ? 8 : 24;
  const machine::Platform machine = cori(kProcessesPerNode);
  struct Row {
    const char* name;
    const Component& component;
    double paper_us;
  };
  const Row rows[] = {{"put", components()[0], 3.0},
                      {"get", components()[1], 3.7},
                      {"compare-and-swap", components()[2], 3.8},
                      {"fetch-and-op", components()[4], 3.9}};
  ReportTable table{"Time of an operation on 64 nodes, us", {"operation", "paper", "here"}};
  Facts facts(report, "rdma-vs-rpc-table1");
  for (const Row& row : rows) {
    const double us = component_us(row.component, machine, 64, operations);
    table.add({row.name, row.paper_us, us});
    const bool is_put = row.component.access == sched::ComponentKind::kPut;
    facts.judge(is_put ? "put" : "component", us, is_put ? "" : row.name);
  }
  report.tables.push_back(table);
  report.constants = component_constants(machine, operations);
  report.notes.push_back(
      "The put is calibrated to its row; the others are held to theirs with that one figure.");
  return report;
}

}  // namespace

extern const Experiment kRdmaVsRpcTable1 = {
    "rdma-vs-rpc-table1", "what one-sided operations cost on 64 nodes", rdma_vs_rpc_table1};

}  // namespace slackline::experiments
