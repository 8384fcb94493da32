// What the delay of one operation alone really costs: a run of the flow engine for each, in which
// messages share links as they do then.
//
// Nothing differs from the run without the delay before the operation is ready. So a delayed run
// begins at the last snapshot of that run in which it is not. And once it stands where that run
// stood at the time, its end is known, too. Either changes no bit of the result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "analysis/slack/validate.h"
#include "machine/delay_plan.h"
#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// How a delayed run is made shorter than a run from its beginning to its end. Dynamic schedules
/// are always run whole.
enum class Shortcut : std::uint8_t {
  kNone,
  kBegin,        // it begins at a snapshot
  kBeginAndEnd,  // it also ends early
};

class DelayedRuns {
 public:
  /// Makes the run without any of the trials, on top of `plan`. Keeps references to all but the
  /// plan; `order.slack_s` must outlive this, too. Snapshots take up to about `memory_bytes`.
  /// Throws what run_flows() does, and InputError if the run never ends.
  DelayedRuns(const sched::Schedule& schedule, const machine::Platform& platform,
              const machine::Wiring& wiring, const machine::DelayPlan& plan,
              const machine::IssueOrder& order = {}, Shortcut shortcut = Shortcut::kBeginAndEnd,
              std::uint64_t memory_bytes = std::uint64_t{256} << 20);
  ~DelayedRuns();
  DelayedRuns(DelayedRuns&&) noexcept;

  /// The run without any trial.
  const sched::Trace& undelayed() const;
  const sched::Schedule& schedule() const;
  const machine::Platform& platform() const;

  /// The makespan of each trial's run, in seconds; infinite where a failure keeps it from ending.
  /// `jobs` at a time, which changes no bit of the result. Throws InputError for an operation that
  /// does not exist, and what the runs throw.
  std::vector<double> makespans_s(std::span<const Trial> trials, std::uint32_t jobs,
                                  const std::function<void(std::uint32_t)>& progress = {}) const;

 private:
  struct Contents;
  std::unique_ptr<const Contents> contents_;
};

/// A delay of the operation as validation makes it: of its lane, if it takes lane time.
Trial trial_of(const sched::Schedule& schedule, const machine::Platform& platform, sched::OpId op,
               sched::Time by);
/// The same for every operation, in order.
std::vector<Trial> trials_of_all(const sched::Schedule& schedule, const machine::Platform& platform,
                                 sched::Time by);

}  // namespace slackline::analysis
