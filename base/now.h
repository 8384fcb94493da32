// The time of the steady clock, which goes on while the time of day is set.
#pragma once

#include <chrono>
#include <cstdint>

namespace slackline::base {

/// In nanoseconds, since the machine began.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace slackline::base
