#include "sched/trace.h"

#include <algorithm>

namespace slackline::sched {

double Trace::makespan_s() const {
  double end = 0;
  for (const OpTimes& times : ops) end = std::max(end, times.done_s);
  return end;
}

Digest digest_of(const Trace& trace) {
  DigestWriter out;
  out.add_text("slackline trace");
  out.add_u64(trace.schedule.high);
  out.add_u64(trace.schedule.low);
  out.add_text(trace.platform);
  out.add_text(trace.delays);
  out.add_text(trace.engine);
  out.add_u64(trace.seed);
  out.add_u8(trace.contended ? 1 : 0);
  out.add_u64(trace.ops.size());
  for (const OpTimes& times : trace.ops) {
    out.add_double(times.ready_s);
    out.add_double(times.issued_s);
    out.add_double(times.wire_s);
    out.add_double(times.done_s);
    out.add_u32(times.attempts);
    out.add_u32(times.cause.value);
  }
  for (const double time_s : trace.request_s) out.add_double(time_s);
  for (const std::uint64_t result : trace.results) out.add_u64(result);
  return out.finish();
}

}  // namespace slackline::sched
