// The numbers that the channels of one schedule have in the transport: those of the schedule, and
// those that carrying it out takes beside them. The one place where they are given out. All ranks
// that know the schedule and the first number give the same.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/schedule.h"

namespace slackline::hw {

class ExecutorChannels {
 public:
  /// Throws Unsupported if numbers from `first` on do not suffice: a transport has them below
  /// 2^32 − 1. `others`: so many numbers more are for what a run does beside the schedule.
  ExecutorChannels(const sched::Schedule& schedule, std::uint32_t first, std::uint32_t others = 0);

  /// Of a channel of the schedule.
  std::uint32_t of(sched::ChannelId channel) const { return first_ + channel.value; }
  /// Where bundles of the channel go as messages, and where its target acknowledges each. Throw
  /// InternalError if no channel of the schedule gathers.
  std::uint32_t of_bundles(sched::ChannelId channel) const { return beside(channel, 0); }
  std::uint32_t of_acknowledgements(sched::ChannelId channel) const { return beside(channel, 1); }

  /// The first of those for others.
  std::uint32_t of_others() const { return end_ - others_; }

  /// The first number behind all of these.
  std::uint32_t end() const { return end_; }

 private:
  std::uint32_t beside(sched::ChannelId channel, std::uint32_t which) const;

  std::uint32_t first_;
  std::uint32_t count_;  // of the schedule's own
  std::uint32_t others_;
  std::uint32_t end_;
};

/// Of each channel, whether none of its operations, at either end, carries more than kSmallMessage
/// bytes, and nothing on it is gathered.
std::vector<bool> small_channels(const sched::Schedule& schedule);
/// Of each channel, whether any rank's operation is on it. A flush of what gathers nothing is none.
std::vector<bool> used_channels(const sched::Schedule& schedule);

}  // namespace slackline::hw
