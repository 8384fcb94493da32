#include "hw/mesh/clock_probe.h"

#include <cstdlib>

namespace slackline::hw {

void ClockProbe::answered(std::int64_t asked_ns, std::int64_t there_ns, std::int64_t answered_ns) {
  const std::int64_t round_trip_ns = answered_ns - asked_ns;
  if (rounds_++ != 0 && round_trip_ns >= round_trip_ns_) return;
  round_trip_ns_ = round_trip_ns;
  twice_offset_ns_ = (there_ns - asked_ns) + (there_ns - answered_ns);
}

ClockOffset ClockProbe::result(bool same_host) const {
  if (same_host && std::abs(twice_offset_ns_) <= round_trip_ns_) return {};
  constexpr double kHalfNanoseconds = 0.5e-9;
  return {static_cast<double>(twice_offset_ns_) * kHalfNanoseconds,
          static_cast<double>(round_trip_ns_) * kHalfNanoseconds};
}

}  // namespace slackline::hw
