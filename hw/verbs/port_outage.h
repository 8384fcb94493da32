// When a port was down: for waiting until it comes back, and for saying so when something failed
// meanwhile.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace slackline::hw {

class PortOutage {
 public:
  using Clock = std::chrono::steady_clock;

  /// As the device told. What is told twice counts once.
  void begin(Clock::time_point now);
  void end(Clock::time_point now);

  bool is_down() const { return began_ && !ended_; }
  /// For how long it has been down without a break; zero if it is not.
  Clock::duration duration(Clock::time_point now) const;

  /// "has been down for 1.2 s", "was down for 1.2 s, until 0.4 s ago"; empty if it never was. Of
  /// several the last, and nothing of one that ended longer than `memory` ago.
  std::string text(Clock::time_point now, Clock::duration memory) const;

 private:
  std::optional<Clock::time_point> began_;
  std::optional<Clock::time_point> ended_;
};

}  // namespace slackline::hw
