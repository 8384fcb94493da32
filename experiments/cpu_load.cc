#include "experiments/cpu_load.h"

#include <algorithm>
#include <utility>

namespace slackline::experiments {
namespace {

using sched::Op;
using sched::OpKind;
using Interval = std::pair<double, double>;

// The length of a union of intervals, cut off at `end_s`.
double covered_s(std::vector<Interval>& intervals, double end_s) {
  std::sort(intervals.begin(), intervals.end());
  double covered = 0;
  double now = 0;
  for (const auto& [begin, end] : intervals) {
    const double from = std::max(begin, now);
    const double to = std::min(end, end_s);
    if (to > from) {
      covered += to - from;
      now = to;
    }
  }
  return covered;
}

}  // namespace

machine::Platform with_interrupts(machine::Platform platform) {
  platform.poll_for = sched::Time{0};
  return platform;
}

std::vector<double> awake_shares(const sched::Schedule& schedule, const sched::Trace& trace,
                                 const machine::Platform& platform, std::span<const Work> more,
                                 double end_s) {
  const double post_s = sched::seconds(platform.o_post);
  const double awake_s = sched::seconds(platform.interrupt_cost + platform.o_complete);
  std::vector<double> shares;
  std::vector<Interval> busy;
  for (sched::RankId rank(0); rank.value < schedule.rank_count(); ++rank.value) {
    busy.clear();
    for (const Work& work : more) {
      if (work.rank == rank) busy.emplace_back(work.begin_s, work.end_s);
    }
    for (sched::OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
      const Op& op = schedule.op(id);
      const sched::OpTimes& times = trace.ops[id.value];
      if (op.kind == OpKind::kCopy) busy.emplace_back(times.issued_s, times.done_s);
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      busy.emplace_back(times.issued_s - post_s, times.issued_s);
      // Sends of ready messages ask for no completion.
      if (op.kind == OpKind::kRecv || schedule.payload_bytes(op) != 0) {
        busy.emplace_back(times.done_s - awake_s, times.done_s);
      }
    }
    shares.push_back(end_s > 0 ? covered_s(busy, end_s) / end_s : 0);
  }
  return shares;
}

}  // namespace slackline::experiments
