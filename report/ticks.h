// Times as whole numbers.
#pragma once

#include <cstdint>

namespace slackline::report {

/// A time is a whole number of ticks: of picoseconds, or of the least power of ten of them with
/// which a run's times stay below 2^51.
class Ticks {
 public:
  /// Of times up to this, which is finite.
  explicit Ticks(double most_s);

  double tick_s() const { return tick_s_; }
  /// The nearest; kNever of a time that is not finite.
  std::int64_t of(double time_s) const;

  static constexpr std::int64_t kNever = -1;

 private:
  double tick_s_ = 1e-12;
  double per_s_ = 1e12;
};

}  // namespace slackline::report
