// What a run is of: a schedule on a machine, with what goes wrong there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "machine/delay_plan.h"
#include "machine/issue_policy.h"
#include "machine/lane_use.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::machine {

inline const DelayPlan kNoDelays;

/// Called now and then by the threads that make a run. It may throw, which ends the run: so
/// somebody who waits for a long run can give it up.
using RunWatch = std::function<void()>;

/// A view, cheap to copy. The schedule, the platform, the delays, the watch and what the order goes
/// by must outlive it and its copies; so must the wiring, unless the setting keeps it.
class Setting {
 public:
  Setting(const sched::Schedule& s, const Platform& p, const Wiring& w,
          const DelayPlan& d = kNoDelays, const IssueOrder& o = {})
      : schedule(s), platform(p), wiring(w), delays(d), order(o) {}
  /// Keeps the wiring.
  Setting(const sched::Schedule& s, const Platform& p, Wiring&& w, const DelayPlan& d = kNoDelays,
          const IssueOrder& o = {})
      : kept_(std::make_shared<const Wiring>(std::move(w))),
        schedule(s),
        platform(p),
        wiring(*kept_),
        delays(d),
        order(o) {}
  /// On the platform's own wiring, which it makes and keeps; throws what that does.
  Setting(const sched::Schedule& s, const Platform& p, const DelayPlan& d = kNoDelays,
          const IssueOrder& o = {})
      : Setting(s, p, Wiring(p, s.rank_count()), d, o) {}

  /// The same with other delays, which must outlive what comes of it.
  Setting with(const DelayPlan& others) const {
    return {kept_, schedule, platform, wiring, others, order, watch, {}};
  }
  Setting with(const IssueOrder& other) const {
    return {kept_, schedule, platform, wiring, delays, other, watch, {}};
  }
  /// The same, whose runs are watched; by nobody if that is null.
  Setting watched(const RunWatch* by) const {
    return {kept_, schedule, platform, wiring, delays, order, by, uses};
  }
  /// The same, of which one run adds up there what its lanes do: one entry for each lane of
  /// LaneIndex. Of the others above, and of many runs at once, nothing is added up. Where an engine
  /// would do without events, it goes by events.
  Setting adding_up(std::span<LaneUse> uses_of_lanes) const {
    return {kept_, schedule, platform, wiring, delays, order, watch, uses_of_lanes};
  }

 private:
  Setting(std::shared_ptr<const Wiring> kept, const sched::Schedule& s, const Platform& p,
          const Wiring& w, const DelayPlan& d, const IssueOrder& o, const RunWatch* by,
          std::span<LaneUse> u)
      : kept_(std::move(kept)),
        schedule(s),
        platform(p),
        wiring(w),
        delays(d),
        order(o),
        watch(by),
        uses(u) {}

  std::shared_ptr<const Wiring> kept_;

 public:
  const sched::Schedule& schedule;
  const Platform& platform;
  const Wiring& wiring;     // the platform's, for this schedule
  const DelayPlan& delays;  // with the seed of whatever is drawn
  const IssueOrder order;
  const RunWatch* const watch = nullptr;  // null: nobody watches
  const std::span<LaneUse> uses;          // empty: nobody asks
};

}  // namespace slackline::machine
