// RDMC, figure 6: bandwidth against the size of a block.

#include <algorithm>

#include "base/units.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kNodes = 4;                    // stated: figure 6
constexpr std::uint64_t kLeastMessage = 16 * kKiB;     // stated: figure 6
constexpr std::uint64_t kLargestMessage = 128 * kMiB;  // stated: figure 6
constexpr std::uint64_t kLeastBlock = 16 * kKiB;       // assumed
constexpr std::uint64_t kLargestBlock = 16 * kMiB;     // assumed
constexpr std::uint64_t kLeastJudged = kMiB;           // messages with room for a peak

// Rises to one peak, which is neither end, and falls after it.
bool rises_peaks_and_falls(const std::vector<double>& y) {
  const auto peak = std::max_element(y.begin(), y.end());
  return peak != y.begin() && peak + 1 != y.end() && std::is_sorted(y.begin(), peak) &&
         std::is_sorted(peak, y.end(), std::greater<>());
}

ExperimentReport rdmc_fig6(const Options& options) {
  ExperimentReport report{"Bandwidth against the size of a block", "RDMC (DSN 2018), figure 6"};
  const machine::Platform platform = machine::load_platform("fractus");
  ReportTable table{"Bandwidth, Gb/s, 4 nodes", {"message", "block", "bandwidth"}};
  ReportTable peaks{"Peaks", {"message", "block of the peak", "Gb/s"}};
  Figure figure{"rdmc-fig6",
                "Binomial pipeline, 4 nodes, Fractus",
                {"block, KiB", 2},
                {"bandwidth, Gb/s", 0}};
  Facts facts(report, "rdmc-fig6");
  double previous_peak = 0;
  bool peaks_rise = true;
  for (std::uint64_t message = kLeastMessage; message <= kLargestMessage;
       message *= options.quick ? 16 : 2) {
    Series series{sched::format_bytes(message)};
    for (std::uint64_t block = kLeastBlock; block <= std::min(message, kLargestBlock);
         block *= options.quick ? 4 : 2) {
      const double gbps = static_cast<double>(message) * 8e-9 /
                          delivery_s({"binomial-pipeline", kNodes, message, block, ""}, platform);
      series.add(static_cast<double>(block) / static_cast<double>(kKiB), gbps);
      table.add({sched::format_bytes(message), sched::format_bytes(block), gbps});
    }
    const auto peak = std::max_element(series.y.begin(), series.y.end());
    const double at = series.x[static_cast<std::size_t>(peak - series.y.begin())];
    peaks.add({series.name, sched::format_bytes(static_cast<std::uint64_t>(at) * kKiB), *peak});
    if (message >= kLeastJudged) {
      const bool shape = rises_peaks_and_falls(series.y);
      facts.judge_words("shape", shape, shape ? "so" : "not so", series.name);
    }
    peaks_rise = peaks_rise && *peak > previous_peak;
    previous_peak = *peak;
    figure.series.push_back(std::move(series));
  }
  facts.judge_words("peaks", peaks_rise, peaks_rise ? "so" : "not so");
  report.tables = {std::move(peaks), std::move(table)};
  report.figures.push_back(std::move(figure));
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"nodes", "4", "stated: figure 6"},
      {"messages", "16 KiB to 128 MiB", "stated: 16 KB to 128 MB"},
      {"blocks", "16 KiB to 16 MiB", "assumed: the text does not say"},
  };
  report.notes.push_back(
      "Messages below 1 MiB have at most a few blocks of 16 KiB, no room for a peak between the "
      "ends of the range, and are drawn but not judged.");
  return report;
}

}  // namespace

extern const Experiment kRdmcFig6 = {"rdmc-fig6", "bandwidth against block size", rdmc_fig6};

}  // namespace slackline::experiments
