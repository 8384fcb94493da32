// RDMC, section 4.3: a pipeline among racks and then within them, against one over all nodes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "experiments/contention.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"

namespace slackline::experiments {
namespace {

constexpr std::uint32_t kNodes = 64;
constexpr std::array kOversubscriptions = {1, 2, 4, 8, 16};

struct Variant {
  std::string_view title;
  std::string_view pattern;
  std::string_view placement;
};
// hybrid takes racks for runs of neighbouring ranks, which they are where ranks are packed. A flat
// pipeline knows nothing of racks: what it crosses is up to where its ranks happen to be.
constexpr std::array kVariants = {
    Variant{"hybrid", "hybrid", "packed"},
    Variant{"flat, random places", "binomial-pipeline", "random:1"},
    Variant{"flat, round-robin places", "binomial-pipeline", "round-robin"},
    Variant{"flat, packed", "binomial-pipeline", "packed"},
    Variant{"hybrid, racks unknown", "hybrid", "random:1"},
};
constexpr std::size_t kHybrid = 0;
constexpr std::size_t kRandom = 1;
constexpr std::size_t kPacked = 3;
constexpr std::size_t kUnaware = 4;

double measure_ms(const Variant& variant, std::uint32_t racks, int oversubscription,
                  std::uint64_t bytes) {
  const machine::Platform platform = machine::load_platform(
      fmt::format("two-level:racks={},hosts={},oversubscription={},nic=serial,rate=100Gbps,"
                  "latency=600ns,o_post=200ns,o_complete=200ns,gap=20ns,placement={}",
                  racks, kNodes / racks, oversubscription, variant.placement));
  const bool hybrid = variant.pattern == "hybrid";
  const sched::Schedule schedule = schedule_of({std::string(variant.pattern), kNodes, bytes, kMiB,
                                                hybrid ? fmt::format("racks={}", racks) : ""});
  return 1e3 * delivered_s(schedule, run_contended({schedule, platform}));
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes / kMiB); }

// How many times as long flat pipelines take as the hybrid, over shapes and sizes: above 1 it wins.
struct Gains {
  std::map<int, double> least;  // by oversubscription
  std::map<int, double> most;
};
Gains compare(ExperimentReport& report, const std::vector<std::uint32_t>& shapes,
              std::uint64_t message) {
  ReportTable table{"Flat over hybrid, in time (above 1 the hybrid wins)",
                    {"racks x nodes", "message", "flat's places"}};
  for (const int over : kOversubscriptions) table.columns.push_back(fmt::format("{}:1", over));
  Gains gains;
  for (const std::uint32_t racks : shapes) {
    for (const std::uint64_t bytes : {8 * kMiB, message}) {
      std::map<int, double> hybrid_ms;
      for (const int over : kOversubscriptions) {
        hybrid_ms[over] = measure_ms(kVariants[kHybrid], racks, over, bytes);
      }
      for (const std::size_t flat : {kRandom, kPacked}) {
        std::vector<NumberOrText> row{fmt::format("{} x {}", racks, kNodes / racks),
                                      megabytes(bytes), std::string(kVariants[flat].placement)};
        for (const int over : kOversubscriptions) {
          const double gain = measure_ms(kVariants[flat], racks, over, bytes) / hybrid_ms[over];
          row.push_back(gain);
          const auto [least, first] = gains.least.try_emplace(over, gain);
          if (!first) least->second = std::min(least->second, gain);
          gains.most[over] = std::max(gains.most[over], gain);
        }
        table.add(std::move(row));
      }
    }
  }
  report.tables.push_back(std::move(table));
  return gains;
}

ExperimentReport rdmc_hybrid(const Options& options) {
  ExperimentReport report{"A pipeline among racks and then within them, against one over all nodes",
                          "RDMC (DSN 2018), section 4.3, where it is proposed and not measured"};
  const std::uint64_t message = (options.quick ? 32 : 256) * kMiB;
  constexpr std::uint32_t kRacks = 8;
  ReportTable table{fmt::format("{} to 64 nodes in 8 racks, ms", megabytes(message)),
                    {"oversubscription"}};
  Figure figure{"rdmc-hybrid",
                fmt::format("{} to 64 nodes in 8 racks", megabytes(message)),
                {"oversubscription of the racks' uplinks", 2},
                {"time, ms", 10}};
  for (const Variant& v : kVariants) {
    table.columns.emplace_back(v.title);
    figure.series.push_back({std::string(v.title)});
  }
  std::map<int, std::array<double, kVariants.size()>> ms;
  for (const int over : kOversubscriptions) {
    std::vector<NumberOrText> row{static_cast<double>(over)};
    for (std::size_t v = 0; v < kVariants.size(); ++v) {
      ms[over][v] = measure_ms(kVariants[v], kRacks, over, message);
      row.push_back(ms[over][v]);
      figure.series[v].add(over, ms[over][v]);
    }
    table.add(std::move(row));
  }
  report.add(std::move(table), std::move(figure));
  std::vector<std::uint32_t> shapes = {2, 4, 8, 16, 32};  // racks
  if (options.quick) shapes = {4, 16};
  const Gains gains = compare(report, shapes, message);
  report.constants = {
      {"nodes", options.quick ? "64 in 8 racks, and in 4 and 16" : "64 in 8 racks, and in 2 to 32",
       "assumed"},
      {"machine", "100 Gb/s, the overheads of preset fractus, serial NICs", "assumed"},
      {"message, block", fmt::format("{} (and 8 MiB), 1 MiB", megabytes(message)), "assumed"},
  };
  Facts facts(report, "rdmc-hybrid");
  // A leader sends every block once among the racks and once in its own.
  facts.judge("twice", ms[1][kHybrid] / ms[1][kPacked]);
  // A rack's uplink carries one pipeline's blocks: one NIC's rate, which 8:1 of 8 nodes leaves.
  facts.judge("uplink", ms[8][kHybrid] / ms[1][kHybrid]);
  // Half of the hypercube's directions leave the rack, and then all of its nodes do.
  for (const int over : {4, 16}) {
    facts.judge("packed", ms[over][kPacked] / ms[1][kPacked], fmt::format("{}:1", over));
  }
  facts.judge("random", ms[8][kRandom] / ms[1][kRandom]);
  facts.judge("pays", *std::min_element(ms[8].begin() + kRandom, ms[8].begin() + kUnaware) /
                          ms[8][kHybrid]);
  facts.judge("mistaken", ms[8][kUnaware] / ms[8][kHybrid]);
  facts.judge("never-at-1", gains.most.at(1));
  facts.judge("always-at-16", gains.least.at(16));
  for (const int over : kOversubscriptions) {
    report.notes.push_back(
        fmt::format("{}:1: flat over hybrid is {:.2f} to {:.2f} by shape, size "
                    "and places.",
                    over, gains.least.at(over), gains.most.at(over)));
  }
  return report;
}

}  // namespace

extern const Experiment kRdmcHybrid = {
    "rdmc-hybrid", "a pipeline among racks and within, or one over all nodes", rdmc_hybrid};

}  // namespace slackline::experiments
