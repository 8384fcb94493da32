// RDMC, figure 4: latency of each algorithm against the size of the group.
#include <fmt/format.h>

#include <array>
#include <map>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"

namespace slackline::experiments {
namespace {

constexpr std::array<std::string_view, 4> kPatterns = {"sequential", "binomial-tree", "chain",
                                                       "binomial-pipeline"};
constexpr std::array<std::uint64_t, 2> kMessagesMiB = {256, 8};  // stated: figure 4 (a) and (b)
constexpr std::uint32_t kMostNodes = 16;                         // stated: section 5.1

using ByPattern = std::map<std::string_view, std::map<std::uint32_t, double>>;

ByPattern latencies_ms(std::uint64_t message_mib, const machine::Platform& platform, bool quick) {
  ByPattern found;
  for (std::uint32_t n = 2; n <= kMostNodes; n += quick && n > 2 ? 4 : (quick ? 2 : 1)) {
    for (const std::string_view pattern : kPatterns) {
      found[pattern][n] =
          1e3 * delivery_s({std::string(pattern), n, message_mib * kMiB, kMiB, ""}, platform);
    }
  }
  return found;
}

void add_results(ExperimentReport& report, std::uint64_t message_mib, const ByPattern& found) {
  ReportTable table{fmt::format("Latency of {} MB, ms", message_mib), {"nodes"}};
  Figure figure{fmt::format("rdmc-fig4-{}mb", message_mib),
                fmt::format("{} MB multicasts on Fractus", message_mib),
                {"nodes, the sender included", 0},
                {"latency, ms", 0}};
  for (const std::string_view pattern : kPatterns) {
    table.columns.push_back(title_of(pattern));
    Series series{title_of(pattern)};
    for (const auto& [n, ms] : found.at(pattern)) series.add(n, ms);
    figure.series.push_back(series);
  }
  for (const auto& [n, unused] : found.at("chain")) {
    std::vector<NumberOrText> row{static_cast<double>(n)};
    for (const std::string_view pattern : kPatterns) row.push_back(found.at(pattern).at(n));
    table.add(row);
  }
  report.add(std::move(table), std::move(figure));
}

// How much longer than the pipeline, at 16 nodes.
double against_pipeline(const ByPattern& found, std::string_view pattern) {
  return found.at(pattern).at(kMostNodes) / found.at("binomial-pipeline").at(kMostNodes);
}

ExperimentReport rdmc_fig4(const Options& options) {
  ExperimentReport report{"Latency of RDMC's algorithms against the size of the group",
                          "RDMC (DSN 2018), figure 4"};
  const machine::Platform platform = machine::load_platform("fractus");
  const ByPattern large = latencies_ms(kMessagesMiB[0], platform, options.quick);
  const ByPattern small = latencies_ms(kMessagesMiB[1], platform, options.quick);
  add_results(report, kMessagesMiB[0], large);
  add_results(report, kMessagesMiB[1], small);
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"messages", "256 MiB and 8 MiB", "stated: 256 MB and 8 MB"},
      {"block", "1 MiB", "stated for 256 MB (table 1), assumed for 8 MB"},
  };

  Facts facts(report, "rdmc-fig4");
  facts.judge("chain-256mb", against_pipeline(large, "chain"));
  facts.judge("chain-8mb", against_pipeline(small, "chain"));
  for (const std::string_view pattern : {"sequential", "binomial-tree"}) {
    facts.judge("poor-256mb", against_pipeline(large, pattern), title_of(pattern));
    facts.judge("poor-8mb", against_pipeline(small, pattern), title_of(pattern));
  }
  facts.judge("block-times", against_pipeline(large, "sequential"),
              "256 MB by sequential, 3840/259");
  facts.judge("block-times", against_pipeline(large, "binomial-tree"),
              "256 MB by binomial tree, 1024/259");
  facts.judge("block-times", against_pipeline(small, "chain"), "8 MB by chain, 22/11");
  report.notes.push_back(
      "The paper's curve of MVAPICH's broadcast (1.03 to 3 times the pipeline's time) is not "
      "simulated: which algorithm that library picks at each size is not stated.");
  return report;
}

}  // namespace

extern const Experiment kRdmcFig4 = {"rdmc-fig4", "latency of each algorithm against group size",
                                     rdmc_fig4};

}  // namespace slackline::experiments
