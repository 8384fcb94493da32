// Which NIC of its host each message of a timeline takes. A schedule and its trace do not say it:
// the platform of the run does.
#pragma once

#include <cstdint>
#include <vector>

namespace slackline::sched {

/// Of each channel the NIC of the host at either end, from 0, or kScaleUp. Both are empty where
/// hosts have one NIC and no scale-up network.
struct TimelineNics {
  /// The rank's port of a network within its host.
  static constexpr std::uint32_t kScaleUp = 0xffff'ffff;

  std::vector<std::uint32_t> at_source;
  std::vector<std::uint32_t> at_target;

  bool are_several() const { return !at_source.empty(); }
};

}  // namespace slackline::sched
