// RDMC, figure 10: bandwidth of overlapping groups.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "experiments/contention.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/overlap.h"

namespace slackline::experiments {
namespace {

struct Size {
  std::string_view name;
  std::uint64_t bytes;
  std::uint32_t messages;  // of each sender, one after another
};
// stated: the three sizes of figure 10. How many of each is assumed: enough to be in full swing.
constexpr std::array kSizes = {Size{"100 MB", 100'000'000, 1}, Size{"1 MB", 1'000'000, 8},
                               Size{"10 KB", 10'000, 16}};

// On Apt messages are smaller: 55 groups of 55 nodes are simulated message by message.
constexpr std::uint64_t kAptScale = 8;

using Engine = std::function<sched::Trace(const sched::Schedule&)>;

struct Run {
  double gbps = 0;
  std::vector<double> finish_s;  // of every group
};

Run run(std::uint32_t nodes, const Size& size, std::uint32_t senders, const Engine& engine) {
  ScheduleStore store;
  const sched::Composition whole = same_members(
      store, {"binomial-pipeline", nodes, size.bytes, kMiB, ""}, senders, size.messages);
  const std::vector<double> delivered = parts_delivered_s(whole, engine(whole.schedule));
  Run result;
  for (std::uint32_t g = 0; g < senders; ++g) {
    const auto first = delivered.begin() + g * size.messages;
    result.finish_s.push_back(*std::max_element(first, first + size.messages));
  }
  const double bytes = static_cast<double>(size.bytes) * size.messages * senders;
  result.gbps = bytes * 8e-9 / *std::max_element(delivered.begin(), delivered.end());
  return result;
}

// Bandwidths of one machine by [size][share][place in `nodes`].
using Sweep = std::array<std::array<std::vector<double>, kSenderShares.size()>, kSizes.size()>;

Sweep sweep(ExperimentReport& report, std::string_view machine, std::string file,
            const std::vector<std::uint32_t>& nodes, const std::vector<Size>& sizes,
            const Engine& engine) {
  Sweep found;
  ReportTable table{fmt::format("{}: bandwidth, Gb/s", machine),
                    {"message", "nodes", "all send", "half send", "one sends"}};
  Figure figure{std::move(file),
                fmt::format("Concurrent multicasts on {}", machine),
                {"nodes of a group", 0},
                {"messages' bandwidth, Gb/s", 0}};
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    for (std::size_t h = 0; h < kSenderShares.size(); ++h) {
      figure.series.push_back(
          {fmt::format("{}, {}", sizes[s].name, kSenderShares[h].name), {}, {}, h != 0});
    }
    for (const std::uint32_t n : nodes) {
      std::vector<NumberOrText> row{std::string(sizes[s].name), static_cast<double>(n)};
      for (std::size_t h = 0; h < kSenderShares.size(); ++h) {
        const double gbps = run(n, sizes[s], kSenderShares[h].of(n), engine).gbps;
        found[s][h].push_back(gbps);
        figure.series[s * kSenderShares.size() + h].add(n, gbps);
        row.push_back(gbps);
      }
      table.add(std::move(row));
    }
  }
  report.add(std::move(table), std::move(figure));
  return found;
}

void add_fractus(ExperimentReport& report, bool quick) {
  // Several groups keep several messages of a NIC under way, which share it fairly.
  const machine::Platform fractus = machine::load_platform("fractus:nic=fair");
  const Engine contended = [&](const sched::Schedule& schedule) {
    return run_contended({schedule, fractus});
  };
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 3; n <= 16; n += quick ? 5 : 1) nodes.push_back(n);
  if (nodes.back() != 16) nodes.push_back(16);
  std::vector<Size> sizes(kSizes.begin(), kSizes.end());
  if (quick) sizes[0].bytes /= 4;
  const Sweep found = sweep(report, "Fractus", "rdmc-fig10-fractus", nodes, sizes, contended);
  Facts facts(report, "rdmc-fig10");
  // With n groups on the same n nodes each NIC takes in n − 1 of the n messages: n / (n − 1) of the
  // NIC's rate is the most there is.
  double least_share = 1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double most = 100.0 * nodes[i] / (nodes[i] - 1);
    least_share = std::min(least_share, found[0][0][i] / most);
  }
  facts.judge("limits", 100 * least_share);
  facts.judge_words(
      "sizes", found[0][0].back() > found[1][0].back() && found[1][0].back() > found[2][0].back(),
      fmt::format("{:.1f}, {:.1f}, {:.1f} Gb/s", found[0][0].back(), found[1][0].back(),
                  found[2][0].back()));
}

void add_fairness(ExperimentReport& report, bool quick) {
  const machine::Platform fair = machine::load_platform("fractus:nic=fair");
  const Size size{"", quick ? 4 * kMiB : 16 * kMiB, 1};
  const Run found = run(8, size, 8, [&](const sched::Schedule& schedule) {
    return run_contended({schedule, fair});
  });
  const auto [first, last] = std::minmax_element(found.finish_s.begin(), found.finish_s.end());
  Facts(report, "rdmc-fig10").judge("fair", *last / *first);
}

void add_apt(ExperimentReport& report, bool quick) {
  // Others' work fills the rest of each rack, so that a node has its share of its rack's uplink,
  // the stated 16 Gb/s, and no more.
  const std::string nic = quick ? "serial" : "fair";
  const auto engine_on = [](const std::string& spec) -> Engine {
    return [platform = machine::load_platform(spec)](const sched::Schedule& schedule) {
      return run_contended({schedule, platform});
    };
  };
  std::vector<std::uint32_t> nodes = {5, 10, 20, 30, 40, 55};
  if (quick) nodes = {5, 30, 55};
  std::vector<Size> sizes(kSizes.begin(), kSizes.end());
  for (Size& size : sizes) size.messages = std::max(1u, size.messages / 8);
  sizes[0].bytes /= quick ? 4 * kAptScale : kAptScale;
  const Sweep found =
      sweep(report, "Apt, its racks full of others' work", "rdmc-fig10-apt", nodes, sizes,
            engine_on(fmt::format(
                "apt:nic={},racks=7,hosts=8,oversubscription=3.5,placement=random:1", nic)));
  // The same with the others gone.
  ReportTable alone{"Apt, all of 55 send, 100 MB: who else is there, Gb/s", {"racks", "Gb/s"}};
  alone.add({std::string("full of others' work, random places"), found[0][0].back()});
  for (const auto& [where, placement] : {std::pair{"idle, random places", "random:1"},
                                         std::pair{"idle, two racks full of ours", "packed"}}) {
    const Engine engine = engine_on(fmt::format("apt:nic={},placement={}", nic, placement));
    alone.add({std::string(where), run(55, sizes[0], 55, engine).gbps});
  }
  report.tables.push_back(std::move(alone));
  Facts facts(report, "rdmc-fig10");
  facts.judge("apt", found[0][0].back());
  bool falls = true;
  for (std::size_t i = 1; i < nodes.size(); ++i) falls &= found[0][0][i] < found[0][0][i - 1];
  facts.judge_words("apt-falls", falls, fmt::format("{:.1f}", fmt::join(found[0][0], ", ")));
}

ExperimentReport rdmc_fig10(const Options& options) {
  ExperimentReport report{"Bandwidth of overlapping groups", "RDMC (DSN 2018), figure 10"};
  add_fractus(report, options.quick);
  add_fairness(report, options.quick);
  add_apt(report, options.quick);
  report.constants = {
      {"machines", "presets fractus and apt", "stated and assumed; in the presets"},
      {"groups", "the same members, one group per sender; all, half or one send", "stated"},
      {"messages", "100 MB, 1 MB, 10 KB; 1, 8 and 16 of each sender",
       "stated; how many is assumed"},
      {"on Apt",
       fmt::format("{} of 100 MB; 1, 1 and 2 of each sender",
                   options.quick ? "a thirty-second" : "an eighth"),
       "scaled down: simulated message by message"},
      {"NICs", options.quick ? "fair on Fractus; serial on Apt, for --quick" : "fair",
       "stated: RDMA shares a NIC fairly between transfers"},
      {"Apt's nodes", "in random places, 8 of ours in each rack, the rest busy with others' work",
       "stated: no control over placement, 16 Gb/s per link when heavily loaded; assumed: the "
       "rest"},
      {"block", "1 MiB", "assumed: the default of RDMC's published code"},
  };
  return report;
}

}  // namespace

extern const Experiment kRdmcFig10 = {
    "rdmc-fig10", "bandwidth of overlapping groups, on Fractus and Apt", rdmc_fig10};

}  // namespace slackline::experiments
