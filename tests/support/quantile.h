// Quantiles by their definition, to hold faster ones against.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace slackline::testing {

// The least of the values that at least `percent` of a hundred of them do not exceed; at least one
// value, in any order.
inline double quantile(const std::vector<double>& values, std::size_t percent) {
  double least = *std::max_element(values.begin(), values.end());
  for (const double candidate : values) {
    const auto within = static_cast<std::size_t>(
        std::count_if(values.begin(), values.end(), [&](double v) { return v <= candidate; }));
    if (100 * within >= percent * values.size()) least = std::min(least, candidate);
  }
  return least;
}

}  // namespace slackline::testing
