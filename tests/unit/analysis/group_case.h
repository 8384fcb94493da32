// A group whose member is killed: on what machine tests simulate it, and what came of it.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <string>

#include "analysis/group/failure_run.h"
#include "base/units.h"
#include "machine/platform.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

inline constexpr double kUs = 1e-6;
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// That time in seconds, up to rounding.
inline auto at_us(double time) { return ::testing::DoubleNear(time * kUs, 1e-13); }

/// A byte takes 1 ns, on the wire and to copy. A word has 64 bytes between two members and 72
/// between three, a row 8.
inline machine::Platform group_platform() {
  return machine::parse_platform_spec(
      "star:rate=8Gbps,latency=10us,o_post=1us,o_complete=2us,gap=0,copy_rate=8Gbps");
}

inline analysis::GroupKill kill_at(std::uint32_t member, double at_us, double detection_us = 0) {
  analysis::GroupKill kill;
  kill.member = member;
  kill.at = us(at_us);
  kill.detection = us(detection_us);
  return kill;
}

inline std::string outcome(const analysis::GroupRun& run, std::uint32_t member) {
  const auto& outcome = run.members[member].outcome;
  if (!outcome) return "killed";
  return fmt::format("{} {} {}", outcome->delivered ? "delivered" : "failed", outcome->messages,
                     outcome->member ? fmt::format("by {}", *outcome->member) : "");
}

}  // namespace slackline::testing
