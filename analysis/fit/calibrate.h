// Fits a platform's figures to measured points, and says which of them the points do not determine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/fit/calibration_points.h"
#include "machine/platform.h"

namespace slackline::analysis {

/// What is calibrated, in the order of reports.
enum class CalibratedFigure : std::uint8_t {
  kPost,
  kComplete,
  kGap,
  kLatency,
  kRate,
  kAtomicService,
  kCopyRate,
  kCopyStart,
  kPostRecv,
  kSignal,
  kPoll,
  kMatch,
  kInterleave,
};
inline constexpr std::size_t kFigures = 13;

/// "o_post", … as in an inline platform spec; "copy_start" is no figure of a platform.
std::string_view name(CalibratedFigure figure);
/// Whether it is in bytes per second: rate and copy_rate. Interleave is in bytes, the others are in
/// seconds.
constexpr bool is_rate(CalibratedFigure figure) {
  return figure == CalibratedFigure::kRate || figure == CalibratedFigure::kCopyRate;
}

enum class Verdict : std::uint8_t {
  kMeasured,
  kNoPoints,   // no point speaks of it, or all that did are outliers
  kTogether,   // the points speak only of it together with others
  kUndecided,  // o_post or gap: the points do not say which of the two paces small streams
  kOnePoint,   // nothing vouches for a point on which it rests
  kVague,      // its interval is too wide, or there is none
  kWithin,     // of completions, and no point tells it apart: o_complete has it in it
};

struct FigureFit {
  CalibratedFigure figure = CalibratedFigure::kPost;
  Verdict verdict = Verdict::kNoPoints;
  double value = 0;        // of the fit; of kMeasured, also kOnePoint and kVague
  double low = 0;          // 95 % interval of the same
  double high = 0;         // …which may be infinite
  std::size_t points = 0;  // that speak of it, without outliers
  std::vector<CalibratedFigure> together_with;  // kTogether
  std::size_t rests_on = 0;                     // kOnePoint: an index of a point
  std::optional<double> at_least;               // not measured, but it must be…
  std::optional<double> at_most;
};

struct PointFit {
  double fitted_s = 0;    // 0 for kBehind, which has no equation
  double platform_s = 0;  // what the calibrated platform says, kept figures and all
  double relative = 0;    // seconds / fitted_s − 1; 0 for kBehind
  double weight = 0;      // 0 … 1 in the fit; 0: an outlier, or left out
  bool left_out = false;  // for a contradiction
};

/// One kind's points.
struct KindFit {
  PointKind kind = PointKind::kPost;
  std::size_t points = 0;
  std::size_t outliers = 0;
  std::size_t left_out = 0;    // for a contradiction
  double median_relative = 0;  // of |seconds / fitted − 1|, without outliers
  double platform_off = 0;     // the median of platform / seconds − 1, without outliers
};

/// What all points say together of the rate, where what streams say excludes it. Bytes per second.
struct Contradiction {
  double together = 0;
  double low = 0;  // 95 % interval of the same
  double high = 0;
  std::size_t left_out = 0;  // points, of which most took…
  double off_low = 0;        // …seconds / platform − 1 from here…
  double off_high = 0;       // …to here: the middle 80 %
};

struct Calibration {
  std::vector<FigureFit> figures;             // every one, in the order of Figure
  machine::Platform platform;                 // the base, with what was measured in its place
  std::vector<PointFit> points;               // one per point given
  std::vector<KindFit> kinds;                 // those that were given, in the order of PointKind
  std::optional<double> small_stream_pace_s;  // kUndecided: the larger of o_post and gap
  std::optional<Contradiction> contradiction;
  double median_relative = 0;  // of |seconds / fitted − 1| over all points with an equation…
  double worst_relative = 0;   // …and the largest; both without outliers
  std::size_t worst = 0;       // the index of that point
  std::size_t outliers = 0;

  const FigureFit& of(CalibratedFigure figure) const {
    return figures[static_cast<std::size_t>(figure)];
  }
};

/// Fits all figures at once to the relative errors of the points (robust_fit()), with every figure
/// ≥ 0, and the pace of streams and bursts by find_paces(). A figure counts as measured if half its
/// 95 % interval is at most a quarter of its value, or its upper end makes less than a twentieth of
/// every point that speaks of it, and if that stays so without any one point. The others are as in
/// `base`: no number is made up.
///
/// Where the rate that comes out lies outside of the interval of streams by themselves
/// (stream_pace()), the points contradict each other, unless their own interval is the narrower and
/// holds the streams' rate. A shaper lets single messages through early, a processor keeps them for
/// longer. Then the rate is that of streams, and the points of which the wire makes a good part are
/// left out otherwise.
///
/// Figures of completions have unknowns where points tell them apart (reading_of()). Looks take as
/// many as the base's poll_batch says; where o_poll is kWithin, the platform's is 1. Throws
/// InputError without points.
Calibration calibrate(std::span<const MeasuredPoint> points, const machine::Platform& base);

}  // namespace slackline::analysis
