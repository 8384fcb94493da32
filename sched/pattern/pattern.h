// Patterns by name. A pattern is one function from its options to a Plan, or to a Schedule where
// blocks and steps do not say what it does; in a file pair of its own, with the list of the options
// that a spec may name, registered by one line in sched/patterns.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/pattern/option.h"
#include "sched/pattern/spec.h"
#include "sched/pattern/step_source.h"
#include "sched/plan.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// More transfers than this are refused: two operations each make 2^31.
inline constexpr std::uint64_t kMaxTransfers = 1ull << 30;

/// The steps are as published or as derived in the pattern's own header; k stands for blocks, n for
/// ranks. One rank alone has no steps. In every pattern
///  - a transfer's block reached its source at an earlier step, or the source is the root;
///  - every other rank receives every block exactly once, unless Plan::delivers_twice;
///  - a rank sends at most one block and receives at most one per step;
///  - the last transfer is in the last step.
/// Throws InputError for options out of their range, and above kMaxTransfers.
using MulticastPattern = Plan (*)(const MulticastOptions&);

/// Writes the schedule of a series of messages, or of one, by itself.
using SchedulePattern = Schedule (*)(const Spec&);

/// How often a pattern's bytes cross the busiest link, whatever the algorithm: what bus bandwidth
/// counts (analysis/advice/bus_bandwidth.h).
enum class BusUse : std::uint8_t {
  kNone,          // no such figure
  kOnce,          // a multicast, a reduce
  kAllToAll,      // what each has goes to all others: (n − 1) / n of what all have
  kThereAndBack,  // twice as much
};

struct PatternEntry {
  std::string_view name;
  std::string_view summary;         // one line, for `list patterns`
  std::span<const Option> options;  // that a spec may name, in the order in which it is written
  MulticastPattern plan = nullptr;  // either this…
  /// The same transfers step by step, in memory for the ranks alone; null if there is no such form.
  /// Not bounded by kMaxTransfers.
  std::unique_ptr<StepSource> (*make_steps)(const MulticastOptions&) = nullptr;
  SchedulePattern schedule = nullptr;                // …or this
  std::uint64_t (*op_count)(const Spec&) = nullptr;  // of `schedule`, about; never less
  /// What `schedule` takes for each of op_count, proved and written as text, in bytes: measured,
  /// and the less, the more op_count is above what is made.
  std::uint32_t op_memory = 200;
  bool multicast = plan != nullptr;  // brings every message to every rank
  bool one_message = false;  // `schedule` makes one; a series is composed of as many schedules
  BusUse bus = plan != nullptr ? BusUse::kOnce : BusUse::kNone;

  /// Nothing if it does not take such an option.
  const Option* find_option(std::string_view key) const;
};

/// The entry of a pattern that writes a schedule itself.
constexpr PatternEntry schedule_entry(std::string_view name, std::string_view summary,
                                      std::span<const Option> options, SchedulePattern schedule,
                                      std::uint64_t (*op_count)(const Spec&),
                                      std::uint32_t op_memory = 200) {
  return {name, summary, options, nullptr, nullptr, schedule, op_count, op_memory};
}

/// Every pattern, in the order `list patterns` shows them: those with a Plan come first. The list
/// is sched/patterns.cc's, which knows workloads too.
std::span<const PatternEntry> patterns();
/// Those with a Plan.
std::span<const PatternEntry> plan_patterns();

/// Nothing if there is no such pattern.
const PatternEntry* find_pattern(std::string_view name);
/// Nothing if there is no such pattern with a Plan.
const PatternEntry* find_plan_pattern(std::string_view name);
/// Throws InputError, with what there is, if there is no such pattern.
const PatternEntry& pattern_named(std::string_view name);

/// The pattern's steps: in their own form, or else from its Plan. Throws InputError as either does.
std::unique_ptr<StepSource> steps_of(const PatternEntry& pattern, const MulticastOptions& options);

/// Throws InputError for options out of their range.
void check(const MulticastOptions& options);

/// A Plan with everything but root, transfers and steps filled in from the options. Checks them,
/// before anything large is allocated: throws InputError.
Plan empty_plan(const MulticastOptions& options);

/// Patterns are written for root 0. Renames the ranks of such a plan by rank 0 ↔ options.root, so
/// that block flow is the same with two names exchanged, and restores the order of the transfers.
/// Takes time linear in the transfers where a rank sends at most one block per step.
Plan with_root(Plan plan, RankId root);

/// ⌊log2 value⌋ and ⌈log2 value⌉ for value ≥ 1.
std::uint32_t floor_log2(std::uint32_t value);
std::uint32_t ceil_log2(std::uint32_t value);

}  // namespace slackline::sched
