// Rates of a run, from its makespans.
#include "cli/run_figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sched/compile.h"

namespace slackline::cli {
namespace {

// A trace in which every operation ran once.
RunFigures figures(const std::string& spec, std::vector<double> makespans_s,
                   std::optional<std::uint64_t> line_bits_per_s = std::nullopt) {
  const sched::Spec parsed = sched::parse_spec(spec);
  const sched::Schedule schedule = sched::compile(parsed);
  sched::Trace trace;
  trace.ops.resize(schedule.op_count());
  return figures_of(schedule, parsed.pattern, trace, std::move(makespans_s), line_bits_per_s);
}

TEST(RunFigures, RatesAreOfTheMedian) {
  const RunFigures found =
      figures("allreduce:ranks=4,bytes=1000", {1e-6, 2e-6, 9e-6}, 16'000'000'000);
  EXPECT_DOUBLE_EQ(*found.bandwidth_bytes_per_s, 5e8);
  EXPECT_DOUBLE_EQ(*found.bus_bandwidth_bytes_per_s, 7.5e8);  // 2 · 3 / 4
  EXPECT_DOUBLE_EQ(*found.line_share, 0.375);                 // of 2 GB/s
}

TEST(RunFigures, MessagesAreThoseOfDataAlone) {
  // Three blocks to each of two ranks; credits are as many.
  const RunFigures found = figures("chain:ranks=3,bytes=3000,block=1000", {1e-3});
  EXPECT_EQ(found.messages, 6u);
  EXPECT_DOUBLE_EQ(*found.messages_per_s, 6000);
  EXPECT_EQ(figures("chain:ranks=3,bytes=3000,block=1000,ready=none", {1e-3}).messages, 6u);
}

TEST(RunFigures, WhatIsNotKnownIsNotTold) {
  const RunFigures none = figures("chain:ranks=2,bytes=8", {0});
  EXPECT_FALSE(none.messages_per_s || none.bandwidth_bytes_per_s || none.bus_bandwidth_bytes_per_s);
  const RunFigures without_line = figures("chain:ranks=2,bytes=8", {1e-6});
  EXPECT_TRUE(without_line.bus_bandwidth_bytes_per_s);
  EXPECT_FALSE(without_line.line_share);
  const RunFigures barrier = figures("barrier:ranks=4", {1e-6}, 1'000);
  EXPECT_FALSE(barrier.bus_bandwidth_bytes_per_s || barrier.line_share);
  EXPECT_GT(barrier.messages, 0u);
}

TEST(RunFigures, TheTextSaysWhatThereIs) {
  Table table({Align::kLeft, Align::kLeft});
  add_figures(figures("chain:ranks=2,bytes=1000", {1e-6}, 80'000'000'000), table);
  EXPECT_EQ(table.text(),
            "makespan   1 us\n"
            "bandwidth  8 Gb/s; bus bandwidth 8 Gb/s, 10.0 % of the line's 80 Gb/s\n"
            "messages   1, 1000000/s\n");
  EXPECT_EQ(figure_heads().size(), figure_cells(figures("chain:ranks=2,bytes=8", {1e-6})).size());
}

TEST(RunFigures, TheDocumentHasNullForTheRest) {
  JsonOutput json(std::nullopt, false);
  add_figures(figures("chain:ranks=2,bytes=1000", {1e-6, 3e-6}), json);
  const auto read = nlohmann::json::parse(json.text());
  EXPECT_EQ(read["makespan_min_s"], 1e-6);
  EXPECT_EQ(read["makespan_s"], 2e-6);
  EXPECT_EQ(read["makespan_max_s"], 3e-6);
  EXPECT_TRUE(read["makespan_p90_s"].is_null());
  EXPECT_TRUE(read["line_share"].is_null());
  EXPECT_EQ(read["messages"], 1);
}

}  // namespace
}  // namespace slackline::cli
