// What the lane of a straggler is held for when it gathers messages and posts bundles: the copy of
// a message takes the place of its post, and a bundle has a post of its own. One rule for
// simulations and for real runs.
#pragma once

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/straggling.h"
#include "sched/schedule.h"

namespace slackline::machine {

class BundleDelays {
 public:
  /// Schedule and platform must outlive this. The plan is valid for the schedule.
  BundleDelays(const DelayPlan& plan, const sched::Schedule& schedule, const Platform& platform);

  /// Whether the rank's bundles take longer than another's. If not, the others need not be asked.
  bool strike(sched::RankId rank) const;
  /// In seconds: how much longer than its lane delay says the lane is held for a send or put that
  /// is gathered. Below 0 where its copy takes less than its post would.
  double copied_s(sched::OpId op) const;
  /// In seconds: how much longer the post of a message or a bundle of the channel takes.
  double post_s(sched::ChannelId channel) const;
  /// How much longer all bundles can hold the rank's lanes at the most, in seconds.
  double most_s(sched::RankId rank) const;

 private:
  const sched::Schedule& schedule_;
  const Platform& platform_;
  Straggling straggling_;
};

}  // namespace slackline::machine
