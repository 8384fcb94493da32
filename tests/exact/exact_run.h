// A run in which nothing is rounded: the judge of engines where links are shared.
#pragma once

#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::testing {

/// Follows the machine model (docs/architecture.md) as the flow engine does, with every event, byte
/// and rate in rational numbers; only the times of the trace are rounded. Some thousand messages
/// take seconds. Throws what run_flows() does, and Unsupported for schedules that are not static
/// and for delay plans that change or cut links.
sched::Trace run_exactly(const machine::Setting& setting);

}  // namespace slackline::testing
