// Figures of a list of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace slackline::base {

/// Where, among so many numbers from the least to the most, the least one stands that at least
/// `percent` of them do not exceed. `count` is at least 1.
constexpr std::size_t nearest_rank(std::size_t count, std::size_t percent) {
  return std::max<std::size_t>(1, (count * percent + 99) / 100) - 1;
}

/// That number. There is one.
inline double percentile(std::span<const double> sorted, std::size_t percent) {
  return sorted[nearest_rank(sorted.size(), percent)];
}

/// The number that would stand at `place` if they were sorted. Reorders them.
inline double value_at(std::vector<double>& values, std::size_t place) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The mean of the two in the middle, if there are two; 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t half = values.size() / 2;
  const double upper = value_at(values, half);
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half)) +
          upper) /
         2;
}

}  // namespace slackline::base
