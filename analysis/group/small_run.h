// Small messages of a group that follow one another, as a schedule: the root copies each into a
// slot and writes it to every member; members take it out of theirs, and write the root a count of
// what they have taken, for each half ring. hw/group/small_messages.h does the same on a machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/group/small_shape.h"
#include "sched/schedule.h"

namespace slackline::analysis {

/// Operations of one kind, by member; the root is member 0.
using OpsByMember = std::vector<std::vector<sched::OpId>>;

struct SmallRun {
  sched::Schedule schedule;
  /// By message of the run: the root copies it into its slot (or waits for that slot, if there is
  /// nothing to copy). The writes follow, one for each other member, in their order.
  std::vector<sched::OpId> into_slot;
  /// By message: the member takes it out of its slot. The root has none.
  OpsByMember taken;
  /// The member writes its count. Count r of the group, from 0 on, stands for
  /// (r + 1) · messages_per_count() messages.
  OpsByMember counts;
  /// Likewise: the root sees it; none() where no message of the group waits for that.
  OpsByMember seen;
  /// The first count that members write in this run.
  std::uint64_t first_count = 0;
};

/// Where a run stands among the small messages of its group.
struct SmallPlace {
  std::uint64_t first = 0;  // how many there are before it
  std::uint64_t total = 0;  // of the group
};

/// A message waits for what stood in its slot before: the root's writes from there are complete,
/// and all members have taken it and said so. Of that, `schedule` has what is within the run; what
/// a run before has is for compose() to add. A member has one count on its way at a time.
SmallRun small_run(std::uint32_t members, const machine::SmallShape& shape,
                   std::span<const std::uint64_t> bytes, const SmallPlace& place);

/// The count that the root must have seen of every member before the message: of the group's small
/// messages the k-th, k ≥ slots.
inline std::uint64_t count_before(const machine::SmallShape& shape, std::uint64_t k) {
  return (k - shape.slots) / shape.messages_per_count();
}

}  // namespace slackline::analysis
