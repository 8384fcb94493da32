#pragma once

#include <cstdint>
#include <string>

#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

/// A picture (SVG) of what timeline_intervals.h says, but for what only waits: a row for each CPU
/// lane of a rank, and for what its NIC sends and receives; time goes to the right. Each operation
/// says what it is when the mouse points at it. For up to kMostSvgOps operations; throws InputError
/// beyond, and for a trace of another schedule.
inline constexpr std::uint32_t kMostSvgOps = 20'000;
std::string write_svg_timeline(const Schedule& schedule, const Trace& trace,
                               const TimelineNics& nics = {});

}  // namespace slackline::sched
