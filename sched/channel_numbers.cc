#include "sched/channel_numbers.h"

#include <map>
#include <utility>

namespace slackline::sched {

std::vector<std::uint32_t> channel_numbers(const Schedule& schedule) {
  const auto channels = schedule.channels();
  std::vector<std::uint32_t> numbers(channels.size(), 0);
  const std::vector<bool> control = schedule.control_channels();
  // The first channel whose credits it carries, if that one is no carrier of credits itself.
  std::vector<ChannelId> credits_of(channels.size());
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    const ChannelId credits = channels[c].credit_on;
    if (!credits.valid() || control[c] || credits_of[credits.value].valid()) continue;
    credits_of[credits.value] = ChannelId(c);
  }
  std::map<std::pair<RankId, RankId>, std::uint32_t> next;
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    if (credits_of[c].valid()) continue;
    numbers[c] = next[{channels[c].src, channels[c].dst}]++;
  }
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    if (credits_of[c].valid()) numbers[c] = numbers[credits_of[c].value];
  }
  return numbers;
}

}  // namespace slackline::sched
