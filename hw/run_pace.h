// How often and for how long a run goes on, which rank 0 says: with the word to start an iteration,
// so that no rank gets ready for one that does not come.
#pragma once

#include <chrono>
#include <cstdint>

#include "hw/run.h"
#include "hw/run_words.h"

namespace slackline::hw {

/// Rank 0's clock and plan.
class RunPace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws InputError for no iterations, for 2^32 of them with the warm-up, and for a duration
  /// below 0 or above kLongestDuration. The options must outlive this.
  explicit RunPace(const RunOptions& options);

  /// Of iteration `iteration`, from 0 on and in order, where it is `now`.
  RunStart next(std::uint32_t iteration, Clock::time_point now);
  /// Tells how far a run is when `done` iterations are through, if anybody wants to know.
  void tell(const RunProgress& progress, std::uint32_t done, Clock::time_point now) const;

 private:
  bool by_time() const { return options_.duration.count() != 0; }

  const RunOptions& options_;
  Clock::time_point warm_since_;
  Clock::time_point asked_clock_;
};

}  // namespace slackline::hw
