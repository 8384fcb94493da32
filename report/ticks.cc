#include "report/ticks.h"

#include <cmath>

namespace slackline::report {

Ticks::Ticks(double most_s) {
  constexpr double kMost = 2251799813685248.0;  // 2^51
  double power = 1;
  while (most_s * 1e12 / power >= kMost) power *= 10;
  tick_s_ = 1e-12 * power;
  per_s_ = 1e12 / power;
}

std::int64_t Ticks::of(double time_s) const {
  return std::isfinite(time_s) ? std::llround(time_s * per_s_) : kNever;
}

}  // namespace slackline::report
