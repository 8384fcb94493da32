// --metrics: how a run goes on, in a file for Prometheus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "hw/run.h"

namespace slackline::cli {

/// Prometheus's text format, as node_exporter's textfile collector reads it: written whole when
/// the ranks have joined and after each iteration. All metrics have the labels `digest`, of the
/// schedule, and `transport`.
class RunMetrics {
 public:
  /// `schedule`: its name, for people.
  RunMetrics(std::string file, std::string_view schedule, std::string_view digest,
             std::string_view transport, std::uint32_t ranks);

  /// Writes the file anew, as do the others. A run does not end where that fails: it is noted once,
  /// and no more is written.
  void begin(Console& console);
  void add(const hw::IterationEnd& end, Console& console);
  /// The run has come to its end, and its bytes were right.
  void finish(Console& console);

  /// What stands in the file.
  std::string text() const;

 private:
  void write(Console& console);

  std::string file_;
  std::string labels_;  // as they stand in braces
  std::string name_;
  std::uint32_t ranks_;
  double begun_s_;  // since 1970
  double last_s_;   // likewise: the end of the last iteration, or the beginning
  std::uint64_t iterations_ = 0;
  std::uint64_t warm_up_ = 0;
  // Of those that count.
  double makespan_s_ = 0;
  double least_s_ = 0;
  double most_s_ = 0;
  double sum_s_ = 0;
  double late_start_s_ = 0;
  bool finished_ = false;
  bool failed_ = false;  // to write
};

}  // namespace slackline::cli
