// What a delay plan's stragglers and noise hold against each operation of a stream, as
// machine::Delays does for a schedule's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/engines/stream_figures.h"
#include "machine/delay_plan.h"

namespace slackline::analysis {

/// What an operation of a stream that holds its lane does there.
enum class Hold : std::uint8_t { kPost, kCopy, kLastCopy };

/// Noise draws in whole picoseconds, as Delays sums them; sums at or above this are no longer exact
/// in a double.
inline constexpr double kMostPicoseconds = 0x1p53;

/// The part that no draw changes, and who is struck by which noise.
class StreamDelays {
 public:
  struct Strike {
    const machine::Noise* noise;
    std::uint64_t place;          // in the plan
    std::uint64_t length_stream;  // machine::draw_stream: how long, and whether at all
    std::uint64_t chance_stream;
  };

  /// `plan`, which must outlive it, is valid for that many ranks.
  StreamDelays(const machine::DelayPlan& plan, const StreamFigures& figures);

  /// Picoseconds that a straggler's operations hold the lane longer.
  double straggle_ps(std::uint32_t rank, Hold hold) const {
    return straggle_ps_.empty() ? 0 : straggle_ps_[3 * std::size_t{rank} + static_cast<int>(hold)];
  }
  std::span<const Strike> strikes(std::uint32_t rank) const {
    return std::span(strikes_).subspan(begin_[rank], begin_[rank + 1] - begin_[rank]);
  }

 private:
  std::vector<double> straggle_ps_;  // by rank and hold; empty without stragglers
  std::vector<Strike> strikes_;
  std::vector<std::size_t> begin_;
};

/// Of one run.
class OneNoise {
 public:
  static constexpr bool kNone = false;
  OneNoise(const machine::DelayPlan& plan, const StreamFigures& figures)
      : delays_(plan, figures), seed_(plan.seed) {}

  /// What delays the index-th operation of a rank that holds its lane: the lane, and the operation
  /// alone. `inexact` is set to −1 where the sums are too large.
  void draw(std::uint32_t rank, std::uint64_t index, Hold hold, double (&lane_s)[1],
            double (&post_s)[1], std::int64_t (&inexact)[1]) const;

 private:
  StreamDelays delays_;
  std::uint64_t seed_;
};

}  // namespace slackline::analysis
