#include "sched/workloads/calls/message_limits.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"

namespace slackline::sched {

void check_message_limits(const Spec& spec, std::uint64_t more_bytes,
                          std::uint64_t (*ops)(const Spec&), std::uint32_t senders) {
  if (spec.messages == 0) throw InputError("messages: 0; expected at least 1");
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t messages = std::uint64_t{spec.messages} * senders;
  if (spec.multicast.bytes > kMost / messages - more_bytes) {
    throw InputError(fmt::format("messages: {} of {} bytes; expected less than {} bytes together",
                                 messages, spec.multicast.bytes, kMost));
  }
  if (ops(spec) >= kMaxOps) {
    throw InputError(fmt::format("messages: {} to {} ranks make {} operations; expected less",
                                 spec.messages, spec.multicast.ranks - 1, ops(spec)));
  }
}

}  // namespace slackline::sched
