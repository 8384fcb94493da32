// Where the marks of a figure's axis stand, and what stands beside them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace slackline::experiments {

/// What the numbers of an axis are, which then stand beside its marks with a unit that suits them:
/// "500 us", "1 MiB", "100 Gb/s".
enum class AxisUnit { kNone, kSeconds, kBytes, kBitsPerSecond };

/// Of a figure's axes.
struct AxisUnits {
  AxisUnit x = AxisUnit::kNone;
  AxisUnit y = AxisUnit::kNone;
};

/// The marks of a logarithmic axis from `low` to `high`, both above 0: powers of its base, 2 or 10;
/// only each second, third… of them if they are more than about `most`. Of an axis of less than two
/// powers of ten, 2 and 5 times a power as well. Round numbers if there are not two marks of these.
std::vector<double> log_marks(double low, double high, int base, double most);

/// The marks of a linear axis: round numbers, of which there are about `most` at most.
std::vector<double> linear_marks(double low, double high, double most);

/// What gnuplot is told of them: ("500 us" 0.0005, "1 ms" 0.001).
std::string marks_text(std::span<const double> marks, AxisUnit unit);

}  // namespace slackline::experiments
