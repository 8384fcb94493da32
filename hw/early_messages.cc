#include "hw/early_messages.h"

#include <algorithm>

namespace slackline::hw {

bool has_early_messages(const sched::Schedule& schedule) {
  constexpr std::uint64_t kKeptByNet = 128;
  return std::ranges::any_of(schedule.ops(), [&](const sched::Op& op) {
    return op.kind == sched::OpKind::kSend && schedule.channel(op.channel).window == 0 &&
           schedule.bytes(op.reads) > kKeptByNet;
  });
}

}  // namespace slackline::hw
