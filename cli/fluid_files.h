// --queues and --rates of `simulate`: what a run with queues came to over time, as CSV or drawn.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/engines/fluid_series.h"
#include "cli/arguments.h"
#include "cli/console.h"
#include "machine/setting.h"

namespace slackline::cli {

class FluidFiles {
 public:
  void declare(Arguments& arguments);
  /// The first that was given, as in "--queues"; empty if none was.
  std::string_view given() const;
  /// Each option with its file.
  std::vector<std::pair<std::string_view, std::optional<std::string>>> files() const;

  /// Throws InputError unless the run has queues over time.
  void check(bool has_queues) const;
  /// Where a run is to tell it. Throws InputError if an interval is shorter than the platform's
  /// step.
  analysis::FluidSeries series(const machine::Setting& setting) const;
  /// Writes what was asked for. `title`: what was run, in so many seconds.
  void write(std::string_view title, const machine::Setting& setting,
             const analysis::FluidSeries& series, double makespan_s, Console& console) const;

 private:
  std::optional<std::string> queues_, rates_;
};

/// A row for each interval in which something waited: `link`, `begin_s`, `end_s`, `mean_bytes`,
/// `largest_bytes`.
std::string queue_csv(const machine::Wiring& wiring, const analysis::FluidSeries& series);
/// A row for each interval in which a queue pair had something to send: `channel`, `from`, `to`,
/// `begin_s`, `end_s`, `bytes_per_s` and `allowed_bytes_per_s`, empty where nothing bounds it.
/// Answers to the channel's gets go from its target to its source.
std::string rate_csv(const sched::Schedule& schedule, const analysis::FluidSeries& series);

}  // namespace slackline::cli
