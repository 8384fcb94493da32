#include "analysis/engines/run_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace slackline::analysis {
namespace {

// By the definition, without sorting: the least time that a share of all do not exceed, if another
// one is larger in place.
std::optional<double> quantile_by_count(const std::vector<double>& times, std::size_t per_mille) {
  std::optional<double> least;
  for (const double candidate : times) {
    const auto within = static_cast<std::size_t>(
        std::count_if(times.begin(), times.end(), [&](double t) { return t <= candidate; }));
    if (1000 * within >= per_mille * times.size() && (!least || candidate < *least)) {
      least = candidate;
    }
  }
  // One beyond it: N · (1 − p) ≥ 1.
  return times.size() * (1000 - per_mille) >= 1000 ? least : std::nullopt;
}

// A pair of times, with half of all on either side.
double median_by_count(const std::vector<double>& times) {
  const auto place = [&](std::size_t k) {  // the k-th least, from 0
    for (const double candidate : times) {
      const auto below = static_cast<std::size_t>(
          std::count_if(times.begin(), times.end(), [&](double t) { return t < candidate; }));
      const auto equal =
          static_cast<std::size_t>(std::count(times.begin(), times.end(), candidate));
      if (below <= k && k < below + equal) return candidate;
    }
    return std::nan("");
  };
  return (place((times.size() - 1) / 2) + place(times.size() / 2)) / 2;
}

void expect_as_counted(const std::vector<double>& times) {
  const RunStatistics found = statistics_of(times);
  ASSERT_EQ(found.count, times.size());
  EXPECT_EQ(found.min_s, *std::min_element(times.begin(), times.end()));
  EXPECT_EQ(found.max_s, *std::max_element(times.begin(), times.end()));
  EXPECT_EQ(found.median_s, median_by_count(times));
  EXPECT_EQ(found.p90_s, quantile_by_count(times, 900));
  EXPECT_EQ(found.p99_s, quantile_by_count(times, 990));
  EXPECT_EQ(found.p999_s, quantile_by_count(times, 999));
  long double sum = 0;
  for (const double t : times) sum += t;
  const long double mean = sum / times.size();
  EXPECT_NEAR(found.mean_s, static_cast<double>(mean), 1e-12 * static_cast<double>(mean));
  if (times.size() == 1) {
    EXPECT_EQ(found.deviation_s, std::nullopt);
    return;
  }
  // Over all pairs: half the mean square of what two differ by.
  long double pairs = 0;
  for (const double a : times) {
    for (const double b : times) pairs += (static_cast<long double>(a) - b) * (a - b);
  }
  const long double n = times.size();
  const auto deviation = static_cast<double>(std::sqrt(pairs / (2 * n * (n - 1))));
  ASSERT_TRUE(found.deviation_s);
  EXPECT_NEAR(*found.deviation_s, deviation, 1e-9 * deviation + 1e-15);
}

TEST(RunStatistics, AsCountedForEverySmallNumber) {
  std::mt19937 random(20);
  for (std::size_t n = 1; n <= 120; ++n) {
    std::vector<double> times(n);
    // Few values: many are equal.
    for (double& t : times)
      t = 1e-6 * static_cast<double>(1 + random() % (n % 3 == 0 ? 4 : 10'000));
    expect_as_counted(times);
    if (HasFailure()) FAIL() << n << " times";
  }
}

TEST(RunStatistics, AsCountedWhereAThousandthIsTold) {
  std::mt19937 random(21);
  for (const std::size_t n : {998u, 999u, 1000u, 1001u, 1999u, 2000u, 2001u}) {
    std::vector<double> times(n);
    for (double& t : times) t = 1e-6 * static_cast<double>(1 + random() % 1'000'000);
    expect_as_counted(times);
  }
}

TEST(RunStatistics, TellsOnlyWhatTheNumberCanTell) {
  std::vector<double> times;
  for (std::size_t n = 1; n <= 1001; ++n) {
    times.push_back(static_cast<double>(n));
    const RunStatistics found = statistics_of(times);
    EXPECT_EQ(found.p90_s.has_value(), n >= 10) << n;
    EXPECT_EQ(found.p99_s.has_value(), n >= 100) << n;
    EXPECT_EQ(found.p999_s.has_value(), n >= 1000) << n;
    EXPECT_EQ(found.deviation_s.has_value(), n >= 2) << n;
  }
  EXPECT_EQ(statistics_of(times).p999_s, 1000);  // ⌈999.999⌉
}

TEST(RunStatistics, OfNothing) {
  const RunStatistics found = statistics_of({});
  EXPECT_EQ(found.count, 0u);
  EXPECT_EQ(found.mean_s, 0);
  EXPECT_EQ(found.p90_s, std::nullopt);
}

TEST(RunStatistics, SmallSpreadsOfLargeTimesKeepTheirDigits) {
  const RunStatistics found = statistics_of({1e6 + 1, 1e6 + 2, 1e6 + 3});
  EXPECT_EQ(found.mean_s, 1e6 + 2);
  EXPECT_NEAR(*found.deviation_s, 1, 1e-9);
}

}  // namespace
}  // namespace slackline::analysis
