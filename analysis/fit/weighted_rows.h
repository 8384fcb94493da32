// Weighted rows as matrices, for the solvers. Private to this room: it needs Eigen.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/fit/linear_model.h"

namespace slackline::analysis {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The rows times the square roots of their weights, columns scaled to length 1.
struct WeightedRows {
  MatrixXd a;
  VectorXd y;
  VectorXd length;  // of each column before; 1 of a column of zeros

  WeightedRows(const LinearModel& model, std::span<const double> weight)
      : a(static_cast<Index>(model.rows()), static_cast<Index>(model.columns)),
        y(static_cast<Index>(model.rows())) {
    for (std::size_t i = 0; i < model.rows(); ++i) {
      const double root = std::sqrt(weight[i]);
      const auto row = model.row(i);
      for (std::size_t j = 0; j < model.columns; ++j) {
        a(static_cast<Index>(i), static_cast<Index>(j)) = root * row[j];
      }
      y(static_cast<Index>(i)) = root * model.observed[i];
    }
    length = a.colwise().norm();
    for (Index j = 0; j < a.cols(); ++j) {
      if (length(j) == 0) length(j) = 1;
      a.col(j) /= length(j);
    }
  }
};

/// The square system with the same least squares, for any subset of columns.
inline MatrixXd triangle(const WeightedRows& w) {
  const Index columns = w.a.cols();
  MatrixXd all(std::max(w.a.rows(), columns + 1), columns + 1);
  all.setZero();
  all.topLeftCorner(w.a.rows(), columns) = w.a;
  all.topRightCorner(w.a.rows(), 1) = w.y;
  const Eigen::HouseholderQR<Eigen::Ref<MatrixXd>> qr(all);
  return all.topRows(columns + 1).triangularView<Eigen::Upper>();
}

}  // namespace slackline::analysis
