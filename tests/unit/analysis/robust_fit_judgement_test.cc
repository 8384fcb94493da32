// What a robust fit says of one unknown, against the formulas of robust_fit.h worked out for one
// column: weights, scales, standard errors, degrees of freedom, and the row that it rests on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "analysis/fit/robust_fit.h"

namespace slackline::analysis {
namespace {

// Rows per group, and the relative errors of each.
struct Group {
  int rows;
  double error;
};

LinearModel model_of(const std::vector<Group>& groups, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  LinearModel model;
  model.columns = 1;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (int i = 0; i < groups[g].rows; ++i) {
      const double size = 1 + i % 5;
      model.coefficients.push_back(size);
      model.observed.push_back(3 * size * (1 + groups[g].error * normal(random)));
      model.group.push_back(g);
    }
  }
  return model;
}

double biweight(double u) {
  const double t = u / 4.685;
  return std::abs(t) >= 1 ? 0 : (1 - t * t) * (1 - t * t);
}
double slope(double u) {
  const double t = u / 4.685;
  return std::abs(t) >= 1 ? 0 : (1 - t * t) * (1 - 5 * t * t);
}

struct Variance {
  double variance = std::numeric_limits<double>::infinity();
  double freedom = 0;
};

class Expected {
 public:
  Expected(const LinearModel& model, const RobustFit& fit) : model_(model), fit_(fit) {
    std::map<std::uint32_t, int> size;
    for (const std::uint32_t g : model.group) ++size[g];
    for (const std::uint32_t g : model.group) group_.push_back(size[g] >= 8 ? g : 64);
    shared_ = std::count(group_.begin(), group_.end(), 64u);
    for (std::size_t i = 0; i < model.rows(); ++i) {
      const double a = model.coefficients[i];
      const double deviation = fit.fitted[i] * fit.scale[i];
      weight_.push_back(fit.weight[i] / (deviation * deviation));
      sum_ += weight_[i] * a * a;
      centre_ += weight_[i] * a * model.observed[i];
    }
    centre_ /= sum_;
    for (std::size_t i = 0; i < model.rows(); ++i) {
      leverage_.push_back(weight_[i] * model.coefficients[i] * model.coefficients[i] / sum_);
    }
  }

  double relative(std::size_t i) const { return model_.observed[i] / fit_.fitted[i] - 1; }

  Variance of(int wanted) const {  // -1: of all
    double kept = 0, leverage = 0, squares = 0, weights = 0, slopes = 0;
    for (std::size_t i = 0; i < model_.rows(); ++i) {
      if (fit_.weight[i] == 0 || (wanted >= 0 && group_[i] != static_cast<std::uint32_t>(wanted))) {
        continue;
      }
      const double u = relative(i) / fit_.scale[i];
      kept += 1;
      leverage += leverage_[i];
      squares += u * biweight(u) * u * biweight(u);
      weights += biweight(u);
      slopes += slope(u);
    }
    Variance result;
    result.freedom = kept - leverage;
    if (result.freedom < 1) return result;
    const double mean = std::max(0.2, slopes / kept);
    result.variance = squares / result.freedom * (weights / kept) / (mean * mean);
    return result;
  }

  void compare() const {
    std::map<int, double> part;
    double total = 0, dearest = 0;
    std::size_t rests_on = 0;
    for (std::size_t i = 0; i < model_.rows(); ++i) {
      int source = static_cast<int>(group_[i]);
      if (of(source).freedom < 1 || (source == 64 && shared_ < 8)) source = -1;
      const double own = leverage_[i] / sum_ * of(source).variance;
      part[source] += own;
      total += own;
      if (own / (1 - leverage_[i]) > dearest) {
        dearest = own / (1 - leverage_[i]);
        rests_on = i;
      }
    }
    double spread = 0;
    for (const auto& [source, share] : part) spread += share * share / of(source).freedom;
    const double error = std::sqrt(total);
    const double freedom = total * total / spread;
    EXPECT_NEAR(fit_.standard_error[0] / error, 1, 1e-9);
    EXPECT_NEAR(fit_.covariance[0] / total, 1, 1e-9);
    EXPECT_NEAR(fit_.standard_error_without[0] / std::sqrt(total + dearest), 1, 1e-9);
    EXPECT_EQ(fit_.rests_on[0], rests_on);
    EXPECT_NEAR(fit_.freedom[0] / freedom, 1, 1e-9);
    const double half = t_quantile_95(freedom) * error;
    EXPECT_NEAR(fit_.low[0], std::min(fit_.x[0], centre_ - half), 1e-9);
    EXPECT_NEAR(fit_.high[0], std::max(fit_.x[0], centre_ + half), 1e-9);
  }

