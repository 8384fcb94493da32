// Which of the channels between two ranks a channel is.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

/// By channel: how many channels from its source to its destination stand before it. Those that
/// carry the credits of a channel of messages do not count, and have that channel's number: credits
/// go the way of what they are for.
std::vector<std::uint32_t> channel_numbers(const Schedule& schedule);

}  // namespace slackline::sched
