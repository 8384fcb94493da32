#include "base/axis_step.h"

#include <cmath>
#include <initializer_list>

namespace slackline::base {

double axis_step(double length) {
  const double power = std::pow(10, std::floor(std::log10(length / 5)));
  for (const double factor : {5.0, 2.0}) {
    if (length / (factor * power) >= 5) return factor * power;
  }
  return power;
}

}  // namespace slackline::base
