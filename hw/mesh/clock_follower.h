// What a rank asks of rank 0's clock and what it has heard: rounds of questions before and after a
// run, single ones during it. Questions and answers travel by other means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "hw/mesh/clock_track.h"

namespace slackline::hw {

/// One thread asks and hears; the last functions, from track() on, may be called by any.
class ClockFollower {
 public:
  /// Questions of a round, of which the shortest round trip counts.
  static constexpr int kRound = 32;
  /// Samples that are kept. When there are more, of every two neighbours the better stays.
  static constexpr std::size_t kMost = std::size_t{1} << 14;

  /// Begins a round. `anew`: what was heard before is forgotten.
  void begin_round(bool anew);
  bool in_round() const { return left_ != 0; }

  /// Whether a question may be asked now: none is under way. If so, it is taken to be.
  bool ask(std::int64_t now_ns);
  /// An answer: what it says when its question was, and what the other clock showed. Answers
  /// whether a round is over with it. Throws WireError if nobody asked, and for times that no clock
  /// shows.
  bool answered(std::uint64_t asked_ns, std::uint64_t there_ns, std::int64_t now_ns);

  /// A sample that was taken by other means. Any thread.
  void add(const ClockSample& sample);
  /// All that was heard; at least one round must be over.
  ClockTrack track(bool same_host) const;
  /// The other clock as was heard last, at this moment.
  ClockOffset latest(bool same_host, std::int64_t now_ns) const;
  /// Of the samples that are kept.
  std::size_t count() const;

 private:
  // The asking thread's.
  std::optional<std::int64_t> asked_ns_;  // of the question under way
  int left_ = 0;                          // of the round
  std::optional<ClockSample> best_;       // of the round

  mutable std::mutex mutex_;
  std::vector<ClockSample> samples_;  // by the middle of question and answer
};

}  // namespace slackline::hw
