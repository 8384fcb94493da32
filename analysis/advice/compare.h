// Two runs of one schedule held against each other: simulated against executed, or any other two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Absolute values. The median is the middle one, or the mean of the middle two; p90 is the least
/// that at least so many do not exceed. All 0 over none.
struct AbsoluteSpread {
  std::uint64_t count = 0;
  double median_s = 0, p90_s = 0, max_s = 0;
};

/// Pairs of operations of one rank whose events follow one another directly in either run, and not
/// in one instant in any. Each pair counts once.
struct OrderAgreement {
  std::uint64_t pairs = 0;
  std::uint64_t same = 0;  // that stand in the same order in both
};

/// second ≈ offset + scale · first, over the times of done. Robust: see compare().
struct TimeMap {
  double scale = 1;
  double offset_s = 0;
  AbsoluteSpread rest;  // what of second it does not explain

  double of(double first_s) const { return offset_s + scale * first_s; }
};

struct RankComparison {
  double first_s = 0;  // its last done; infinite if one never happened
  double second_s = 0;
  /// The median over its operations of what the map leaves: above 0 if it was later in the second
  /// run than the others were. Nothing without a map or operations.
  std::optional<double> late_s;
};

struct KindComparison {
  sched::OpKind kind = sched::OpKind::kSend;
  std::uint64_t ops = 0;
  AbsoluteSpread done;      // of the differences of done, over what was done in both…
  AbsoluteSpread duration;  // …and of done less issued
};

struct OpComparison {
  sched::OpId op;
  double first_s = 0;  // done
  double second_s = 0;
  double difference_s() const { return second_s - first_s; }
};

struct Comparison {
  double first_s = 0;  // makespan; infinite if an operation never happened
  double second_s = 0;
  std::optional<TimeMap> map;  // nothing if fewer than two times differ
  std::vector<RankComparison> ranks;
  std::vector<KindComparison> kinds;  // those that there are, in the order of OpKind
  // What was passed over was not done there.
  std::vector<OpComparison> ops;        // done in both, those that differ most first
  std::vector<sched::OpId> only_first;  // never done in the second, in the order of their ids
  std::vector<sched::OpId> only_second;
  std::vector<sched::OpId> neither;
  OrderAgreement issue_order;
  OrderAgreement done_order;
};

/// The map is Theil's incomplete one: of n operations in the order of their first done, the median
/// of the slopes between the k-th and the (k + n/2)-th, then the median of what is left. A quarter
/// of the operations may be anywhere without moving it far. O(n log n), and the same two traces
/// give the same answer. Throws InputError unless both are of this schedule.
Comparison compare(const sched::Schedule& schedule, const sched::Trace& first,
                   const sched::Trace& second);

}  // namespace slackline::analysis