  // The median of a group's errors, each by what its row leaves free; -1: of all.
  double scale(int wanted) const {
    std::vector<double> spread;
    for (std::size_t i = 0; i < model_.rows(); ++i) {
      if (wanted >= 0 && group_[i] != static_cast<std::uint32_t>(wanted)) continue;
      spread.push_back(std::abs(relative(i)) / std::sqrt(1 - leverage_[i]));
    }
    std::sort(spread.begin(), spread.end());
    return spread[spread.size() / 2] / 0.6745;
  }
  double scale_of_row(std::size_t i) const {
    const bool own = group_[i] != 64 || shared_ >= 8;
    return std::max(own ? scale(static_cast<int>(group_[i])) : scale(-1), 0.1 * scale(-1));
  }
  long shared() const { return shared_; }

 private:
  const LinearModel& model_;
  const RobustFit& fit_;
  std::vector<std::uint32_t> group_;
  std::vector<double> weight_, leverage_;
  double sum_ = 0, centre_ = 0;
  long shared_ = 0;
};

RobustFit fit(const LinearModel& model) {
  return robust_fit(model, least_absolute_fit(model, std::vector<double>(model.rows(), 1.0)));
}

// Groups of eight have a scale of their own; smaller ones share theirs if they are eight together,
// and otherwise have that of all.
TEST(RobustFitJudgement, IsThatOfTheFormulas) {
  for (const std::vector<Group>& groups : std::vector<std::vector<Group>>{
           {{40, 0.01}},
           {{40, 0.01}, {8, 0.1}},
           {{40, 0.01}, {7, 0.1}},
           {{40, 0.01}, {9, 0.2}, {8, 0.002}},
           {{40, 0.01}, {4, 0.1}, {4, 0.1}},
           {{40, 0.01}, {4, 0.1}, {3, 0.1}},
           {{20, 0.01}, {7, 0.1}, {7, 0.2}, {7, 0.05}},
           {{7, 0.02}},
           {{3, 0.02}},
           {{60, 0.01}, {12, 0}},
       }) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const LinearModel model = model_of(groups, seed);
      const RobustFit found = fit(model);
      const Expected expected(model, found);
      SCOPED_TRACE(::testing::Message() << groups.size() << " groups, seed " << seed);
      expected.compare();
      if (model.rows() < 8) continue;
      for (std::size_t i = 0; i < model.rows(); ++i) {
        // The scale is that of the round before the last.
        EXPECT_NEAR(found.scale[i] / expected.scale_of_row(i), 1, 0.15) << i;
        EXPECT_NEAR(found.weight[i], biweight(expected.relative(i) / found.scale[i]), 0.005) << i;
      }
    }
  }
}

// An outlier has no weight, and says nothing of the errors of the others.
TEST(RobustFitJudgement, OutliersCountForNothing) {
  LinearModel model = model_of({{40, 0.01}, {12, 0.05}}, 3);
  for (const std::size_t i : {std::size_t{5}, std::size_t{17}, std::size_t{45}}) {
    model.observed[i] *= 3;
  }
  const RobustFit found = fit(model);
  for (const std::size_t i : {std::size_t{5}, std::size_t{17}, std::size_t{45}}) {
    EXPECT_EQ(found.weight[i], 0) << i;
  }
  Expected(model, found).compare();
}

TEST(RobustFitJudgement, BelowTwoRowsThereIsNoError) {
  const RobustFit found = fit(model_of({{1, 0}}, 1));
  EXPECT_NEAR(found.x[0], 3, 1e-9);
  EXPECT_TRUE(std::isinf(found.high[0]));
  EXPECT_EQ(found.low[0], 0);
  EXPECT_EQ(found.freedom[0], 0);
  EXPECT_TRUE(std::isinf(found.covariance[0]));
  EXPECT_TRUE(std::isfinite(fit(model_of({{2, 0.01}}, 1)).high[0]));
}

TEST(Quantile, IsThereFromOneDegreeOfFreedomOn) {
  EXPECT_TRUE(std::isfinite(t_quantile_95(1)));
  EXPECT_NEAR(t_quantile_95(2), 4.30265, 1e-5);
  EXPECT_TRUE(std::isinf(t_quantile_95(0.999)));
  EXPECT_TRUE(std::isinf(t_quantile_95(0)));
  EXPECT_TRUE(std::isinf(t_quantile_95(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace slackline::analysis
