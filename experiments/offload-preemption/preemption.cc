// RDMC, sections 2 and 5.1: what relaying in the NIC gains as the software that relays grows
// slower.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"
#include "experiments/offloaded.h"

namespace slackline::experiments {
namespace {

using sched::Time;

constexpr std::array kPatterns = {"chain", "binomial-tree", "binomial-pipeline"};
constexpr std::array kDelays_us = {0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0};
constexpr std::array<std::uint32_t, 3> kChances_ppm = {1'000, 10'000, 50'000};
constexpr Time kPreemption = std::chrono::microseconds(100);
constexpr offload::NicTiming kFifo{offload::Egress::kFifo, Time{0}};
constexpr offload::NicTiming kLeastSlack{offload::Egress::kLeastSlack, Time{0}};

// The software takes this long, beyond what the machine's takes, to see a completion.
machine::Platform slower(machine::Platform platform, double delay_us) {
  platform.o_complete += Time(static_cast<std::int64_t>(delay_us * 1e6));
  return platform;
}

machine::DelayPlan preemptions(std::uint32_t chance_ppm, std::uint64_t seed) {
  machine::Noise noise;
  noise.of.low = kPreemption;
  noise.chance = sched::PartsPerMillion(chance_ppm);
  machine::DelayPlan plan;
  plan.noise = {noise};
  plan.seed = seed;
  return plan;
}

// One pattern in one group.
struct Case {
  std::string pattern;
  std::uint32_t nodes = 0;
  double fifo_ms = 0;
  double least_slack_ms = 0;
  bool cpus_reach_nics = false;
  std::vector<double> software_ms;   // by kDelays_us
  std::vector<double> preempted_ms;  // by kChances_ppm, mean over seeds
};

Case measure(const std::string& pattern, std::uint32_t nodes, std::uint64_t bytes,
             std::uint64_t seeds) {
  const machine::Platform platform = machine::load_platform("fractus");
  const sched::Schedule schedule = schedule_of({pattern, nodes, bytes, kMiB, ""});
  const Offloaded nics(schedule, offload::Mode::kMqEnable);
  const auto software_s = [&](const machine::Platform& on, const machine::DelayPlan& delays) {
    return delivered_s(schedule, analysis::run_analytic({schedule, on, delays}));
  };
  Case found{pattern, nodes, 0, 0, false, {}, {}};
  found.fifo_ms = 1e3 * nics.delivered_s(platform, kFifo);
  found.least_slack_ms = 1e3 * nics.delivered_s(platform, kLeastSlack);
  const double disturbed_ms =
      1e3 * nics.delivered_s(slower(platform, kDelays_us.back()), kLeastSlack,
                             preemptions(kChances_ppm.back(), 1));
  found.cpus_reach_nics = disturbed_ms != found.least_slack_ms;
  for (const double delay_us : kDelays_us) {
    found.software_ms.push_back(1e3 * software_s(slower(platform, delay_us), {}));
  }
  for (const std::uint32_t chance : kChances_ppm) {
    double sum_s = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      sum_s += software_s(platform, preemptions(chance, seed));
    }
    found.preempted_ms.push_back(1e3 * sum_s / static_cast<double>(seeds));
  }
  return found;
}

void add_tables(ExperimentReport& report, const std::vector<Case>& cases) {
  ReportTable delays{
      "Software that sees completions later: its time over the NICs' (least slack first)",
      {"pattern", "nodes", "NICs, ms", "NICs by FIFO, ms"}};
  for (const double delay_us : kDelays_us) delays.columns.push_back(fmt::format("{} us", delay_us));
  ReportTable stops{"Software stopped for 100 us at a share of its posts: its time over the NICs'",
                    {"pattern", "nodes", "0 %"}};
  for (const std::uint32_t chance : kChances_ppm) {
    stops.columns.push_back(fmt::format("{} %", chance / 10'000.0));
  }
  for (const Case& c : cases) {
    std::vector<NumberOrText> row{c.pattern, static_cast<double>(c.nodes), c.least_slack_ms,
                                  c.fifo_ms};
    for (const double ms : c.software_ms) row.emplace_back(ms / c.least_slack_ms);
    delays.add(std::move(row));
    std::vector<NumberOrText> stopped{c.pattern, static_cast<double>(c.nodes),
                                      c.software_ms.front() / c.least_slack_ms};
    for (const double ms : c.preempted_ms) stopped.emplace_back(ms / c.least_slack_ms);
    stops.add(std::move(stopped));
  }
  report.tables = {delays, stops};
}

void add_figures(ExperimentReport& report, const std::vector<Case>& cases, std::uint32_t most) {
  Figure delays{"offload-preemption-delay",
                fmt::format("{} nodes: software against NICs, by what a completion costs", most),
                {"further delay of each completion, us", 0},
                {"time of software over that of the NICs", 2}};
  Figure stops{"offload-preemption-stops",
               "Software stopped for 100 us at 1 % of its posts",
               {"nodes, the sender included", 2},
               {"time of software over that of the NICs", 0}};
  for (const char* pattern : kPatterns) {
    Series by_delay{title_of(pattern)};
    Series by_nodes{title_of(pattern)};
    for (const Case& c : cases) {
      if (c.pattern != pattern) continue;
      by_nodes.add(c.nodes, c.preempted_ms[1] / c.least_slack_ms);
      if (c.nodes != most) continue;
      for (std::size_t d = 0; d < kDelays_us.size(); ++d) {
        by_delay.add(kDelays_us[d], c.software_ms[d] / c.least_slack_ms);
      }
    }
    delays.series.push_back(std::move(by_delay));
    stops.series.push_back(std::move(by_nodes));
  }
  report.figures = {delays, stops};
}

void add_facts(ExperimentReport& report, const std::vector<Case>& cases) {
  Facts facts(report, "offload-preemption");
  const auto reached =
      std::count_if(cases.begin(), cases.end(), [](const Case& c) { return c.cpus_reach_nics; });
  facts.judge("untouched", static_cast<double>(reached));
  double least_gain = 1e9;
  double largest_fall = 0;
  double at_block_time = 1e9;
  const double block_us = 1e6 * block_time_s(machine::load_platform("fractus"));
  for (const Case& c : cases) {
    for (std::size_t d = 0; d < kDelays_us.size(); ++d) {
      const double gain = c.software_ms[d] / c.least_slack_ms;
      least_gain = std::min(least_gain, gain);
      if (d > 0) {
        largest_fall = std::max(largest_fall, 1 - c.software_ms[d] / c.software_ms[d - 1]);
      }
      if (kDelays_us[d] >= block_us) at_block_time = std::min(at_block_time, gain);
    }
  }
  facts.judge("never-slower", least_gain);
  facts.judge("gain-falls", largest_fall);
  facts.judge("block-time-late", at_block_time);
  for (const char* pattern : kPatterns) {
    double before = 0;
    bool grows = true;
    std::string shares;
    for (const Case& c : cases) {
      if (c.pattern != pattern) continue;
      const double cost = c.preempted_ms[1] - c.software_ms.front();
      grows = grows && cost > before;
      before = cost;
      shares += fmt::format("{}{:.2f}", shares.empty() ? "" : ", ", cost);
    }
    facts.judge_words("preemptions", grows, shares, title_of(pattern));
  }
}

ExperimentReport offload_preemption(const Options& options) {
  ExperimentReport report{"Relaying in the NIC, as the software that relays grows slower",
                          "RDMC (DSN 2018), sections 2 and 5.1"};
  const std::uint64_t bytes = (options.quick ? 16 : 64) * kMiB;
  const std::uint64_t seeds = options.quick ? 4 : 16;
  const std::uint32_t most = options.quick ? 16 : 64;
  std::vector<Case> cases;
  for (const char* pattern : kPatterns) {
    for (const std::uint32_t nodes : {3u, 4u, 8u, 16u, 32u, 64u}) {
      if (nodes <= most) cases.push_back(measure(pattern, nodes, bytes, seeds));
    }
  }
  add_tables(report, cases);
  add_figures(report, cases, most);
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"message", fmt::format("{} MiB, by 1 MiB", bytes / kMiB), "assumed"},
      {"software", "one send in flight, a ready message per block", "stated: RDMC's protocol"},
      {"NICs", "mq-enable, handshakes; waits and enables take no time", "assumed"},
      {"preemption", sched::format_time(kPreemption), "stated: roughly 100 us (figure 5)"},
      {"its share of posts", fmt::format("0.1, 1, 5 %; mean of {} seeds", seeds), "assumed"},
  };
  add_facts(report, cases);
  report.notes.push_back(
      "Times of NICs are of emulated queues with the machine model's figures; no card has run "
      "them.");
  return report;
}

}  // namespace

extern const Experiment kOffloadPreemption = {
    "offload-preemption", "relaying in the NIC, as software grows slower", offload_preemption};

}  // namespace slackline::experiments
