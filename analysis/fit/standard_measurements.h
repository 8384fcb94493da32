// What is measured to calibrate a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/fit/measuring_schedule.h"

namespace slackline::analysis {

/// Every kind of point over the sizes that tell its figures apart, all of them `repeats` times, one
/// round after the other, so that what disturbs the machine for a while disturbs some of each.
/// Where they would take more than `memory_bytes` there are fewer messages, or none of that size.
std::vector<Measurement> standard_measurements(std::uint32_t repeats, bool atomics,
                                               std::uint64_t memory_bytes);

}  // namespace slackline::analysis
