#include "experiments/rdmc-fig11/fig11.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "analysis/analytic.h"
#include "experiments/cpu_load.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"

namespace slackline::experiments {
namespace {

struct Size {
  std::uint64_t bytes;
  std::string_view name;
  std::string_view file;
};
// stated: the three sizes of figure 11
constexpr std::array kSizes = {Size{100'000'000, "100 MB", "100mb"}, Size{1'000'000, "1 MB", "1mb"},
                               Size{10'000, "10 KB", "10kb"}};
constexpr std::uint32_t kMostNodes = 16;

struct Point {
  double polling_gbps = 0;
  double interrupts_gbps = 0;
  double awake = 0;  // with interrupts, on the average of the members
};

// RDMC copies the first block to its place once the message is complete.
Point measure(std::uint32_t nodes, std::uint64_t bytes, std::uint64_t block,
              const machine::Platform& polling) {
  const sched::Schedule schedule = schedule_of({"binomial-pipeline", nodes, bytes, block, ""});
  const double copy_s = polling.copy_s(std::min(bytes, block));
  const auto gbps = [&](double seconds) { return static_cast<double>(bytes) * 8e-9 / seconds; };
  Point point;
  point.polling_gbps =
      gbps(delivered_s(schedule, analysis::run_analytic(schedule, polling)) + copy_s);
  const sched::Trace trace = analysis::run_analytic(schedule, with_interrupts(polling));
  const double end_s = delivered_s(schedule, trace) + copy_s;
  point.interrupts_gbps = gbps(end_s);
  const std::vector<double> shares = awake_shares(schedule, trace, polling, copy_s, end_s);
  point.awake = std::accumulate(shares.begin(), shares.end(), 0.0) / nodes;
  return point;
}

}  // namespace

Report rdmc_fig11(const Options& options) {
  Report report{"Polling against interrupts",
                "RDMC (DSN 2018), figure 11 and section 5.2.3",
                {},
                {},
                {},
                {},
                {}};
  const machine::Platform platform = machine::load_platform("fractus");
  Table table{"One sender, Fractus",
              {"message", "nodes", "polling, Gb/s", "interrupts, Gb/s", "CPU with interrupts, %"},
              {}};
  Figure load{"rdmc-fig11-cpu",
              "CPU load with interrupts (with polling it is 100 %): a model",
              {"nodes, the sender included", 0},
              {"CPU load, %", 0},
              {},
              false};
  std::array<double, kSizes.size()> awake{};   // the average over group sizes
  std::array<double, kSizes.size()> slower{};  // the largest loss of bandwidth
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    const Size& size = kSizes[i];
    Figure figure{fmt::format("rdmc-fig11-{}", size.file),
                  fmt::format("{} multicasts on Fractus, one sender", size.name),
                  {"nodes, the sender included", 0},
                  {"bandwidth, Gb/s", 0},
                  {},
                  false};
    figure.series = {{"polling", {}, {}, false}, {"interrupts", {}, {}, true}};
    Series loads{std::string(size.name), {}, {}, false};
    double points = 0;
    for (std::uint32_t n = 3; n <= kMostNodes; n += options.quick ? 4 : 1) {
      const Point p = measure(n, size.bytes, kMiB, platform);
      table.add({std::string(size.name), static_cast<double>(n), p.polling_gbps, p.interrupts_gbps,
                 100 * p.awake});
      figure.series[0].add(n, p.polling_gbps);
      figure.series[1].add(n, p.interrupts_gbps);
      loads.add(n, 100 * p.awake);
      awake[i] += p.awake;
      slower[i] = std::max(slower[i], 1 - p.interrupts_gbps / p.polling_gbps);
      points += 1;
    }
    awake[i] /= points;
    report.figures.push_back(std::move(figure));
    load.series.push_back(std::move(loads));
  }
  report.figures.push_back(std::move(load));
  report.tables.push_back(std::move(table));
  Table blocks{"1 MB to 8 nodes by smaller blocks",
               {"block", "polling, Gb/s", "interrupts, Gb/s", "CPU with interrupts, %"},
               {}};
  for (const std::uint64_t block : {1024 * kKiB, 256 * kKiB, 128 * kKiB, 64 * kKiB, 16 * kKiB}) {
    const Point p = measure(8, kSizes[1].bytes, block, platform);
    blocks.add({sched::format_bytes(block), p.polling_gbps, p.interrupts_gbps, 100 * p.awake});
  }
  report.tables.push_back(std::move(blocks));
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"interrupt", sched::format_time(platform.interrupt_cost), "assumed; in the preset"},
      {"messages", "100 MB, 1 MB, 10 KB", "stated"},
      {"block", "1 MiB", "assumed: the default of RDMC's published code"},
      {"first block", "copied to its place once the message is complete",
       "from RDMC's published code (the text: copied, while others come in)"},
      {"completions that interrupt", "of receives and of blocks sent; of ready messages not",
       "assumed"},
  };
  Facts facts(report);
  facts.between("CPU load with interrupts, 100 MB, in % (\"around 10 %\")", Source::kStated, 5, 20,
                100 * awake[0]);
  facts
      .between("CPU load with interrupts, 1 MB, in % (\"50 %\")", Source::kStated, 35, 65,
               100 * awake[1])
      .known_gap =
      "With one block of 1 MiB a node waits for its turn most of the time. By blocks of 128 or 64 "
      "KiB it would hold; the paper does not say which were used.";
  facts
      .at_least("CPU load with interrupts, 10 KB, in % (\"only a minimal difference\" from 100)",
                Source::kStated, 80, 100 * awake[2])
      .known_gap =
      "The paper has the time spent on processing blocks; the model knows interrupts, posts and "
      "copies only, and a node sleeps while the others' take place.";
  facts.at_most("bandwidth lost with interrupts, 100 MB, in % (\"quite minimal\")", Source::kStated,
                15, 100 * slower[0]);
  facts.at_most("bandwidth lost with interrupts, 1 MB, in % (\"quite minimal\")", Source::kStated,
                15, 100 * slower[1]);
  facts.that("the loss, from large messages to small ones (\"particularly for large transfers\")",
             Source::kStated, "grows",
             fmt::format("{:.1f} %, {:.1f} %, {:.1f} %", 100 * slower[0], 100 * slower[1],
                         100 * slower[2]),
             slower[1] <= slower[2] && slower[0] <= slower[2]);
  report.notes.push_back(
      "The CPU load is a model over the trace: which of the thread's work falls together is "
      "counted, other threads and the operating system are not.");
  report.notes.push_back(
      "Pure polling and RDMC's hybrid are the same here: 50 ms of polling outlast every gap "
      "between "
      "two completions, as the paper found them the same.");
  return report;
}

}  // namespace slackline::experiments
