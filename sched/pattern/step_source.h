// A pattern's transfers, one step at a time: for those who need each only once and never all of
// them in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sched/ids.h"
#include "sched/plan.h"

namespace slackline::sched {

/// A transfer of the step at hand.
struct Hop {
  RankId src;
  RankId dst;
  std::uint32_t block = 0;
  /// Numbers the channels of a source: the same destination, the same number, below
  /// StepSource::channels().
  std::uint32_t channel = 0;
  std::uint8_t later = 0;  // hops after this one that have its channel: 0, 1, or 2 for more
};

/// In each step every rank sends at most one block and receives at most one, as in every pattern.
class StepSource {
 public:
  virtual ~StepSource() = default;

  /// Fills `hops` with the next step's transfers, ordered by source, destination and block as in a
  /// Plan; some steps have none. False after the last.
  virtual bool next(std::vector<Hop>& hops) = 0;
  /// Back to the first step.
  virtual void restart() = 0;

  virtual std::uint32_t steps() const = 0;
  /// How many channels a source has at most.
  virtual std::uint32_t channels() const = 0;
  /// Every channel is used for the first time before this step.
  virtual std::uint32_t first_uses_before() const = 0;
  /// How many blocks reach the rank, counting one twice that comes twice.
  virtual std::uint32_t receives_of(RankId rank) const = 0;
  /// No rank sends a block that it received more than so many blocks before its latest.
  virtual std::uint32_t blocks_kept() const = 0;
  /// Plan::relay_whole_message.
  virtual bool relays_whole_message() const = 0;
};

/// The steps of a Plan, which it keeps.
std::unique_ptr<StepSource> steps_of(Plan plan);

}  // namespace slackline::sched
