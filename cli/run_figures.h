// What the times of a real run come to, in the terms of perftest, the OSU benchmarks and
// nccl-tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/engines/run_statistics.h"
#include "cli/json_output.h"
#include "cli/table.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::cli {

struct RunFigures {
  analysis::RunStatistics makespan;
  std::uint64_t message_bytes = 0;  // that the bandwidth is of
  /// That ranks send each other: sends, puts, gets and atomics of one iteration, no credits. Of a
  /// dynamic schedule, of the iteration that the trace is of.
  std::uint64_t messages = 0;
  // Each over the median makespan; nothing if that is 0, or there is nothing to count.
  std::optional<double> messages_per_s;
  std::optional<double> bandwidth_bytes_per_s;      // the algorithm's: the message's bytes
  std::optional<double> bus_bandwidth_bytes_per_s;  // times analysis::bus_factor()
  /// The slowest link of any rank; nothing if not every transport knows its own.
  std::optional<std::uint64_t> line_bits_per_s;
  /// The bus bandwidth over it.
  std::optional<double> line_share;
};

/// `pattern`: that of the schedule's spec, if it has one.
RunFigures figures_of(const sched::Schedule& schedule, const std::optional<std::string>& pattern,
                      const sched::Trace& trace, std::vector<double> makespans_s,
                      std::optional<std::uint64_t> line_bits_per_s);

/// Rows of what a run is told of: makespan to messages.
void add_figures(const RunFigures& figures, Table& table);
/// Into the object that is open.
void add_figures(const RunFigures& figures, JsonOutput& json);

/// For the lines of a table in which each run is one.
std::vector<std::string> figure_heads();
std::vector<std::string> figure_cells(const RunFigures& figures);

}  // namespace slackline::cli
