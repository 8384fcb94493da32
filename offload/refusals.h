// What no queue can carry out, and options out of range.
#pragma once

#include <vector>

#include "offload/compile_queues.h"
#include "sched/schedule.h"

namespace slackline::offload {

/// By channel, whether it carries credits: another channel names it, and nothing but messages
/// without bytes and flags goes over it.
std::vector<char> credit_channels(const sched::Schedule& schedule);

/// Throws Unsupported, naming the operation and the reason, unless the schedule is static and all
/// that is not a credit are sends, puts with immediate, their receives, and joins, over reliable
/// channels, every byte of memory being written once, by the contract or by a message.
void require_offloadable(const sched::Schedule& schedule, const std::vector<char>& is_credit);

/// Throws InputError on options that compile_queues() does not take.
void require_in_range(const QueueOptions& options);

}  // namespace slackline::offload
