// What a measured point says of the machine's figures, as an equation that is linear in them. The
// formulas stand at PointKind.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>

#include "analysis/fit/calibration_points.h"
#include "machine/platform.h"

namespace slackline::analysis {

/// The unknowns: times in seconds, and seconds per byte in place of rates.
enum class Unknown : std::uint8_t {
  kPost,
  kComplete,
  kGap,
  kLatency,
  kByte,  // 1 / rate
  kAtomic,
  kCopyByte,   // 1 / copy_rate
  kCopyStart,  // of each copy; platforms have no such figure
  kPostRecv,
  kSignal,
  kPoll,
  kMatch,
};
inline constexpr std::size_t kUnknowns = 12;
using Unknowns = std::array<double, kUnknowns>;

constexpr std::size_t index_of(Unknown unknown) { return static_cast<std::size_t>(unknown); }

/// How points are read: what their equations need beside the point.
struct Reading {
  std::uint32_t poll_batch = 1;  // completions that one look takes, 1 or more
  /// Figures of completions that no point tells apart from o_complete: they are in that, and no
  /// unknowns of their own.
  std::bitset<kUnknowns> within;
};
/// o_signal is told apart where a point of kSignaled is, o_poll where one of kDrain or kDrainRecv
/// is, and o_match where one of kDrainRecv is.
Reading reading_of(std::span<const MeasuredPoint> points, std::uint32_t poll_batch);

/// What paces a stream or a burst: the largest of o_post (streams only), gap and b / rate.
enum class Pace : std::uint8_t { kPost, kGap, kWire };

/// Whether the equation of the point depends on a pace: streams and bursts of two messages or more.
bool is_paced(const MeasuredPoint& point);

/// The coefficients: seconds = Σ row · unknowns. Zero throughout for kBehind.
Unknowns row_of(const MeasuredPoint& point, Pace pace, const Reading& reading = {});

/// The pace under those figures; of several, the first.
Pace pace_under(const MeasuredPoint& point, const Unknowns& figures);

/// What the machine model says that the point takes. 0 for kBehind.
double predicted_s(const MeasuredPoint& point, const Unknowns& figures,
                   std::uint32_t poll_batch = 1);

/// The platform's figures, with a copy_start of 0.
Unknowns unknowns_of(const machine::Platform& platform);

}  // namespace slackline::analysis
