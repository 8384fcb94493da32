// A time that no run of a schedule can beat, whatever its order and whoever shares links.
#pragma once

#include "machine/setting.h"

namespace slackline::analysis {

/// The longest of: the longest chain of the schedule's own arcs; and of every lane, NIC port and
/// link between switches, the least time before its first use, all the time that it is needed, and
/// the least time after its last. True of every engine, without delays. Linear in operations and
/// links passed. Throws what ConstraintGraph does.
double makespan_floor_s(const machine::Setting& setting);

}  // namespace slackline::analysis
