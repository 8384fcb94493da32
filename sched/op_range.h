// A run of operations that stand behind each other: those of a whole schedule, or of one rank.
#pragma once

#include <cstdint>

#include "sched/ids.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Within a range, an operation goes by its *place*, which is its id less the first one's.
struct OpRange {
  OpId first{0};
  std::uint32_t count = 0;

  static OpRange of_all(const Schedule& schedule) { return {OpId(0), schedule.op_count()}; }
  static OpRange of_rank(const Schedule& schedule, RankId rank) {
    return {schedule.first_op(rank), schedule.end_op(rank).value - schedule.first_op(rank).value};
  }

  OpId id(std::uint32_t place) const { return OpId(first.value + place); }
  std::uint32_t place(OpId id) const { return id.value - first.value; }
  bool holds(OpId id) const { return place(id) < count; }
};

}  // namespace slackline::sched
