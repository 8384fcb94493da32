// The size up to which messages travel between the packets of larger ones, from points of
// PointKind::kBehind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/fit/calibration_points.h"

namespace slackline::analysis {

struct InterleaveFit {
  std::size_t points = 0;
  /// The largest size that travels between packets, and the smallest that waits, where there are
  /// such sizes with three points or more. Neither if the sizes that wait and those that do not are
  /// not apart.
  std::optional<std::uint64_t> travels;
  std::optional<std::uint64_t> waits;
  std::vector<bool> odd;  // per point given: of kBehind, and not as most others of its size
};

/// A point waited if it took longer than its own wire time and half that of the messages ahead;
/// sizes go by their majority. `byte_s`: seconds per byte of the wire; 0 if it
/// is not known, and then nothing is said.
InterleaveFit fit_interleave(std::span<const MeasuredPoint> points, double byte_s);

}  // namespace slackline::analysis
