// What bounds a series of messages of one size, whichever way they go.
#pragma once

#include <cstdint>

#include "sched/pattern/spec.h"

namespace slackline::sched {

/// Throws InputError if there is no message, if all of them, each with `more_bytes` beside it, have
/// 2^63 bytes or more, or if they make kMaxOps operations or more, as `ops` counts them. Each of
/// `senders` ranks sends spec.messages.
void check_message_limits(const Spec& spec, std::uint64_t more_bytes,
                          std::uint64_t (*ops)(const Spec&), std::uint32_t senders = 1);

}  // namespace slackline::sched
