// Where in a schedule there is slack: the least total float by rank and step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/schedule.h"

namespace slackline::analysis {

/// Row by row. A schedule with more ranks or steps than there is room for has several of them in
/// one cell, the last row and column perhaps fewer.
struct FloatMap {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t ranks_of_row = 1;
  std::uint32_t steps_of_column = 1;
  std::vector<double> least_s;  // NaN where there is no operation
  double at(std::uint32_t row, std::uint32_t column) const {
    return least_s[std::size_t{row} * columns + column];
  }
};

/// `float_s` is of every operation; `max_rows` and `max_columns` are ≥ 1.
FloatMap float_map(const sched::Schedule& schedule, std::span<const double> float_s,
                   std::uint32_t max_rows, std::uint32_t max_columns);

}  // namespace slackline::analysis
