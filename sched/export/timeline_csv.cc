#include "sched/export/timeline_csv.h"

#include "base/append.h"
#include "sched/export/timeline.h"

namespace slackline::sched {

std::string write_csv_timeline(const Schedule& schedule, const Trace& trace) {
  require_same(schedule, trace);
  std::string out = "op,rank,kind,step,ready_s,issued_s,wire_s,done_s,cause,attempts\n";
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    const OpTimes& t = trace.ops[i];
    append(out, "{},{},{},{},{},{},{},{},", i, op.rank.value, name(op.kind), op.step, t.ready_s,
           t.issued_s, t.wire_s, t.done_s);
    if (t.cause.valid()) append(out, "{}", t.cause.value);
    append(out, ",{}\n", t.attempts);
  }
  return out;
}

}  // namespace slackline::sched
