#include "experiments/plot_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/axis_step.h"
#include "base/units.h"
#include "experiments/plot.h"

namespace slackline::experiments {
namespace {

constexpr double kRounding = 1e-9;  // of a mark's place
constexpr double kFewMarks = 6;     // of an axis that spans no power of its base

std::string mark_text(double value, AxisUnit unit) {
  switch (unit) {
    case AxisUnit::kSeconds:
      return sched::human_seconds(value);
    case AxisUnit::kBytes:
      return sched::human_bytes(static_cast<std::uint64_t>(std::max(0.0, std::round(value))));
    case AxisUnit::kBitsPerSecond:
      return value == 0 ? "0 b/s" : sched::human_bytes_per_second(value / 8);
    case AxisUnit::kNone:
      break;
  }
  return fmt::format("{:g}", value);
}

}  // namespace

std::vector<double> log_marks(double low, double high, int base, double most) {
  const double powers = std::log(high / low) / std::log(base);
  const bool between = base == 10 && powers < 2;
  const double step = std::max(1.0, std::ceil(powers / most));
  std::vector<double> marks;
  const auto add = [&](double at) {
    if (at >= low * (1 - kRounding) && at <= high * (1 + kRounding)) marks.push_back(at);
  };
  const double first = std::log(low) / std::log(base);
  double p = between ? std::floor(first) : std::ceil(first - kRounding);
  for (; std::pow(base, p) <= high * (1 + kRounding); p += step) {
    add(std::pow(base, p));
    if (!between) continue;
    add(2 * std::pow(base, p));
    add(5 * std::pow(base, p));
  }
  return marks.size() > 1 ? marks : linear_marks(low, high, kFewMarks);
}

std::vector<double> linear_marks(double low, double high, double most) {
  if (!(low < high)) return {low};
  double step = base::axis_step(high - low);
  while ((high - low) / step > most) step *= 2;
  std::vector<double> marks;
  // Of -0, which is written otherwise, 0 is made.
  double i = std::ceil(low / step - kRounding) + 0.0;
  for (; i * step <= high * (1 + kRounding); ++i) {
    marks.push_back(i * step);
  }
  return marks;
}

std::string marks_text(std::span<const double> marks, AxisUnit unit) {
  std::string out;
  for (const double mark : marks) {
    out += fmt::format("{}{} {:.9g}", out.empty() ? "(" : ", ", plot_text(mark_text(mark, unit)),
                       mark);
  }
  return out.empty() ? "()" : out + ')';
}

}  // namespace slackline::experiments
