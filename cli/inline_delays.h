// Delays given on the command line: `--delay op=17,by=10us,of=lane` and
// `--slow-pair src=1,dst=2,rate=50Gbps`.
#pragma once

#include <string_view>

#include "machine/delay_plan.h"

namespace slackline::cli {

/// Adds `op=N,by=TIME` (with rank=R the rank it must be of) or `rank=R,step=N,by=TIME`, either with
/// `of=op|lane`. Throws InputError.
void add_delay(machine::DelayPlan& plan, std::string_view text);

/// Adds `src=R,dst=R,rate=RATE`. Throws InputError.
void add_slow_pair(machine::DelayPlan& plan, std::string_view text);

}  // namespace slackline::cli
