// RDMC, sections 4.3 and 4.4: how many steps each algorithm takes, and when receivers finish.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/engines/analytic.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"
#include "sched/compile.h"
#include "sched/pattern/pattern.h"

namespace slackline::experiments {
namespace {

struct Algorithm {
  std::string_view pattern;
  std::uint64_t (*steps)(std::uint64_t n, std::uint64_t k);
};

std::uint64_t log2_up(std::uint64_t n) { return sched::ceil_log2(static_cast<std::uint32_t>(n)); }

constexpr std::array kAlgorithms = {
    Algorithm{"binomial-pipeline",
              [](std::uint64_t n, std::uint64_t k) { return k - 1 + log2_up(n); }},
    Algorithm{"chain", [](std::uint64_t n, std::uint64_t k) { return k + n - 2; }},
    Algorithm{"binomial-tree", [](std::uint64_t n, std::uint64_t k) { return k * log2_up(n); }},
    Algorithm{"sequential", [](std::uint64_t n, std::uint64_t k) { return k * (n - 1); }},
};

sched::Plan plan_of(std::string_view pattern, std::uint32_t ranks, std::uint32_t blocks) {
  return sched::plan_of(
      sched::parse_spec(fmt::format("{}:ranks={},bytes={},block=1", pattern, ranks, blocks)));
}

// Over how many steps the receivers' last blocks come in.
std::uint32_t last_receipts_spread(const sched::Plan& plan) {
  std::vector<std::uint32_t> last(plan.ranks, 0);
  for (const sched::Transfer& t : plan.transfers) last[t.dst.value] = t.step;
  const auto [first, end] = std::minmax_element(last.begin() + 1, last.end());
  return *end - *first + 1;
}

// Last minus first receiver to have the message, in block times.
double skew(std::string_view pattern, std::uint32_t ranks, std::uint32_t blocks) {
  const sched::Schedule schedule =
      schedule_of({std::string(pattern), ranks, blocks * kMiB, kMiB, ""});
  const machine::Platform bare = bare_machine();
  const auto receipts = receipts_s(schedule, analysis::run_analytic({schedule, bare}));
  const auto [first, last] = std::minmax_element(receipts.begin() + 1, receipts.end());
  return (*last - *first) / block_time_s(bare);
}

double times(std::string_view pattern, std::uint32_t ranks, std::uint32_t blocks) {
  return block_times({std::string(pattern), ranks, blocks * kMiB, kMiB, ""});
}

void add_counts(ExperimentReport& report, std::uint32_t most_ranks) {
  Facts facts(report, "rdmc-steps");
  constexpr std::array<std::uint32_t, 5> kBlocks = {1, 2, 5, 8, 33};
  ReportTable table{"Steps with 8 blocks", {"nodes"}};
  Figure figure{"rdmc-steps", "Steps to send 8 blocks", {"nodes", 2}, {"steps", 10}};
  for (const Algorithm& a : kAlgorithms) {
    table.columns.push_back(title_of(a.pattern));
    figure.series.push_back({title_of(a.pattern), {}, {}, false});
  }
  std::array<std::uint32_t, kAlgorithms.size()> wrong{};
  std::uint32_t checked = 0;
  std::uint32_t widest = 0;
  for (std::uint32_t n = 2; n <= most_ranks; ++n) {
    std::vector<NumberOrText> row{static_cast<double>(n)};
    for (std::size_t a = 0; a < kAlgorithms.size(); ++a) {
      for (const std::uint32_t k : kBlocks) {
        const sched::Plan plan = plan_of(kAlgorithms[a].pattern, n, k);
        if (plan.steps != kAlgorithms[a].steps(n, k)) ++wrong[a];
        if (k == 8) {
          row.push_back(static_cast<double>(plan.steps));
          figure.series[a].add(n, plan.steps);
        }
        // Before the pipeline is full there is no final receipt to speak of.
        if (a == 0 && k > sched::ceil_log2(n)) {
          widest = std::max(widest, last_receipts_spread(plan));
        }
      }
    }
    checked += kBlocks.size();
    if ((n & (n - 1)) == 0 || n == most_ranks || n % 16 == 3) table.add(row);
  }
  report.add(std::move(table), std::move(figure));
  for (std::size_t a = 0; a < kAlgorithms.size(); ++a) {
    facts.judge_words("steps", wrong[a] == 0, fmt::format("{} of {} differ", wrong[a], checked),
                      title_of(kAlgorithms[a].pattern));
  }
  facts.judge("spread", widest);
}

ExperimentReport rdmc_steps(const Options& options) {
  ExperimentReport report{"Steps of every algorithm, and when receivers finish",
                          "RDMC (DSN 2018), sections 4.3, 4.4 and 7"};
  report.constants = {
      {"machine", bare_machine().spec(),
       "assumed: nothing but blocks takes time, so that times are block times"},
      {"block", "1 MiB", "stated: 1 MB; section 5.2"},
  };
  add_counts(report, options.quick ? 20 : 64);

  Facts facts(report, "rdmc-steps");
  ReportTable block_table{"Block times, 16 nodes", {"algorithm", "256 blocks", "8 blocks"}};
  for (const Algorithm& a : kAlgorithms) {
    const double of_256 = times(a.pattern, 16, 256);
    const double of_8 = times(a.pattern, 16, 8);
    block_table.add({title_of(a.pattern), of_256, of_8});
    facts.judge("times-256", of_256, title_of(a.pattern));
    facts.judge("times-8", of_8, title_of(a.pattern));
  }
  report.tables.push_back(block_table);

  ReportTable skew_table{"Skew: last minus first receiver, in block times, 16 nodes, 64 blocks",
                         {"algorithm", "skew"}};
  const auto add_skew = [&](std::string_view pattern) {
    const double got = skew(pattern, 16, 64);
    skew_table.add({title_of(pattern), got});
    facts.judge("skew", got, title_of(pattern));
  };
  add_skew("binomial-pipeline");
  add_skew("chain");
  add_skew("sequential");
  report.tables.push_back(skew_table);

  ReportTable replicas{"Replicas of 256 blocks by the pipeline, in block times",
                       {"receivers", "block times"}};
  for (const std::uint32_t receivers : {1u, 4u, 8u, 511u}) {
    const double got = times("binomial-pipeline", receivers + 1, 256);
    replicas.add({static_cast<double>(receivers), got});
    facts.judge("replicas", got,
                fmt::format("{} receiver{}", receivers, receivers == 1 ? "" : "s"));
  }
  report.tables.push_back(replicas);
  return report;
}

}  // namespace

extern const Experiment kRdmcSteps = {"rdmc-steps",
                                      "steps, block times and skew of every algorithm", rdmc_steps};

}  // namespace slackline::experiments
