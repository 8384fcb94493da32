// RDMC, figure 7: messages of one byte per second.

#include <algorithm>
#include <cmath>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"
#include "sched/pattern/pattern.h"

namespace slackline::experiments {
namespace {

ExperimentReport rdmc_fig7(const Options&) {
  ExperimentReport report{"Messages of one byte per second", "RDMC (DSN 2018), figure 7"};
  const machine::Platform platform = machine::load_platform("fractus");
  ReportTable table{"One message after another", {"nodes", "steps", "messages/s", "latency, us"}};
  Figure figure{"rdmc-fig7",
                "Messages of 1 byte, binomial pipeline, Fractus",
                {"nodes, the sender included", 0},
                {"messages per second", 0}};
  Series series{"binomial pipeline"};
  std::vector<double> latency_s(17, 0);
  bool never_rises = true;
  for (std::uint32_t n = 2; n <= 16; ++n) {
    latency_s[n] = delivery_s({"binomial-pipeline", n, 1, kMiB, ""}, platform);
    table.add({static_cast<double>(n), static_cast<double>(sched::ceil_log2(n)), 1 / latency_s[n],
               1e6 * latency_s[n]});
    series.add(n, 1 / latency_s[n]);
    never_rises = never_rises && latency_s[n] >= latency_s[n - 1];
  }
  report.tables.push_back(table);
  figure.series.push_back(series);
  report.figures.push_back(figure);
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"messages under way at once", "1", "stated: RDMC does not pipeline messages (section 5.1)"},
      {"nodes", "2 to 16", "assumed: Fractus has 16"},
  };
  Facts facts(report, "rdmc-fig7");
  facts.judge_words("never-rises", never_rises, never_rises ? "so" : "it rises");
  // One relay more per doubling, each the price of the one before.
  const double first = latency_s[4] - latency_s[2];
  double most = 0;
  for (const std::uint32_t n : {8u, 16u}) {
    most = std::max(most, std::abs((latency_s[n] - latency_s[n / 2]) / first - 1));
  }
  facts.judge("doubling", most);
  report.notes.push_back(
      "The paper's text gives no number here: the test is there to show overheads. What is judged "
      "is the shape that the algorithm gives.");
  return report;
}

}  // namespace

extern const Experiment kRdmcFig7 = {"rdmc-fig7", "messages of one byte per second", rdmc_fig7};

}  // namespace slackline::experiments
