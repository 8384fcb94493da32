// --csv and --plot of `simulate --samples`: how the times of many runs are distributed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/console.h"
#include "machine/samples.h"

namespace slackline::cli {

class DistributionFiles {
 public:
  void declare(Arguments& arguments);
  /// The first that was given, as in "--csv"; empty if none was.
  std::string_view given() const;
  const std::optional<std::string>& csv() const { return csv_; }
  const std::optional<std::string>& plot() const { return plot_; }

  /// Writes what was asked for. `title`: what was run.
  void write(std::string_view title, const machine::Samples& samples, Console& console) const;

 private:
  std::optional<std::string> csv_, plot_;
};

/// A row for each sample, shortest first in each column on its own: `share`, of the samples that
/// took up to the times of the row; `makespan_s`; `rank_0_s`, … Times that never came are "inf".
std::string distribution_csv(const machine::Samples& samples);

}  // namespace slackline::cli
