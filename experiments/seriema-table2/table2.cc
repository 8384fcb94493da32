// Seriema, table 2: the throughput of calls, send-based, one-sided and aggregated.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/seriema_stream.h"

namespace slackline::experiments {
namespace {

struct Row {
  std::uint64_t bytes;
  double send, write, trad, ovfl, max_raw;  // MB/s
  double empty_trad = 0;                    // trad, of a function that reads no arguments
  double counted_trad = 0;  // trad, of a function that is counted, and reads nothing
};
constexpr std::array<Row, 3> kPaper = {Row{8, 12.07, 38.39, 2116.78, 36.52, 35.84},
                                       Row{64, 112.95, 301.47, 4256.14, 283.15, 291.93},
                                       Row{256, 367.08, 1129.82, 5318.89, 1061.37, 1135.74}};
constexpr std::uint32_t kUMax = 256;
constexpr std::string_view kEmptyFunction = "2ns";

Row measure(const machine::Platform& platform, std::uint64_t bytes, std::uint32_t messages) {
  const double mb = 1e-6 * static_cast<double>(bytes);
  const auto calls = [&](std::uint32_t count, std::string_view how) {
    return mb * calls_per_s(platform, bytes, count, kUMax, how);
  };
  return {
      bytes,
      calls(messages, "via=send"),
      calls(messages, ""),
      calls(10 * messages, "aggregation=trad"),
      calls(messages, "aggregation=ovfl"),
      mb * writes_per_s(platform, bytes, messages, kUMax, Signalling::kAutomatic),
      calls(10 * messages, "aggregation=trad,reads=identifier"),
      calls(10 * messages, fmt::format("aggregation=trad,reads=count,handler={}", kEmptyFunction))};
}

ExperimentReport seriema_table2(const Options& options) {
  ExperimentReport report{"The throughput of calls: send-based, one-sided, aggregated",
                          "Seriema, table 2"};
  // 5464 MB/s, what the paper measured at 4 KB.
  const machine::Platform platform = machine::load_platform("fdr-4node:rate=43.712Gbps");
  const std::uint32_t messages = options.quick ? 4'000 : 20'000;
  ReportTable table{"MB/s, and in brackets the paper's",
                    {"bytes", "send", "write", "trad", "trad, arguments unread",
                     "trad, calls counted", "ovfl", "max-raw"}};
  std::array<Row, 3> rows;
  const auto both = [](double got, double paper) { return fmt::format("{:.1f} ({})", got, paper); };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& paper = kPaper[i];
    const Row& r = rows[i] = measure(platform, paper.bytes, messages);
    table.add({static_cast<double>(r.bytes), both(r.send, paper.send), both(r.write, paper.write),
               both(r.trad, paper.trad), both(r.empty_trad, paper.trad),
               both(r.counted_trad, paper.trad), both(r.ovfl, paper.ovfl),
               both(r.max_raw, paper.max_raw)});
  }
  report.tables.push_back(std::move(table));
  report.constants = {
      {"machine", "preset fdr-4node but for the rate", "stated and assumed; in the preset"},
      {"rate of a NIC", "5464 MB/s",
       "calibrated to the paper's writes of 4 KB, and to nothing else"},
      {"u_max", fmt::format("{}", kUMax), "assumed"},
      {"flush of trad", "4 KiB", "stated"},
      {"a record", "8 bytes of identifier, the arguments, 8 bytes of mark", "assumed"},
      {"an empty function, counted", std::string(kEmptyFunction),
       "assumed: a call through a pointer and its return, some 5 cycles at 2.1 GHz"},
      {"calls", fmt::format("{}, with trad ten times as many", messages),
       "assumed; the paper makes 65 million"},
  };
  Facts facts(report, "seriema-table2");
  for (const Row& r : rows) {
    const auto bytes = static_cast<double>(r.bytes);
    const std::string of = fmt::format("{} B", r.bytes);
    facts.judge("writes-range", r.write / bytes, of);
    facts.judge("writes-by-row", r.write / bytes, of);
    facts.judge("sends", r.send / bytes, of);
    facts.judge("write-over-send", r.write / r.send, of);
    facts.judge("trad-over-write", r.trad / r.write, of);
    facts.judge("empty-trad-over-write", r.empty_trad / r.write, of);
    facts.judge("counted-trad-over-write", r.counted_trad / r.write, of);
    facts.judge("ovfl", r.ovfl / r.write, of);
  }
  facts.judge("trad-near-peak", rows[2].trad / 5464);
  facts.judge("empty-trad-near-peak", rows[2].empty_trad / 5464);
  facts.judge("counted-trad-near-peak", rows[2].counted_trad / 5464);
  report.notes.push_back(
      "The paper's text gives other percentages than its table; the table is held here.");
  return report;
}

}  // namespace

extern const Experiment kSeriemaTable2 = {
    "seriema-table2", "calls by send, by write, and aggregated", seriema_table2};

}  // namespace slackline::experiments
