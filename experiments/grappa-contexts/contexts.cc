// Grappa: how many contexts hide the latency of remote operations.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/irregular.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kRanks = 8;

// Accesses a second of a core.
double rate(const machine::Platform& platform, const std::string& how, std::uint32_t contexts) {
  const std::uint32_t accesses = std::max(2048u, 16 * contexts);
  const IrregularRun run =
      run_irregular(fmt::format("random-access:ranks={},accesses={},tasks={},home=others,{}",
                                kRanks, accesses, contexts, how),
                    platform);
  return accesses / run.makespan_s;
}

ExperimentReport grappa_contexts(const Options& options) {
  ExperimentReport report{"Contexts that hide the latency of remote operations",
                          "Grappa (proposal, 2013), section on tasks"};
  const machine::Platform platform = machine::load_platform("sierra");
  const std::uint32_t most = options.quick ? 256 : 4096;
  ReportTable table{
      fmt::format("{} cores: 10^6 accesses a second of each", kRanks),
      {"contexts a core", "by fetch-add", "by fetch-add, 64 in the cache", "by delegate"}};
  Figure figure{"grappa-contexts",
                "Throughput against contexts",
                {"contexts a core", 2},
                {"accesses, 10^6 / s and core", 0},
                {{"fetch-add"}, {"fetch-add, 64 contexts in the cache"}, {"delegate"}}};
  std::map<std::uint32_t, double> prefetched;
  std::map<std::uint32_t, double> missed;
  std::map<std::uint32_t, double> delegates;
  for (std::uint32_t n = 1; n <= most; n *= 2) {
    prefetched[n] = rate(platform, "by=fetch-add", n);
    missed[n] = rate(platform, "by=fetch-add,resident=64,switch-miss=380ns", n);
    delegates[n] = rate(platform, "by=delegate", n);
    table.add({static_cast<double>(n), prefetched[n] / 1e6, missed[n] / 1e6, delegates[n] / 1e6});
    figure.series[0].add(n, prefetched[n] / 1e6);
    figure.series[1].add(n, missed[n] / 1e6);
    figure.series[2].add(n, delegates[n] / 1e6);
  }
  report.add(std::move(table), std::move(figure));
  report.constants = {
      {"machine", "preset sierra, 8 cores", "assumed: the text names no machine"},
      {"switch", "38 ns", "stated"},
      {"switch, context not in the cache", "380 ns, with 64 contexts in it", "assumed"},
  };
  // What a core does for an access; and how many such fit into what one context takes for it.
  const double work_s = 38e-9 + sched::seconds(platform.o_post);
  const double fit = 1 / prefetched[1] / work_s;
  double least = 1;
  for (const auto& [n, found] : prefetched) {
    if (2 * n <= fit) least = std::min(least, found / prefetched[1] / n);
  }
  const auto knee = std::find_if(prefetched.begin(), prefetched.end(), [&](const auto& one) {
    return one.second >= 0.9 * prefetched[64];
  });
  Facts facts(report, "grappa-contexts");
  facts.judge("linear", least);
  facts.judge("flat", prefetched[64] / prefetched[32]);
  facts.judge("most", prefetched[64] * work_s);
  facts.judge("knee", knee->first / fit);
  facts.judge("thousands", prefetched[most] / prefetched[64]);
  facts.judge("missed", prefetched[256] / missed[256]);
  facts.judge("delegates", delegates[64] / delegates[1]);
  return report;
}

}  // namespace

extern const Experiment kGrappaContexts = {
    "grappa-contexts", "contexts that hide the latency of remote operations", grappa_contexts};

}  // namespace slackline::experiments
