// What is measured to calibrate a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/measuring_schedule.h"

namespace slackline::analysis {

/// Every kind of point over the sizes that tell its figures apart, all of them `repeats` times, one
/// round after the other, so that what disturbs the machine for a while disturbs some of each.
std::vector<Measurement> standard_measurements(std::uint32_t repeats, bool atomics);

}  // namespace slackline::analysis
