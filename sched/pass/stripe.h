// Messages in stripes: each goes in parts over channels of their own, which hosts of several NICs
// carry side by side (machine/rails.h).
#pragma once

#include <cstdint>

#include "sched/schedule.h"

namespace slackline::sched {

inline constexpr std::uint32_t kMostStripes = 256;

/// Every channel of messages becomes `stripes` channels that stand one after the other in the
/// table, and every send and put with immediate on it as many, of bytes as equal as they can be:
/// part s of b bytes has those from ⌊b·s/stripes⌋ on. What waited for a message, or for a receive's
/// post, waits for all of its parts, by a join that takes no time; what it waited for, each part
/// does. So each channel keeps its order, and one credit stands for all parts of a message. Each
/// keeps the window and the channel of credits. Channels of credits and barriers are left alone,
/// and so is what else uses a channel: puts that are seen by a flag, gets and atomics stay whole,
/// on the first of its stripes.
///
/// With 1 the schedule is the same. Throws Unsupported for dynamic schedules and results that are
/// operands, InputError for 0 and above kMostStripes.
Schedule stripe(const Schedule& schedule, std::uint32_t stripes);

}  // namespace slackline::sched
