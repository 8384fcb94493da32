// Another host's clock, as questions to it and their answers tell: by how much it differs from this
// one's at every moment of a run, and how far off that may be.
//
// What is taken for granted of two steady clocks, and no more:
//   - An answer was given between its question and its arrival. So the middle of the two is at most
//     half a round trip off.
//   - Their rates differ by at most kDrift, in one direction or the other, as it pleases them:
//     crystals are within some 50 ppm of what they should be.
//   - Beside that one of them may step, or be driven fast or slow by whatever disciplines it: as
//   far
//     as it likes, but between two samples in one direction only.
// So between two samples the difference lies between those of both, give or take what either can
// have drifted since or until then; the estimate goes straight from one to the other. A step shows
// by samples that differ more than drift allows, and costs an error of its size between these two,
// nowhere else. Before the first sample and after the last, the error grows by kDrift alone: a step
// there cannot be seen. So samples are taken before, during and after what is timed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slackline::hw {

/// Another clock against this one, at a moment.
struct ClockOffset {
  double offset_s = 0;  // the other's steady clock minus this one's
  double error_s = 0;   // at most this far off
};

/// A question and its answer, in nanoseconds of steady clocks.
struct ClockSample {
  std::int64_t asked_ns = 0;     // here
  std::int64_t there_ns = 0;     // there, when it was answered; 0 to kMostClockNs
  std::int64_t answered_ns = 0;  // here; not before asked_ns

  std::int64_t round_trip_ns() const { return answered_ns - asked_ns; }
  std::int64_t middle_ns() const { return asked_ns + round_trip_ns() / 2; }
};
/// A century, more than any clock that counts from its machine's start will show.
inline constexpr std::int64_t kMostClockNs = std::int64_t{100} * 366 * 86'400 * 1'000'000'000;

class ClockTrack {
 public:
  /// Seconds per second.
  static constexpr double kDrift = 100e-6;

  /// One clock for both: no difference, no error.
  ClockTrack() = default;
  /// Samples in the order of their middles, at least one. `same_host`: the clocks are taken
  /// for one if no sample says otherwise.
  ClockTrack(std::span<const ClockSample> samples, bool same_host);

  bool is_one_clock() const { return knots_.empty(); }
  /// At a moment on this host's clock. This clock plus the offset never goes back.
  ClockOffset at(std::int64_t here_ns) const;

  /// From the end of the span before it (−∞) to `until_ns` the error is at most `error_s`.
  struct Span {
    std::int64_t until_ns = 0;
    double error_s = 0;
  };
  /// Which together cover all from `begin_ns` to `end_ns`; the last ends there.
  std::vector<Span> errors(std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  // What a sample says.
  struct Knot {
    std::int64_t asked_ns = 0;
    std::int64_t at_ns = 0;  // the middle of question and answer
    std::int64_t answered_ns = 0;
    double offset_ns = 0;  // beyond base_ns_
    double error_ns = 0;
  };
  static std::vector<ClockSample> worthwhile(std::span<const ClockSample> samples);
  std::vector<Knot>::const_iterator first_after(std::int64_t here_ns) const;

  std::int64_t base_ns_ = 0;
  std::vector<Knot> knots_;  // by time; empty: one clock
  // At which a knot begins or ceases to count, ascending.
  std::vector<std::int64_t> moments_ns_;
};

}  // namespace slackline::hw
