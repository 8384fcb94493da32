// How slack is spread over a schedule's operations, for people.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/schedule.h"

namespace slackline::cli {

struct FloatSummary {
  std::uint64_t ops = 0;
  std::uint64_t without = 0;  // operations whose float is 0
  double min_s = 0;
  double median_s = 0;  // the lower of the middle two
  double max_s = 0;
};

FloatSummary summarise(std::vector<double> float_s);

/// The same of each rank's operations.
std::vector<FloatSummary> summarise_by_rank(const sched::Schedule& schedule,
                                            std::span<const double> float_s);

}  // namespace slackline::cli
