#include "analysis/slack/float_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slackline::analysis {
namespace {

std::uint32_t divided_up(std::uint32_t count, std::uint32_t by) {
  return count / by + (count % by == 0 ? 0 : 1);
}

}  // namespace

FloatMap float_map(const sched::Schedule& schedule, std::span<const double> float_s,
                   std::uint32_t max_rows, std::uint32_t max_columns) {
  FloatMap map;
  const std::uint32_t ranks = schedule.rank_count();
  const std::uint32_t steps = schedule.step_count();
  map.ranks_of_row = std::max(1u, divided_up(ranks, max_rows));
  map.steps_of_column = std::max(1u, divided_up(steps, max_columns));
  map.rows = divided_up(ranks, map.ranks_of_row);
  map.columns = divided_up(steps, map.steps_of_column);
  map.least_s.assign(std::size_t{map.rows} * map.columns, std::numeric_limits<double>::quiet_NaN());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    const std::size_t row = op.rank.value / map.ranks_of_row;
    double& least_s = map.least_s[row * map.columns + op.step / map.steps_of_column];
    if (std::isnan(least_s) || float_s[i] < least_s) least_s = float_s[i];
  }
  return map;
}

}  // namespace slackline::analysis
