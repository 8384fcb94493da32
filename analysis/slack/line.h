// Straight lines, and functions that are the highest of several.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace slackline::analysis {

struct Line {
  double at_zero = 0;
  double slope = 0;

  double at(double x) const { return at_zero + slope * x; }
  /// What at() may be wrong by: differences below are none.
  double rounding_at(double x) const {
    constexpr double kUlps = 16 * std::numeric_limits<double>::epsilon();
    return kUlps * (std::abs(at_zero) + std::abs(slope * x));
  }
  friend Line operator+(Line a, Line b) { return {a.at_zero + b.at_zero, a.slope + b.slope}; }
  friend bool operator==(Line, Line) = default;
};

/// A convex function on [lo, hi], of straight pieces. `hi` may be infinite.
class PiecewiseLinear {
 public:
  struct Piece {
    double from;
    Line line;
  };

  PiecewiseLinear() = default;
  /// The highest of `lines`, at least one, in order of slope. One that is the highest nowhere by
  /// more than rounding is left out. `lo` is finite.
  PiecewiseLinear(std::span<const Line> lines, double lo, double hi);

  double lo() const { return lo_; }
  double hi() const { return hi_; }
  /// In order, without gaps, the first from lo(); the slopes ascend. Never empty.
  std::span<const Piece> pieces() const { return pieces_; }

  double at(double x) const;
  /// The slopes to the left and to the right of x. They differ at a breakpoint, within a relative
  /// 1e-12 of its value; at an end of the interval they do not.
  struct Slopes {
    double before;
    double after;
  };
  Slopes slopes_at(double x) const;
  /// The greatest x in [lo(), hi()] where the function is not above y; lo() if it always is. Made
  /// for functions that do not fall.
  double stays_below_until(double y) const;

 private:
  double lo_ = 0;
  double hi_ = std::numeric_limits<double>::infinity();
  std::vector<Piece> pieces_{{0, {}}};
};

/// The highest of a family of lines on [lo, hi], from what `highest` says of any x there: a line
/// that is the highest at x. `at_lo` and `at_hi` are what it says of the ends. It is asked again
/// once per breakpoint and once per piece between the first and the last.
PiecewiseLinear highest_lines(const std::function<Line(double)>& highest, Line at_lo, Line at_hi,
                              double lo, double hi);

/// Where two lines of different slope meet.
inline double meet(Line a, Line b) { return (a.at_zero - b.at_zero) / (b.slope - a.slope); }

}  // namespace slackline::analysis
