// RDMA vs. RPC (2019), figure 5: hash tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/structures.h"

namespace slackline::experiments {
namespace {

enum Way { kCallInsert, kCallFind, kFindCr, kFindCrw, kInsertCw, kInsertCrw };
constexpr std::array<std::string_view, 6> kHow = {"op=insert,via=am",   "op=find,via=am",
                                                  "op=find,level=cr",   "op=find,level=crw",
                                                  "op=insert,level=cw", "op=insert,level=crw"};
constexpr std::array<std::string_view, 6> kNames = {
    "AM insert", "AM find", "RDMA find CR", "RDMA find CRW", "RDMA insert CW", "RDMA insert CRW"};
using Point = std::array<double, 6>;

ExperimentReport rdma_vs_rpc_fig5(const Options& options) {
  ExperimentReport report{"Hash tables, by RDMA or by active messages",
                          "RDMA vs. RPC (2019), figure 5"};
  const std::uint32_t per_node = options.quick ? 4 : 8;
  const std::uint32_t operations = options.quick ? 30 : 25;
  std::vector<std::uint32_t> nodes = {1, 2, 4, 8, 16, 32, 64, 128};
  if (options.quick) nodes = {2, 4, 8};
  ReportTable table{fmt::format("us an operation, {}, {} operations each, load factor 0.5",
                                processes(per_node), operations),
                    {"nodes"}};
  Figure figure{"rdma-vs-rpc-fig5",
                fmt::format("Hash table on Cori, {}", processes(per_node)),
                {"nodes", 2},
                {"latency, us", 2}};
  for (const std::string_view name : kNames) {
    table.columns.emplace_back(name);
    figure.series.push_back({std::string(name)});
  }
  std::vector<Point> points;
  for (const std::uint32_t n : nodes) {
    const machine::Platform platform = cori(per_node);
    Point point{};
    std::vector<NumberOrText> row = {static_cast<double>(n)};
    for (std::size_t i = 0; i < kHow.size(); ++i) {
      point[i] =
          1e6 * measure_structure(fmt::format("hash-table:ranks={},operations={},{},handler={}",
                                              n * per_node, operations, kHow[i], kHandler),
                                  platform)
                    .operation_s;
      row.emplace_back(point[i]);
      figure.series[i].add(n, point[i]);
    }
    if (n > 1) points.push_back(point);  // on one node nothing crosses the network
    table.add(std::move(row));
  }
  report.add(std::move(table), std::move(figure));
  const auto least = [&](Way dear, Way cheap) {
    double ratio = 1e9;
    for (const Point& p : points) ratio = std::min(ratio, p[dear] / p[cheap]);
    return ratio;
  };
  Facts facts(report, "rdma-vs-rpc-fig5");
  facts.judge("am-over-find-cr", least(kCallInsert, kFindCr));
  facts.judge("am-find", points.back()[kCallFind] / points.back()[kCallInsert]);
  facts.judge("crw-first", points.front()[kFindCrw] / points.front()[kCallFind]);
  facts.judge("crw-last", points.back()[kFindCrw] / points.back()[kCallFind]);
  facts.judge("crw-dearer", least(kFindCrw, kCallFind));
  facts.judge("insert-crw", std::min(least(kInsertCrw, kCallInsert), least(kInsertCrw, kCallFind)));
  facts.judge("insert-cw", std::min(least(kInsertCw, kCallInsert), least(kInsertCw, kCallFind)));
  facts.judge("order", least(kInsertCrw, kInsertCw));
  report.constants = structure_constants(per_node);
  report.constants.push_back({"load factor", "0.5 in the fullest part", "assumed"});
  return report;
}

}  // namespace

extern const Experiment kRdmaVsRpcFig5 = {
    "rdma-vs-rpc-fig5", "hash tables, by RDMA or by active messages", rdma_vs_rpc_fig5};

}  // namespace slackline::experiments
