#include "analysis/slack/wire_times.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/completions.h"

namespace slackline::analysis {
namespace {

using sched::has_reply;
using sched::Op;
using sched::OpId;

// How long a message takes that begins then and shares with nobody.
double wire_time_s(const machine::Paths& paths, machine::PathId path, double begin_s,
                   std::uint64_t bytes) {
  return paths[path].change_count == 0 ? paths.alone_s(path, bytes)
                                       : paths.sent_s(begin_s, path, bytes) - begin_s;
}

// The same as the run had it, from what became of the message.
double wire_time_in_run_s(const machine::Setting& setting, const machine::Paths& paths,
                          const sched::Trace& trace, OpId id) {
  const sched::Schedule& schedule = setting.schedule;
  const Op& op = schedule.op(id);
  const sched::OpTimes& times = trace.ops[id.value];
  const double latency_s = paths[paths.of(op.channel, false)].latency_s;
  const double back_s = paths[paths.of(op.channel, true)].latency_s;
  const double complete_s = sched::seconds(setting.platform.o_complete);
  const bool is_told = op.match.valid() && !has_reply(op.kind);
  if (!is_told && machine::completions_cost(setting.platform)) {
    throw Unsupported(fmt::format(
        "the run does not tell how long {} was on the wire, as its completion may have waited to "
        "be seen: expected a platform without {}",
        describe(schedule, id), machine::completion_figure(setting.platform)));
  }
  double end_s = 0;
  if (has_reply(op.kind)) {
    end_s = times.done_s - complete_s - back_s;
  } else if (op.match.valid()) {
    end_s = trace.ops[op.match.value].wire_s - latency_s;
  } else if (!sched::is_acknowledged(schedule.channel(op.channel).service)) {
    end_s = times.done_s - complete_s;
  } else {
    end_s = times.done_s - complete_s - back_s - latency_s;
  }
  return std::max(0.0, end_s - times.wire_s);
}

}  // namespace

std::vector<double> wire_times_s(const machine::Setting& setting, const machine::Paths& paths,
                                 const sched::Trace& trace, WireTimes wire) {
  const sched::Schedule& schedule = setting.schedule;
  std::vector<double> wire_s(schedule.op_count(), 0);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    const std::uint64_t bytes = sched::is_initiator(op.kind) ? schedule.payload_bytes(op) : 0;
    if (bytes == 0) continue;
    wire_s[i] = wire == WireTimes::kModel
                    ? wire_time_s(paths, paths.of(op.channel, has_reply(op.kind)),
                                  trace.ops[i].wire_s, bytes)
                    : wire_time_in_run_s(setting, paths, trace, OpId(i));
  }
  return wire_s;
}

}  // namespace slackline::analysis
