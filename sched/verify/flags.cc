#include "sched/flags.h"

#include "sched/verify/checks.h"

namespace slackline::sched {

std::vector<bool> check_shared_flags(const Schedule& schedule, const SegmentTable& segments,
                                     Findings& findings) {
  std::vector<bool> lowers;
  std::vector<OpId> latest;  // by segment: the poll so far that looks at it
  for (std::uint32_t i = 0; i < schedule.op_count() && !findings.full(); ++i) {
    const Op& op = schedule.ops()[i];
    if (op.kind != OpKind::kPoll) continue;
    if (latest.empty()) latest.resize(segments.size());
    const SegmentRun run = segments.read_run(op);
    OpId sharer;
    for (std::uint32_t segment = run.first; segment < run.last; ++segment) {
      if (latest[segment].valid()) sharer = latest[segment];
      latest[segment] = OpId(i);
    }
    if (!sharer.valid()) continue;
    if (lowers.empty()) lowers.resize(schedule.op_count(), false);
    lowers[sharer.value] = true;
    if (const auto fault = overlap_fault(schedule, sharer, OpId(i))) {
      findings.error(Code::kFlag, OpId(i), *fault);
    }
  }
  return lowers;
}

}  // namespace slackline::sched
