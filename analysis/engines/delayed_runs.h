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

#include "machine/plan_runs.h"
#include "machine/setting.h"
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
  /// Makes the run without any of the trials, on top of the setting's delays, of which it keeps a
  /// copy. Snapshots take up to about `memory_bytes`. Throws what run_flows() does, and InputError
  /// if the run never ends.
  explicit DelayedRuns(const machine::Setting& setting, Shortcut shortcut = Shortcut::kBeginAndEnd,
                       std::uint64_t memory_bytes = std::uint64_t{256} << 20);
  ~DelayedRuns();
  DelayedRuns(DelayedRuns&&) noexcept;

  /// The run without any trial.
  const sched::Trace& undelayed() const;
  const machine::Setting& setting() const;

  /// The makespan of each trial's run, in seconds; infinite where a failure keeps it from ending.
  /// `jobs` at a time, which changes no bit of the result. Throws InputError for an operation that
  /// does not exist, and what the runs throw.
  std::vector<double> makespans_s(std::span<const machine::OpDelay> trials, std::uint32_t jobs,
                                  const std::function<void(std::uint32_t)>& progress = {}) const;

  /// What `reading` keeps of each trial's run, which is that of run_flows() to the last bit but for
  /// causes and the `delays` that it names. Of `runs`, jobs and progress are read. Throws as
  /// makespans_s().
  std::vector<double> runs(std::span<const machine::OpDelay> trials, const machine::PlanRuns& runs,
                           const machine::TraceReading& reading) const;

 private:
  struct Contents;
  template <class Whole, class Begun>
  void for_each(std::span<const machine::OpDelay> trials, const machine::PlanRuns& runs,
                const Whole& whole, const Begun& begun) const;

  std::unique_ptr<const Contents> contents_;
};

}  // namespace slackline::analysis
