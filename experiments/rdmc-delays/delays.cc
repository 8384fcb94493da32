// Delays that make a multicast faster, where messages share links.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "analysis/slack/delay_slopes.h"
#include "analysis/slack/helpful_delays.h"
#include "experiments/contention.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kRanks = 8;

machine::Platform racks(std::uint32_t oversubscription, const char* placement) {
  return machine::parse_platform_spec(
      fmt::format("two-level:racks=2,hosts=4,oversubscription={},rate=100Gbps,latency=1us,"
                  "o_post=200ns,o_complete=200ns,gap=20ns,placement={}",
                  oversubscription, placement));
}

struct Gain {
  double helps = 0;  // share of operations of which a small delay helps
  analysis::HelpfulDelays found;
  double simulated_s = 0;  // SimGrid's makespan with the delays that were found

  double share() const { return 1 - makespan_s() / found.makespan_s; }
  double makespan_s() const {
    return found.together.empty() ? found.makespan_s : found.together.back().makespan_s;
  }
};

Gain gain_of(const sched::Schedule& schedule, const machine::Platform& platform) {
  const machine::Setting setting(schedule, platform);
  const analysis::DelayedRuns runs(setting);
  std::vector<sched::OpId> ops;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) ops.emplace_back(i);
  const std::vector<analysis::DelaySlope> slopes = analysis::delay_slopes(runs, ops, 1);
  Gain gain;
  const auto helpful = std::ranges::count_if(slopes, [](const analysis::DelaySlope& slope) {
    return slope.slope < 0 || slope.at_once_s < 0;
  });
  gain.helps = static_cast<double>(helpful) / static_cast<double>(ops.size());
  gain.found = analysis::helpful_delays({setting, 1, {}});
  machine::DelayPlan plan;
  for (const analysis::HelpfulDelay& one : gain.found.together) plan.ops.push_back(one.delay);
  gain.simulated_s = run_contended(setting.with(plan)).makespan_s();
  return gain;
}

ExperimentReport rdmc_delays(const Options& options) {
  ExperimentReport report;
  report.title = "Delays that make a multicast faster";
  report.reproduces = "a study of ours";
  report.constants = {{"a host's cable", "100 Gb/s", "assumed"},
                      {"latency", "1 us", "assumed"},
                      {"o_post, o_complete, gap", "200 ns, 200 ns, 20 ns", "assumed"}};
  const std::vector<std::string> patterns =
      options.quick ? std::vector<std::string>{"binary-tree", "circulant"}
                    : std::vector<std::string>{"binomial-pipeline", "chain",       "binomial-tree",
                                               "binary-tree",       "double-tree", "circulant",
                                               "scatter-allgather"};
  ReportTable table{"1 MiB in blocks of 128 KiB to 8 ranks in two racks",
                    {"pattern", "uplinks", "ranks", "makespan, us",
                     "a small delay helps at, % of ops", "delays found", "gained, %"}};
  Figure figure{"rdmc-delays",
                "What up to four delays gain, ranks dealt out over two racks",
                {"oversubscription", 2},
                {"gained, %", 0}};
  double off = 0;
  double of_binary_tree = 0;
  for (const std::string& pattern : patterns) {
    const sched::Schedule schedule = schedule_of({pattern, kRanks, kMiB, 128 * kKiB, ""});
    figure.series.push_back({title_of(pattern)});
    for (const std::uint32_t over : {1u, 2u, 4u}) {
      if (options.quick && over != 4) continue;
      for (const char* placement : {"packed", "round-robin"}) {
        const Gain gain = gain_of(schedule, racks(over, placement));
        off = std::max(off, std::abs(gain.simulated_s / gain.makespan_s() - 1));
        const bool dealt = placement == std::string("round-robin");
        if (dealt) figure.series.back().add(over, 100 * gain.share());
        if (dealt && over == 4 && pattern == "binary-tree") of_binary_tree = 100 * gain.share();
        table.add({title_of(pattern), fmt::format("{}:1", over), dealt ? "dealt out" : "packed",
                   1e6 * gain.found.makespan_s, 100 * gain.helps,
                   static_cast<double>(gain.found.together.size()), 100 * gain.share()});
      }
    }
  }
  report.add(std::move(table), std::move(figure));
  Facts facts(report, "rdmc-delays");
  facts.judge("simgrid-agrees", off);
  facts.judge("binary-tree", of_binary_tree);
  return report;
}

}  // namespace

extern const Experiment kRdmcDelays = {
    "rdmc-delays", "delays that make a multicast faster on shared links", rdmc_delays};

}  // namespace slackline::experiments
