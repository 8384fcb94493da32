// Robust linear least squares, with intervals, and what the data do not say. It knows nothing of
// machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/fit/linear_model.h"

namespace slackline::analysis {

/// A least-squares fit that gives no weight to outliers, with 95 % intervals.
struct RobustFit {
  std::vector<double> x;       // per column
  std::vector<double> fitted;  // per row
  std::vector<double> weight;  // per row, 0 … 1; 0: an outlier
  std::vector<double> scale;   // per row: the relative error that its group has

  // Per column. `low` ≥ 0. Infinite where nothing is known.
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> standard_error;
  std::vector<double> freedom;  // degrees of freedom behind the standard error

  /// Which combinations of columns the rows do not tell apart: entangled[j] has bit k set if x_j
  /// is known only together with x_k. Of a column that no row speaks of: its own bit alone.
  std::vector<std::uint64_t> entangled;
  /// The row whose loss would cost x_j most, and the standard error that it would then have:
  /// infinite if x_j would not be known without it, so that nothing vouches for that row.
  std::vector<std::size_t> rests_on;
  std::vector<double> standard_error_without;

  std::vector<double> covariance;  // columns × columns, of what is known

  bool known(std::size_t j) const { return entangled[j] == 0; }
};

/// Begins at `start` (least_absolute_fit()), then reweights by Tukey's biweight (4.685: 95 % as
/// efficient as least squares where there are no outliers) with the relative error of each group of
/// 8 rows or more estimated by itself, and of the others together. Standard errors come from the
/// weighted normal equations with Huber's correction, degrees of freedom over groups by Welch and
/// Satterthwaite. At most 64 columns.
RobustFit robust_fit(const LinearModel& model, std::span<const double> start);

/// Student's t: the value that |t| exceeds with a chance of 5 %. Infinite for freedom < 1.
double t_quantile_95(double freedom);

}  // namespace slackline::analysis
