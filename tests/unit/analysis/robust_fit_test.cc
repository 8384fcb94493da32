// The solvers under a calibration, against brute force, the bootstrap and tables.
#include "analysis/fit/robust_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/sanitized.h"

namespace slackline::analysis {
namespace {

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

double cost(const LinearModel& model, const std::vector<double>& weight,
            const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < model.rows(); ++i) {
    sum += weight[i] * std::pow(model.observed[i] - dot(model.row(i), x), 2);
  }
  return sum;
}

// The least squares on some columns, by the normal equations; nothing if they are dependent.
std::vector<double> solution_on(const LinearModel& model, const std::vector<double>& weight,
                                const std::vector<std::size_t>& chosen) {
  const std::size_t n = chosen.size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1, 0.0));
  for (std::size_t i = 0; i < model.rows(); ++i) {
    const auto row = model.row(i);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) {
        a[j][k] += weight[i] * row[chosen[j]] * row[chosen[k]];
      }
      a[j][n] += weight[i] * row[chosen[j]] * model.observed[i];
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const auto pivot = std::max_element(
        a.begin() + static_cast<std::ptrdiff_t>(j), a.end(),
        [&](const auto& p, const auto& q) { return std::abs(p[j]) < std::abs(q[j]); });
    if (std::abs((*pivot)[j]) < 1e-10) return {};
    std::swap(a[j], *pivot);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == j) continue;
      const double times = a[i][j] / a[j][j];
      for (std::size_t k = j; k <= n; ++k) a[i][k] -= times * a[j][k];
    }
  }
  std::vector<double> x(model.columns, 0.0);
  for (std::size_t j = 0; j < n; ++j) x[chosen[j]] = a[j][n] / a[j][j];
  return x;
}

// The best over every set of columns that may be positive.
double least_cost(const LinearModel& model, const std::vector<double>& weight) {
  double best = cost(model, weight, std::vector<double>(model.columns, 0.0));
  for (unsigned mask = 1; mask < 1u << model.columns; ++mask) {
    std::vector<std::size_t> chosen;
    for (std::size_t j = 0; j < model.columns; ++j) {
      if ((mask >> j & 1) != 0) chosen.push_back(j);
    }
    const std::vector<double> x = solution_on(model, weight, chosen);
    if (x.empty() || *std::min_element(x.begin(), x.end()) < 0) continue;
    best = std::min(best, cost(model, weight, x));
  }
  return best;
}

TEST(NonNegative, IsTheBestOverAllSetsOfColumns) {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    LinearModel model;
    model.columns = 1 + trial % 6;
    const int rows = 1 + trial % 13;
    std::vector<double> weight;
    for (int i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < model.columns; ++j) {
        // Small whole numbers: columns of zeros, and columns that depend on others, come up.
        model.coefficients.push_back(trial % 2 == 0 ? static_cast<double>(random() % 3)
                                                    : uniform(random, 0, 1));
      }
      model.observed.push_back(uniform(random, 0.01, 4));
      weight.push_back(uniform(random, 0, 2));
    }
    const std::vector<double> x = non_negative_least_squares(model, weight);
    EXPECT_GE(*std::min_element(x.begin(), x.end()), 0);
    EXPECT_NEAR(cost(model, weight, x), least_cost(model, weight), 1e-9) << trial;
  }
}

// seconds = a + b · size, from two clocks: the second is ten times as rough.
LinearModel line(double a, double b, int rows, double rough, Random& random) {
  LinearModel model;
  model.columns = 2;
  std::normal_distribution<double> normal(0, 1);
  for (int i = 0; i < rows; ++i) {
    const double size = 1 + i % 20;
    const auto group = static_cast<std::uint32_t>(i / 20 % 2);
    model.coefficients.insert(model.coefficients.end(), {1, size});
    model.observed.push_back((a + b * size) * (1 + rough * (group == 0 ? 1 : 10) * normal(random)));
    model.group.push_back(group);
  }
  return model;
}

RobustFit fit(const LinearModel& model) {
  return robust_fit(model, least_absolute_fit(model, std::vector<double>(model.rows(), 1.0)));
}

TEST(RobustFit, GivesEachGroupItsOwnScale) {
  Random random(2);
  const LinearModel model = line(5, 2, 400, 0.002, random);
  const RobustFit found = fit(model);
  EXPECT_NEAR(found.x[0], 5, 5 * found.standard_error[0]);
  EXPECT_NEAR(found.x[1], 2, 5 * found.standard_error[1]);
  EXPECT_NEAR(found.scale.front(), 0.002, 0.0005);
  EXPECT_NEAR(found.scale.back(), 0.02, 0.005);
  // Nearly all there is to know comes from the finer clock.
  EXPECT_LT(found.freedom[0], 230);
  EXPECT_GT(found.freedom[0], 150);
}

