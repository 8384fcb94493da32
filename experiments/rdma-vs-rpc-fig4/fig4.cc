// RDMA vs. RPC (2019), figure 4: pushing to queues.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/advice/structure_cost.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/structures.h"

namespace slackline::experiments {
namespace {

using sched::Promise;
using sched::StructureAccess;

struct Point {
  std::uint32_t nodes = 0;
  double call_us = 0;
  double cw_us = 0;
  double crw_us = 0;
  double checksum_us = 0;
  double cw_model_us = 0;
  double crw_model_us = 0;
  double crw_single_us = 0;  // the model with a swap that is tried once
  double attempts = 0;       // of a push's swap
};

Point measure(std::uint32_t nodes, std::uint32_t per_node, std::uint32_t operations) {
  const machine::Platform platform = cori(per_node);
  const std::uint32_t ranks = nodes * per_node;
  const auto push = [&](std::string_view how) {
    return measure_structure(fmt::format("queue:ranks={},operations={},op=push,{},handler={}",
                                         ranks, operations, how, kHandler),
                             platform);
  };
  const auto message = [&](MessageKind what, std::uint32_t words) {
    return message_s({what, ranks, operations, words}, platform);
  };
  analysis::ComponentCosts costs;
  costs.put_s = message(MessageKind::kPut, 1024);
  costs.single_fetch_s = message(MessageKind::kFetchAdd, 1);
  costs.persistent_s = message(MessageKind::kPersistentSwap, 1024);
  const auto model_us = [&](Promise level) {
    return 1e6 * analysis::find_cost_row(StructureAccess::kPush, level)->price_s(costs, true);
  };
  const Measured crw = push("level=crw");
  Point point;
  point.nodes = nodes;
  point.call_us = 1e6 * push("via=am").operation_s;
  point.cw_us = 1e6 * push("level=cw").operation_s;
  point.crw_us = 1e6 * crw.operation_s;
  point.attempts = crw.last_attempts;
  point.checksum_us = 1e6 * push("level=checksum").operation_s;
  point.cw_model_us = model_us(Promise::kWrite);
  point.crw_model_us = model_us(Promise::kReadWrite);
  costs.persistent_s = message(MessageKind::kSwap, 1024);
  point.crw_single_us = model_us(Promise::kReadWrite);
  return point;
}

ExperimentReport rdma_vs_rpc_fig4(const Options& options) {
  ExperimentReport report{"Pushing to queues on every process, by RDMA or by active messages",
                          "RDMA vs. RPC (2019), figure 4"};
  const std::uint32_t per_node = options.quick ? 4 : 32;
  const std::uint32_t operations = options.quick ? 30 : 40;
  std::vector<std::uint32_t> nodes = {1, 2, 4, 8, 16, 32, 64};
  if (options.quick) nodes = {2, 4, 8};
  ReportTable table{fmt::format("us a push, {}, {} pushes each", processes(per_node), operations),
                    {"nodes", "am", "rdma cw", "its model", "rdma crw", "its model, crw",
                     "with one try", "tries", "rdma checksum"}};
  Figure figure{"rdma-vs-rpc-fig4",
                fmt::format("Queue push on Cori, {}", processes(per_node)),
                {"nodes", 2},
                {"latency, us", 2}};
  figure.series = {{"AM push"},
                   {"RDMA push CW"},
                   {"RDMA push CW, model", {}, {}, true},
                   {"RDMA push CRW"},
                   {"RDMA push CRW, model", {}, {}, true},
                   {"RDMA checksum push"}};
  double off = 0;
  double checksum_off = 0;
  double least = 1e9;
  double last_single = 0;
  double attempts = 0;
  for (const std::uint32_t n : nodes) {
    const Point p = measure(n, per_node, operations);
    table.add({static_cast<double>(n), p.call_us, p.cw_us, p.cw_model_us, p.crw_us, p.crw_model_us,
               p.crw_single_us, p.attempts, p.checksum_us});
    const std::array all = {p.call_us, p.cw_us,        p.cw_model_us,
                            p.crw_us,  p.crw_model_us, p.checksum_us};
    for (std::size_t i = 0; i < all.size(); ++i) figure.series[i].add(n, all[i]);
    off = std::max(off, std::abs(p.cw_us / p.cw_model_us - 1));
    checksum_off = std::max(checksum_off, std::abs(p.checksum_us / p.cw_model_us - 1));
    least = std::min(least, p.crw_us / p.crw_model_us);
    last_single = p.crw_us / p.crw_single_us;
    attempts = std::max(attempts, p.attempts);
  }
  report.add(std::move(table), std::move(figure));
  Facts facts(report, "rdma-vs-rpc-fig4");
  facts.judge("cw", off);
  facts.judge("checksum", checksum_off);
  facts.judge("crw", least);
  facts.judge("crw-one-try", last_single);
  facts.judge("tries", attempts);
  report.constants = structure_constants(per_node);
  report.constants.push_back(
      {"model",
       "put, single-variable fetch-and-add and persistent compare-and-swap as they take "
       "under the same load",
       "stated"});
  report.constants.push_back(
      {"persistent compare-and-swap",
       "to random ones of 1024 words, from a value that the first attempt finds "
       "out",
       "stated, but for the number of words"});
  return report;
}

}  // namespace

extern const Experiment kRdmaVsRpcFig4 = {
    "rdma-vs-rpc-fig4", "pushing to queues, by RDMA or by active messages", rdma_vs_rpc_fig4};

}  // namespace slackline::experiments
