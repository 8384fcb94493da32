// RDMC, figure 9: the replication layer of a storage system.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "analysis/engines/analytic.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/overlap.h"
#include "machine/draw.h"

namespace slackline::experiments {
namespace {

using sched::RankId;

constexpr std::uint32_t kHosts = 15;           // stated
constexpr std::uint64_t kMedian = 12'000'000;  // stated
constexpr std::uint64_t kMean = 29'000'000;    // stated
constexpr std::uint64_t kLeast = 100;          // stated: "hundreds of bytes"
constexpr std::uint64_t kMost = 900'000'000;   // stated: "hundreds of MB"
constexpr std::uint64_t kSeed = 1;
constexpr std::array<std::string_view, 3> kPatterns = {"binomial-pipeline", "binomial-tree",
                                                       "sequential"};

// The generator, rank 0, and each choice of 3 hosts: stated. They were made beforehand, so that the
// order of a group's members is fixed.
std::vector<std::vector<RankId>> groups() {
  std::vector<std::vector<RankId>> all;
  for (std::uint32_t a = 1; a <= kHosts; ++a) {
    for (std::uint32_t b = a + 1; b <= kHosts; ++b) {
      for (std::uint32_t c = b + 1; c <= kHosts; ++c) {
        all.push_back({RankId(0), RankId(a), RankId(b), RankId(c)});
      }
    }
  }
  return all;
}

struct Write {
  std::uint64_t bytes = 0;
  std::vector<RankId> ranks;
};

// The same writes for every pattern. A lognormal size has its median and mean by σ² = 2 ln(mean /
// median).
std::vector<Write> draw_writes(std::uint32_t count) {
  const double sigma = std::sqrt(
      2 * machine::portable_log(static_cast<double>(kMean) / static_cast<double>(kMedian)));
  const auto all = groups();
  std::vector<Write> writes;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double p = std::clamp(machine::draw_uniform({kSeed, 0, 0, i}), 1e-12, 1 - 1e-12);
    const double size =
        static_cast<double>(kMedian) * machine::portable_exp(sigma * machine::normal_quantile(p));
    writes.push_back({static_cast<std::uint64_t>(std::clamp(size, double{kLeast}, double{kMost})),
                      all[machine::draw_below({kSeed, 0, 1, i}, all.size())]});
  }
  return writes;
}

struct Result {
  std::vector<double> latency_s;  // of every write, ascending
  double gbps = 0;
  double mean_s() const {
    return std::accumulate(latency_s.begin(), latency_s.end(), 0.0) /
           static_cast<double>(latency_s.size());
  }
  double quantile_s(double share) const {
    return latency_s[static_cast<std::size_t>(share * static_cast<double>(latency_s.size() - 1))];
  }
};

// `at_once`: a write begins when the generator is done with the one so many places before it. In
// pieces, so that memory stays bounded; each begins with an idle network.
Result run(std::string_view pattern, const std::vector<Write>& writes, std::size_t at_once,
           const machine::Platform& platform) {
  constexpr std::size_t kPiece = 250;
  Result result;
  double bytes = 0;
  double total_s = 0;
  for (std::size_t first = 0; first < writes.size(); first += kPiece) {
    const std::size_t end = std::min(first + kPiece, writes.size());
    ScheduleStore store;
    std::vector<sched::Part> parts;
    for (std::size_t i = first; i < end; ++i) {
      const Write& write = writes[i];
      sched::Part part;
      part.schedule =
          store.get({std::string(pattern), static_cast<std::uint32_t>(write.ranks.size()),
                     write.bytes, kMiB, ""});
      part.rank_of = write.ranks;
      if (i - first >= at_once) part.after = i - first - at_once;
      parts.push_back(std::move(part));
      bytes += static_cast<double>(write.bytes);
    }
    const sched::Composition whole = sched::compose(parts, kHosts + 1);
    const sched::Trace trace = analysis::run_analytic({whole.schedule, platform});
    const std::vector<double> delivered = parts_delivered_s(whole, trace);
    const std::vector<double> sent = parts_sent_s(whole, trace);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double begin_s = parts[i].after ? sent[*parts[i].after] : 0;
      result.latency_s.push_back(delivered[i] - begin_s);
    }
    total_s += *std::max_element(delivered.begin(), delivered.end());
  }
  std::sort(result.latency_s.begin(), result.latency_s.end());
  result.gbps = bytes * 8e-9 / total_s;
  return result;
}

