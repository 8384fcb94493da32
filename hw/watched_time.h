// How long somebody has waited and looked. Between two looks the process may have stood still: it
// was stopped, its machine was, or something else had the cores. In that time nobody could see
// whether anything happened, so most of it does not count.
#pragma once

#include <algorithm>
#include <chrono>

namespace slackline::hw {

class WatchedTime {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::duration<double>;

  /// `patience`: what the wait ends after. Between two looks, an eighth of it counts at the most:
  /// no wait ends before its ninth look.
  explicit WatchedTime(Duration patience) : most_(patience / 8) {}

  /// A wait begins.
  void restart(Clock::time_point now) {
    watched_ = Duration(0);
    looked_ = now;
  }
  /// Looks, and answers how long it has waited. `now` is not before the look before.
  Duration look(Clock::time_point now) {
    watched_ += std::min<Duration>(now - looked_, most_);
    looked_ = now;
    return watched_;
  }
  /// As it was at the last look.
  Duration watched() const { return watched_; }

 private:
  Duration most_;
  Duration watched_{0};
  Clock::time_point looked_;
};

}  // namespace slackline::hw
