// Messages that may come before their receives are posted. libfabric's provider net keeps small
// ones; a larger one holds up whatever its sender sends to that rank after it, acknowledgements
// included, so that a receive that waits for one of these is never posted.
#pragma once

#include "sched/schedule.h"

namespace slackline::hw {

/// Whether a send of more bytes than net keeps is on a channel that promises no window.
bool has_early_messages(const sched::Schedule& schedule);

}  // namespace slackline::hw
