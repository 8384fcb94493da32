// How far another host's clock is from this one's, from questions and answers.
#pragma once

#include <cstdint>

#include "hw/mesh.h"

namespace slackline::hw {

/// Each answer says what the other clock showed, somewhere between question and answer: at best
/// half a round trip from its middle. The shortest round trip counts.
class ClockProbe {
 public:
  static constexpr int kRounds = 64;

  /// All in nanoseconds of a steady clock; asked and answered by this host's.
  void answered(std::int64_t asked_ns, std::int64_t there_ns, std::int64_t answered_ns);
  int rounds() const { return rounds_; }
  bool done() const { return rounds_ >= kRounds; }

  /// After at least one answer. `same_host`: 0 with no error if the answers allow it.
  ClockOffset result(bool same_host) const;

 private:
  int rounds_ = 0;
  std::int64_t round_trip_ns_ = 0;
  std::int64_t twice_offset_ns_ = 0;  // of the shortest
};

}  // namespace slackline::hw
