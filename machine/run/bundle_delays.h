// What the lane of a straggler is held for when it gathers messages and posts bundles: the copy of
// a message takes the place of its post, and a bundle has a post of its own. So it is in a
// simulation (machine/run/execution_bundles.cc).
#pragma once

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/straggling.h"
#include "sched/schedule.h"

namespace slackline::hw {

class BundleDelays {
 public:
  /// Schedule and platform must outlive this.
  BundleDelays(const machine::DelayPlan& plan, const sched::Schedule& schedule,
               const machine::Platform& platform);

  /// Whether the rank's bundles take longer than another's. If not, the others need not be asked.
  bool strike(sched::RankId rank) const;
  /// In seconds: how much longer than its lane delay says the lane is held for a send or put that
  /// is gathered. Below 0 where its copy takes less than its post would.
  double copied_s(sched::OpId op) const;
  /// In seconds: how long the lane is held for the post of a bundle of the channel.
  double post_s(sched::ChannelId channel) const;
  /// How long all bundles can hold the rank's lanes at the most, in seconds.
  double most_s(sched::RankId rank) const;

 private:
  const sched::Schedule& schedule_;
  const machine::Platform& platform_;
  machine::Straggling straggling_;
};

}  // namespace slackline::hw
