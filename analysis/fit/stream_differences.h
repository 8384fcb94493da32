// The rate as streams and bursts have it by themselves: by how much longer those of more bytes
// take.
//
// What a stream begins and ends with is the same in long and short ones, and their difference has
// nothing of it: not the latency, nor what a shaper lets through at once after a pause, nor what a
// processor does after the last byte. Single messages have that in each of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analysis/fit/calibration_paces.h"
#include "analysis/fit/calibration_points.h"
#include "analysis/fit/linear_model.h"

namespace slackline::analysis {

/// So many more bytes took so many more seconds.
struct StreamDifference {
  std::size_t longer = 0;  // an index of a point
  double bytes = 0;
  double seconds = 0;
};

/// Of points that the wire paces: of each kind, the longest against ones that are a quarter as long
/// or shorter, one by one in their order. The longest are those with half of the most bytes or
/// more.
std::vector<StreamDifference> stream_differences(std::span<const MeasuredPoint> points,
                                                 const Paces& paces);

/// Seconds per byte, with a 95 % interval.
struct StreamPace {
  double byte_s = 0;
  double low = 0;
  double high = 0;
};

/// To each side of a rate by streams: headers and acknowledgements share the wire with the bytes
/// that are counted, and are not the same in long and in short ones.
inline constexpr double kStreamsWithin = 0.005;

/// What they say together, at least kStreamsWithin to each side. None where there are fewer than
/// eight, and where they do not agree within 2 %: then it is no wire that paces them, but a
/// processor or a memory, whose pace is not one figure.
std::optional<StreamPace> stream_pace(std::span<const StreamDifference> differences);

/// Equations of which the wire makes no good part, and then one for each difference.
struct KeptEquations {
  LinearModel model;
  std::vector<std::size_t> points;  // whose each is
  std::size_t own = 0;              // so many are the points' own, the others differences'
};

/// Of the points' own equations, where a byte takes so long.
KeptEquations kept_equations(std::span<const MeasuredPoint> points, const LinearModel& own,
                             std::span<const StreamDifference> differences, double byte_s);

}  // namespace slackline::analysis