TEST(RobustFit, StandardErrorsAreThoseOfTheBootstrap) {
  Random random(3);
  LinearModel model = line(5, 2, 400, 0.004, random);
  for (std::size_t i = 7; i < model.rows(); i += 10) model.observed[i] *= uniform(random, 10, 100);
  const RobustFit found = fit(model);
  constexpr int kResamples = 300;
  std::vector<double> sum(2), squares(2);
  for (int k = 0; k < kResamples; ++k) {
    LinearModel resample;
    resample.columns = 2;
    for (std::size_t i = 0; i < model.rows(); ++i) {
      const std::size_t from = random() % model.rows();
      const auto row = model.row(from);
      resample.coefficients.insert(resample.coefficients.end(), row.begin(), row.end());
      resample.observed.push_back(model.observed[from]);
      resample.group.push_back(model.group[from]);
    }
    const RobustFit again = fit(resample);
    for (std::size_t j = 0; j < 2; ++j) {
      sum[j] += again.x[j];
      squares[j] += again.x[j] * again.x[j];
    }
  }
  for (std::size_t j = 0; j < 2; ++j) {
    const double mean = sum[j] / kResamples;
    const double deviation = std::sqrt(squares[j] / kResamples - mean * mean);
    EXPECT_NEAR(found.standard_error[j] / deviation, 1, 0.25) << j;
  }
}

TEST(RobustFit, IntervalsHoldTheTruth) {
  constexpr int kTrials = testing::cases(1000);
  for (const int rows : {8, 12, 40, 120}) {
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Random random(static_cast<std::uint64_t>(trial));
      const RobustFit found = fit(line(5, 2, rows, 0.01, random));
      if (found.low[1] <= 2 && 2 <= found.high[1]) ++held;
    }
    EXPECT_GE(held, kTrials * (rows < 20 ? 90 : 93) / 100) << rows;
    EXPECT_LE(held, kTrials * 98 / 100) << rows;
  }
}

TEST(RobustFit, PassesOverOutliers) {
  Random random(4);
  LinearModel model = line(5, 2, 200, 0.001, random);
  for (std::size_t i = 3; i < model.rows(); i += 10) model.observed[i] *= uniform(random, 10, 100);
  const RobustFit found = fit(model);
  EXPECT_NEAR(found.x[0], 5, 0.02);
  EXPECT_NEAR(found.x[1], 2, 0.005);
  for (std::size_t i = 0; i < model.rows(); ++i) {
    EXPECT_EQ(found.weight[i] == 0, i % 10 == 3) << i;
  }
}

TEST(RobustFit, KnowsWhatItCannotKnow) {
  // x0 + x1 and x2 are seen, x3 is not; x4 once.
  LinearModel model;
  model.columns = 5;
  for (int i = 0; i < 6; ++i) {
    model.coefficients.insert(model.coefficients.end(),
                              {1, 1, static_cast<double>(i), 0, i == 2 ? 1.0 : 0.0});
    model.observed.push_back(3 + 2 * i + (i == 2 ? 5 : 0));
    model.group.push_back(0);
  }
  const RobustFit found = fit(model);
  EXPECT_EQ(found.entangled, (std::vector<std::uint64_t>{3, 3, 0, 8, 0}));
  EXPECT_NEAR(found.x[0] + found.x[1], 3, 1e-9);
  EXPECT_NEAR(found.x[2], 2, 1e-9);
  EXPECT_NEAR(found.x[4], 5, 1e-9);
  EXPECT_EQ(found.rests_on[4], 2u);
  EXPECT_TRUE(std::isinf(found.standard_error_without[4]));
  EXPECT_TRUE(std::isfinite(found.standard_error_without[2]));
}

TEST(RobustFit, AsManyRowsAsUnknownsHaveNoInterval) {
  Random random(5);
  const RobustFit found = fit(line(5, 2, 2, 0, random));
  EXPECT_NEAR(found.x[1], 2, 1e-9);
  EXPECT_TRUE(std::isinf(found.high[1]));
  EXPECT_TRUE(std::isinf(found.standard_error[1]));
}

TEST(Quantile, IsThatOfTables) {
  EXPECT_NEAR(t_quantile_95(1), 12.7062, 1e-4);
  EXPECT_NEAR(t_quantile_95(10), 2.22814, 1e-5);
  EXPECT_NEAR(t_quantile_95(1e9), 1.959964, 1e-6);
  EXPECT_TRUE(std::isinf(t_quantile_95(0.5)));
}

}  // namespace
}  // namespace slackline::analysis
