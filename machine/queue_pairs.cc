#include "machine/queue_pairs.h"

#include <map>
#include <tuple>

#include "sched/channel_numbers.h"

namespace slackline::machine {

QueuePairs::QueuePairs(const sched::Schedule& schedule, const Platform& platform,
                       const Paths& paths)
    : lock_s_(sched::seconds(platform.node.qp_lock)) {
  if (!are_locked()) return;
  const std::uint32_t sharers = platform.node.threads_per_qp;
  const std::vector<std::uint32_t> numbers = sched::channel_numbers(schedule);
  // Groups of threads and NICs at both ends, and the channel's number.
  using Key = std::tuple<std::uint32_t, std::uint32_t, NicId, NicId, std::uint32_t>;
  std::map<Key, std::uint32_t> pairs;
  of_channel_.resize(schedule.channels().size(), kNone);
  for (std::uint32_t c = 0; c < of_channel_.size(); ++c) {
    const Path& path = paths[paths.of(sched::ChannelId(c), false)];
    if (path.local || path.from_switch) continue;
    const Key key{path.src.value / sharers, path.dst.value / sharers, path.src_nic, path.dst_nic,
                  numbers[c]};
    of_channel_[c] = pairs.emplace(key, static_cast<std::uint32_t>(pairs.size())).first->second;
  }
  count_ = static_cast<std::uint32_t>(pairs.size());
}

}  // namespace slackline::machine
