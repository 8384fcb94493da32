// Rows of a linear model, and fitting them with unknowns that cannot be negative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slackline::analysis {

/// observed[i] = Σ_j coefficients[i · columns + j] · x_j, up to an error in proportion to it. Rows
/// of one group have errors of one relative size. Coefficients are ≥ 0, observations > 0.
struct LinearModel {
  std::size_t columns = 0;
  std::vector<double> coefficients;  // row by row
  std::vector<double> observed;
  std::vector<std::uint32_t> group;  // below 64

  std::size_t rows() const { return observed.size(); }
  std::span<const double> row(std::size_t i) const {
    return std::span(coefficients).subspan(i * columns, columns);
  }
};

/// Σ_j row_j · x_j.
double dot(std::span<const double> row, std::span<const double> x);

/// The x ≥ 0 that minimises Σ weight_i · (observed_i − row_i · x)², by Lawson and Hanson's active
/// sets on a QR decomposition. Where several do, it is one of them.
std::vector<double> non_negative_least_squares(const LinearModel& model,
                                               std::span<const double> weight);

/// The x ≥ 0 that (nearly) minimises Σ times_i · |1 − row_i · x / observed_i|, by reweighting: a
/// start that no tenth of the points pulls far. `times`: how often each row counts.
std::vector<double> least_absolute_fit(const LinearModel& model, std::span<const double> times);

}  // namespace slackline::analysis
