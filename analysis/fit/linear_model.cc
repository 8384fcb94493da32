#include "analysis/fit/linear_model.h"

#include <algorithm>
#include <cmath>

#include "analysis/fit/weighted_rows.h"

namespace slackline::analysis {
namespace {

// Lawson and Hanson, Solving Least Squares Problems, chapter 23: columns join one at a time, the
// steepest first, and leave when they would become negative. A column that depends on those that
// have joined has no slope, so it stays out.
VectorXd lawson_hanson(const MatrixXd& a, const VectorXd& y) {
  const Index columns = a.cols();
  VectorXd x = VectorXd::Zero(columns);
  std::vector<Index> passive;
  const double flat = 1e-13 * y.norm();
  const auto solve = [&] {
    MatrixXd chosen(a.rows(), static_cast<Index>(passive.size()));
    for (std::size_t k = 0; k < passive.size(); ++k) {
      chosen.col(static_cast<Index>(k)) = a.col(passive[k]);
    }
    return VectorXd(chosen.colPivHouseholderQr().solve(y));
  };
  for (Index turn = 0; turn < 8 * columns; ++turn) {  // a bound, should rounding make it go round
    const VectorXd slope = a.transpose() * (y - a * x);
    Index joins = -1;
    for (Index j = 0; j < columns; ++j) {
      if (std::find(passive.begin(), passive.end(), j) != passive.end()) continue;
      if (slope(j) > flat && (joins < 0 || slope(j) > slope(joins))) joins = j;
    }
    if (joins < 0) break;
    passive.push_back(joins);
    VectorXd next = solve();
    while (next.size() > 0 && next.minCoeff() <= 0) {
      double step = 1;
      std::size_t first = 0;
      for (std::size_t k = 0; k < passive.size(); ++k) {
        const double from = x(passive[k]);
        const double to = next(static_cast<Index>(k));
        if (to <= 0 && from / (from - to) <= step) {
          step = from == to ? 0 : from / (from - to);
          first = k;
        }
      }
      for (std::size_t k = 0; k < passive.size(); ++k) {
        x(passive[k]) += step * (next(static_cast<Index>(k)) - x(passive[k]));
      }
      x(passive[first]) = 0;
      passive.erase(passive.begin() + static_cast<std::ptrdiff_t>(first));
      next = solve();
    }
    x.setZero();
    for (std::size_t k = 0; k < passive.size(); ++k) {
      x(passive[k]) = next(static_cast<Index>(k));
    }
  }
  return x;
}

}  // namespace

double dot(std::span<const double> row, std::span<const double> x) {
  double sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * x[j];
  return sum;
}

std::vector<double> non_negative_least_squares(const LinearModel& model,
                                               std::span<const double> weight) {
  const WeightedRows w(model, weight);
  const MatrixXd r = triangle(w);
  const VectorXd scaled = lawson_hanson(r.leftCols(w.a.cols()), r.col(w.a.cols()));
  std::vector<double> x(model.columns);
  for (std::size_t j = 0; j < x.size(); ++j) {
    x[j] = scaled(static_cast<Index>(j)) / w.length(static_cast<Index>(j));
  }
  return x;
}

std::vector<double> least_absolute_fit(const LinearModel& model, std::span<const double> times) {
  constexpr int kTurns = 25;
  constexpr double kSmoothest = 0.3;
  constexpr double kSharpest = 1e-6;
  std::vector<double> miss(model.rows(), 1.0);
  std::vector<double> weight(model.rows());
  std::vector<double> x;
  double smooth = kSmoothest;
  for (int turn = 0; turn < kTurns; ++turn, smooth = std::max(smooth / 2, kSharpest)) {
    for (std::size_t i = 0; i < model.rows(); ++i) {
      const double y = model.observed[i];
      weight[i] = times[i] / (y * y * std::max(miss[i], smooth));
    }
    x = non_negative_least_squares(model, weight);
    for (std::size_t i = 0; i < model.rows(); ++i) {
      miss[i] = std::abs(1 - dot(model.row(i), x) / model.observed[i]);
    }
  }
  return x;
}

}  // namespace slackline::analysis
