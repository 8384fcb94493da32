// Seriema, figure 2: messages a second against their size, by hand and with automatic selective
// signalling.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/seriema_stream.h"

namespace slackline::experiments {
namespace {

// FDR's line, and 8 lanes of PCIe 3.0, by their standards: docs/guide/platforms.md.
constexpr const char* kFramed =
    "fdr-4node:rate=56250Mbps,mtu=4KiB,packet_overhead=28B,coding=64/66,"
    "pcie_rate=63077Mbps,pcie_payload=256B,pcie_header=24B";

ExperimentReport seriema_fig2(const Options& options) {
  ExperimentReport report{"Messages a second against their size, and selective signalling",
                          "Seriema, figure 2"};
  const machine::Platform platform = machine::load_platform("fdr-4node");
  const std::uint32_t messages = options.quick ? 4'000 : 20'000;
  constexpr std::uint32_t kUMax = 256;
  ReportTable table{"One thread's writes to another machine, million a second",
                    {"bytes", "all signalled", "by hand", "automatic", "automatic, MB/s"}};
  Figure figure{"seriema-fig2",
                "Writes a second against their size",
                {"bytes", 2},
                {"million messages a second"}};
  Series all{"all signalled", {}, {}, true};
  Series by_hand{"by hand"};
  Series automatic{"automatic"};
  double least = 1e9;  // automatic against by hand
  double mb_per_s = 0;
  bool falls = true;
  double before = 1e99;
  for (std::uint64_t bytes = 1; bytes <= 65'536; bytes *= 4) {
    const auto rate = [&](Signalling signalling) {
      return 1e-6 * writes_per_s(platform, bytes, messages, kUMax, signalling);
    };
    const double a = rate(Signalling::kAll);
    const double h = rate(Signalling::kByHand);
    const double s = rate(Signalling::kAutomatic);
    table.add({static_cast<double>(bytes), a, h, s, s * static_cast<double>(bytes)});
    const auto x = static_cast<double>(bytes);
    all.add(x, a);
    by_hand.add(x, h);
    automatic.add(x, s);
    least = std::min(least, s / h);
    falls = falls && s <= before * (1 + 1e-9);
    before = s;
    if (bytes == 4096) mb_per_s = s * x;
  }
  figure.series = {std::move(all), std::move(by_hand), std::move(automatic)};
  report.add(std::move(table), std::move(figure));
  report.constants = {
      {"machine", "preset fdr-4node", "stated and assumed; in the preset"},
      {"u_max", fmt::format("{}", kUMax), "assumed"},
      {"messages", fmt::format("{}", messages), "assumed; enough for a steady rate"},
      {"seeing a completion", "the preset's poll_cost", "assumed; in the preset"},
  };
  Facts facts(report, "seriema-fig2");
  facts.judge("automatic", least);
  facts.judge("4kb", mb_per_s);
  facts.judge("4kb-framed", 1e-6 * 4096 *
                                writes_per_s(machine::load_platform(kFramed), 4096, messages, kUMax,
                                             Signalling::kAutomatic));
  facts.judge_words("larger-fewer", falls, falls ? "yes" : "no");
  return report;
}

}  // namespace

extern const Experiment kSeriemaFig2 = {"seriema-fig2", "writes a second, and selective signalling",
                                        seriema_fig2};

}  // namespace slackline::experiments
