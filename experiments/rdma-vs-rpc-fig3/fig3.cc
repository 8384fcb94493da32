// RDMA against RPC, figure 3: component latencies against nodes, on Aries and on InfiniBand.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "experiments/component_cost.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/structures.h"

namespace slackline::experiments {
namespace {

enum Which : std::size_t { kPut, kGet, kSingle, kPersistent, kFad, kOneVariable, kMessage, kAll };

using Curves = std::vector<std::vector<double>>;  // of each component, by doubling of the nodes

Curves measured(const machine::Platform& platform, std::uint32_t doublings,
                std::uint32_t operations) {
  Curves curves(kAll);
  for (std::size_t c = 0; c < kAll; ++c) {
    for (std::uint32_t d = 0; d <= doublings; ++d) {
      curves[c].push_back(component_us(components()[c], platform, 1u << d, operations));
    }
  }
  return curves;
}

void add_facts(const Curves& aries, Facts& facts) {
  double least_jump = std::numeric_limits<double>::infinity();
  double most_later = 0;
  double least_later = std::numeric_limits<double>::infinity();
  for (const Which c : {kPut, kGet, kSingle, kFad}) {
    const std::vector<double>& us = aries[c];
    least_jump = std::min(least_jump, us[1] / us[0]);
    for (std::size_t d = 2; d < us.size(); ++d) {
      most_later = std::max(most_later, us[d] / us[d - 1]);
      least_later = std::min(least_later, us[d] / us[d - 1]);
    }
  }
  facts.judge("jump", least_jump);
  facts.judge("gradually", most_later / least_jump);
  facts.judge("rises", most_later);
  facts.judge("never-falls", least_later);
  double least_over_put = std::numeric_limits<double>::infinity();
  double least_persistent = std::numeric_limits<double>::infinity();
  double widest = 0;
  for (std::size_t d = 1; d < aries[kPut].size(); ++d) {
    const auto [low, high] = std::minmax({aries[kGet][d], aries[kSingle][d], aries[kFad][d]});
    least_over_put = std::min(least_over_put, low / aries[kPut][d]);
    widest = std::max(widest, high / low);
    least_persistent = std::min(least_persistent, aries[kPersistent][d] / aries[kSingle][d]);
  }
  facts.judge("put-cheapest", least_over_put);
  facts.judge("cluster", widest);
  facts.judge("persistent", least_persistent);
}

ExperimentReport rdma_vs_rpc_fig3(const Options& options) {
  ExperimentReport report{"Component latencies of RDMA operations and active messages",
                          "RDMA vs. RPC (IA3 2019), figure 3"};
  const std::uint32_t doublings = options.quick ? 4 : 7;
  const std::uint32_t operations = options.quick ? 8 : 12;
  const machine::Platform on_aries = cori(kProcessesPerNode);
  machine::Platform infiniband = machine::load_platform("fdr-4node");
  infiniband.node.ranks = kProcessesPerNode;
  infiniband.nic_read = on_aries.nic_read;
  const Curves aries = measured(on_aries, doublings, operations);

  ReportTable table{"Time of an operation, us", {"nodes"}};
  Figure figure{"rdma-vs-rpc-fig3",
                "Random operations by 32 processes a node",
                {"nodes", 2},
                {"time of an operation, us", 0}};
  for (const Component& component : components()) {
    table.columns.emplace_back(component.name);
    figure.series.push_back({std::string(component.name)});
  }
  for (std::uint32_t d = 0; d <= doublings; ++d) {
    std::vector<NumberOrText> row{static_cast<double>(1u << d)};
    for (std::size_t c = 0; c < kAll; ++c) {
      row.emplace_back(aries[c][d]);
      figure.series[c].add(1u << d, aries[c][d]);
    }
    table.add(std::move(row));
  }
  report.add(std::move(table), std::move(figure));

  Facts facts(report, "rdma-vs-rpc-fig3");
  add_facts(aries, facts);
  const std::uint32_t nodes = 1u << doublings;
  const double on_infiniband =
      component_us(components()[kOneVariable], infiniband, nodes, operations) /
      component_us(components()[kFad], infiniband, nodes, operations);
  const double single_variable = aries[kOneVariable].back() / aries[kFad].back();
  facts.judge("single-aries", single_variable);
  facts.judge("single-infiniband", on_infiniband);
  // What it would take.
  const std::uint32_t swept = std::min(nodes, 32u);
  ReportTable sweep{
      fmt::format("FAD on a single variable against random ones, {} nodes, by what an "
                  "atomic that had to wait for its variable takes longer",
                  swept),
      {"atomic_service_shared, us", "times"}};
  for (const int us : {0, 1, 2, 3, 4}) {
    machine::Platform varied = on_aries;
    varied.atomic_service_shared = sched::Time{us * std::int64_t{1'000'000}};
    sweep.add({static_cast<double>(us),
               component_us(components()[kOneVariable], varied, swept, operations) /
                   component_us(components()[kFad], varied, swept, operations)});
  }
  report.tables.push_back(std::move(sweep));
  report.constants = component_constants(on_aries, operations);
  report.constants.push_back(
      {"InfiniBand", "preset fdr-4node, as many nodes, 32 processes each, nic_read of cori",
       "ours: the paper's other machine is Summit, on which it gives no figures"});
  report.notes.push_back(
      "The paper counts all of a million operations a process, and begins with variables that are "
      "0; here they are not 0 from the start, as after most of a run, so that a persistent CAS "
      "takes two rounds where nobody comes between.");
  return report;
}

}  // namespace

extern const Experiment kRdmaVsRpcFig3 = {"rdma-vs-rpc-fig3",
                                          "component latencies against nodes, Aries and InfiniBand",
                                          rdma_vs_rpc_fig3};

}  // namespace slackline::experiments