ExperimentReport rdmc_fig9(const Options& options) {
  ExperimentReport report{"The replication layer of a storage system", "RDMC (DSN 2018), figure 9"};
  const machine::Platform platform = machine::load_platform("fractus");
  const std::vector<Write> writes = draw_writes(options.quick ? 200 : 4000);
  ReportTable table{
      fmt::format("{} writes", writes.size()),
      {"at once", "algorithm", "Gb/s", "mean, ms", "median, ms", "90 %, ms", "99 %, ms"}};
  Figure figure{"rdmc-fig9",
                "Latency of replicated writes, one at a time, Fractus",
                {"share of writes", 0},
                {"latency, ms", 10},
                {},
                true};
  std::map<std::size_t, std::array<Result, kPatterns.size()>> found;  // by writes at once
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{4}}) {
    for (std::size_t p = 0; p < kPatterns.size(); ++p) {
      const Result& result = found[at_once][p] = run(kPatterns[p], writes, at_once, platform);
      table.add({static_cast<double>(at_once), title_of(kPatterns[p]), result.gbps,
                 1e3 * result.mean_s(), 1e3 * result.quantile_s(0.5), 1e3 * result.quantile_s(0.9),
                 1e3 * result.quantile_s(0.99)});
    }
  }
  for (std::size_t p = 0; p < kPatterns.size(); ++p) {
    Series series{title_of(kPatterns[p])};
    for (std::uint32_t i = 0; i <= 200; ++i) {
      series.add(i / 200.0, 1e3 * found[1][p].quantile_s(i / 200.0));
    }
    figure.series.push_back(std::move(series));
  }
  report.add(std::move(table), std::move(figure));

  std::vector<std::uint64_t> sizes;
  std::set<std::vector<RankId>> used;
  double sum = 0;
  for (const Write& write : writes) {
    sizes.push_back(write.bytes);
    used.insert(write.ranks);
    sum += static_cast<double>(write.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  report.constants = {
      {"machine", "preset fractus", "stated and assumed; in the preset"},
      {"generator, hosts, replicas",
       fmt::format("1, 15, 3 (455 groups, {} of them written to)", used.size()), "stated"},
      {"sizes", "lognormal, median 12 MB, mean 29 MB, 100 B to 900 MB",
       "stated but for the distribution, which is assumed: the trace is not public"},
      {"as drawn",
       fmt::format("median {:.1f} MB, mean {:.1f} MB",
                   static_cast<double>(sizes[sizes.size() / 2]) * 1e-6,
                   sum * 1e-6 / static_cast<double>(sizes.size())),
       fmt::format("seed {}", kSeed)},
      {"writes", fmt::format("{}", writes.size()), "assumed: the trace has several million"},
      {"writes at once", "1, and 4 beside it", "assumed: the text does not say"},
      {"block", "1 MiB", "assumed: the default of RDMC's published code"},
  };
  Facts facts(report, "rdmc-fig9");
  facts.judge("groups", static_cast<double>(groups().size()));
  for (const auto& [at_once, result] : found) {
    const std::string which = at_once == 1 ? "one at a time" : fmt::format("{} at once", at_once);
    const double pipeline_s = result[0].mean_s();
    facts.judge("tree", result[1].mean_s() / pipeline_s, which);
    facts.judge("sequential", result[2].mean_s() / pipeline_s, which);
    facts.judge("replicated", result[0].gbps, which);
  }
  return report;
}

}  // namespace

extern const Experiment kRdmcFig9 = {"rdmc-fig9", "the replication layer of a storage system",
                                     rdmc_fig9};

}  // namespace slackline::experiments
