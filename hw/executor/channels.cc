#include "hw/executor/channels.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "hw/transport.h"

namespace slackline::hw {
namespace {

constexpr std::uint64_t kBesideEach = 2;  // bundles, and acknowledgements

}  // namespace

ExecutorChannels::ExecutorChannels(const sched::Schedule& schedule, std::uint32_t first,
                                   std::uint32_t others)
    : first_(first),
      count_(static_cast<std::uint32_t>(schedule.channels().size())),
      others_(others) {
  const std::uint64_t each = schedule.has_bundles() ? 1 + kBesideEach : 1;
  const std::uint64_t end = first + each * schedule.channels().size() + others;
  constexpr std::uint64_t kNumbers = std::numeric_limits<std::uint32_t>::max();
  if (end > kNumbers) {
    throw Unsupported(
        fmt::format("a schedule of {} channels after {} that the transport has had; expected fewer "
                    "than 2^32 together: make another session",
                    each * schedule.channels().size(), first));
  }
  end_ = static_cast<std::uint32_t>(end);
}

std::uint32_t ExecutorChannels::beside(sched::ChannelId channel, std::uint32_t which) const {
  const std::uint64_t number = first_ + count_ + kBesideEach * channel.value + which;
  if (number >= of_others())
    throw InternalError("a schedule that gathers nothing has no such channel");
  return static_cast<std::uint32_t>(number);
}

std::vector<bool> small_channels(const sched::Schedule& schedule) {
  std::vector<bool> small;
  for (const sched::Channel& channel : schedule.channels()) {
    small.push_back(channel.bundle == sched::Bundle::kNone);
  }
  for (const sched::Op& op : schedule.ops()) {
    if (op.channel.valid() && schedule.payload_bytes(op) > kSmallMessage) {
      small[op.channel.value] = false;
    }
  }
  return small;
}

std::vector<bool> used_channels(const sched::Schedule& schedule) {
  std::vector<bool> used(schedule.channels().size(), false);
  for (const sched::Op& op : schedule.ops()) {
    if (!op.channel.valid()) continue;
    const bool gathers = schedule.channel(op.channel).bundle != sched::Bundle::kNone;
    if (op.kind != sched::OpKind::kFlush || gathers) used[op.channel.value] = true;
  }
  return used;
}

}  // namespace slackline::hw
