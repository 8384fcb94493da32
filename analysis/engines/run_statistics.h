// What the times of many runs of one thing come to.
//
// A quantile is found by nearest rank: of N times in ascending order, the share p is reached at the
// ⌈p·N⌉-th. It is told only where at least one time lies beyond it, that is from N = 1 / (1 − p)
// on: with fewer it would be the largest time under another name.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace slackline::analysis {

struct RunStatistics {
  std::uint64_t count = 0;
  // 0 if there is no time.
  double min_s = 0;
  double median_s = 0;  // the middle one, or the mean of the middle two
  double mean_s = 0;
  double max_s = 0;
  /// Of a sample: the root of the squares' sum over count − 1. Nothing below two times.
  std::optional<double> deviation_s;
  std::optional<double> p90_s;   // from 10 times on
  std::optional<double> p99_s;   // from 100
  std::optional<double> p999_s;  // from 1000
};

/// Of finite times ≥ 0, in seconds and in any order.
RunStatistics statistics_of(std::vector<double> times_s);

}  // namespace slackline::analysis
