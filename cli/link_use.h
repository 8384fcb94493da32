// What each NIC of a star carried.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::cli {

/// One entry per rank.
struct LinkUse {
  std::vector<std::uint64_t> out_bytes;
  std::vector<std::uint64_t> in_bytes;
};

/// The payload that the schedule's messages take out of and into each NIC; answers of gets and
/// atomics leave from their target.
LinkUse link_use(const sched::Schedule& schedule);

/// The share of `makespan_s` in which a NIC moves each of `bytes` at its rate; 0 in no time.
std::vector<double> utilisation(const std::vector<std::uint64_t>& bytes,
                                const machine::Platform& platform, double makespan_s);

}  // namespace slackline::cli
