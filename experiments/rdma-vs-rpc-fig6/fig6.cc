// RDMA vs. RPC (2019), figure 6: attentiveness.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/structures.h"

namespace slackline::experiments {
namespace {

struct Point {
  double compute_us = 0;
  double call_us = 0;
  double thread_us = 0;
  double rdma_us = 0;  // cw
  double crw_us = 0;
  double wait_us = 0;  // of calls that find their target busy
};

ExperimentReport rdma_vs_rpc_fig6(const Options& options) {
  ExperimentReport report{"Attentiveness: pushing to queues between computations",
                          "RDMA vs. RPC (2019), figure 6"};
  const std::uint32_t per_node = options.quick ? 4 : 16;
  const std::uint32_t ranks = 8 * per_node;
  const std::uint32_t operations = options.quick ? 30 : 50;
  std::vector<double> computes = {0, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  if (options.quick) computes = {0, 1, 4, 16, 64, 512};
  const machine::Platform platform = cori(per_node);
  std::vector<Point> points;
  ReportTable table{fmt::format("us a push, without the computation; 8 nodes, {}, {} pushes each",
                                processes(per_node), operations),
                    {"compute, us", "AM", "wait of those that wait", "AM, progress thread",
                     "RDMA cw", "RDMA crw"}};
  Figure figure{"rdma-vs-rpc-fig6",
                "Queue insertion on Cori against computation between insertions",
                {"compute, us", 2},
                {"latency, us", 2},
                {{"AM queue insertion"},
                 {"AM queue insertion (PT)"},
                 {"RDMA queue insertion (CW)"},
                 {"RDMA queue insertion (CRW)", {}, {}, true}}};
  for (const double compute : computes) {
    const auto push = [&](std::string_view how) {
      return measure_structure(fmt::format("queue:ranks={},operations={},op=push,{},handler={},"
                                           "compute={}us",
                                           ranks, operations, how, kHandler, compute),
                               platform);
    };
    const Measured call = push("via=am");
    const Point p{
        compute,
        1e6 * call.operation_s,
        1e6 * push(fmt::format("via=am,progress=thread,contention={}", kContention)).operation_s,
        1e6 * push("level=cw").operation_s,
        1e6 * push("level=crw").operation_s,
        1e6 * call.wait_s};
    points.push_back(p);
    table.add({compute, p.call_us, p.wait_us, p.thread_us, p.rdma_us, p.crw_us});
    const double at = std::max(compute, 0.25);
    figure.add(at, {p.call_us, p.thread_us, p.rdma_us, p.crw_us});
  }
  report.add(std::move(table), std::move(figure));
  const Point& first = points.front();
  const Point& last = points.back();
  double beyond = 1e9;
  double thread_worst = 0;
  for (const Point& p : points) {
    if (p.compute_us > 2) beyond = std::min(beyond, p.call_us / p.rdma_us);
    thread_worst = std::max(thread_worst, p.thread_us / first.thread_us);
  }
  const Point& middle = *std::find_if(points.begin(), points.end(),
                                      [](const Point& p) { return p.compute_us == 64; });
  Facts facts(report, "rdma-vs-rpc-fig6");
  facts.judge("am-first", first.call_us / first.rdma_us);
  facts.judge("beyond-2us", beyond);
  facts.judge("linear", last.call_us / middle.call_us / 8);
  facts.judge("half", last.wait_us / last.compute_us);
  facts.judge("rdma-falls", last.rdma_us / first.rdma_us);
  facts.judge("thread", thread_worst);
  facts.judge("thread-costs", first.thread_us / first.call_us);
  report.constants = structure_constants(per_node);
  report.constants.push_back({"progress thread",
                              fmt::format("a handler takes {} longer on it", kContention),
                              "assumed: it shares the core with the process"});
  report.constants.push_back({"nodes", "8", "assumed"});
  report.notes.push_back(
      "RDMA is a push cw in these facts: the published benchmark pushes to BCL's FastQueue, which "
      "is that. A call is dearer than a push crw from 16 us on.");
  report.notes.push_back("The figure shows no computation at 0.25 us.");
  return report;
}

}  // namespace

extern const Experiment kRdmaVsRpcFig6 = {
    "rdma-vs-rpc-fig6", "attentiveness: calls between computations", rdma_vs_rpc_fig6};

}  // namespace slackline::experiments
