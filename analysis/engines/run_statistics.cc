#include "analysis/engines/run_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace slackline::analysis {
namespace {

// In whole numbers: 0.9 · 10 is no 9 everywhere.
std::optional<double> quantile(std::span<const double> sorted, std::uint64_t per_mille) {
  const std::uint64_t place = (per_mille * sorted.size() + 999) / 1000;
  if (place == 0 || place >= sorted.size()) return std::nullopt;
  return sorted[place - 1];
}

}  // namespace

RunStatistics statistics_of(std::vector<double> times_s) {
  RunStatistics found;
  found.count = times_s.size();
  if (times_s.empty()) return found;
  std::sort(times_s.begin(), times_s.end());
  const std::size_t half = times_s.size() / 2;
  found.min_s = times_s.front();
  found.max_s = times_s.back();
  found.median_s =
      times_s.size() % 2 == 1 ? times_s[half] : (times_s[half - 1] + times_s[half]) / 2;
  // Each time's step of the mean and of the squares around it (Welford): no sum grows out of the
  // range in which its digits count.
  double squares = 0;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    const double off = times_s[i] - found.mean_s;
    found.mean_s += off / static_cast<double>(i + 1);
    squares += off * (times_s[i] - found.mean_s);
  }
  if (times_s.size() > 1) {
    found.deviation_s = std::sqrt(squares / static_cast<double>(times_s.size() - 1));
  }
  found.p90_s = quantile(times_s, 900);
  found.p99_s = quantile(times_s, 990);
  found.p999_s = quantile(times_s, 999);
  return found;
}

}  // namespace slackline::analysis
