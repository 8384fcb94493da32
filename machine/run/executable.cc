#include "machine/run/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "machine/meetings.h"
#include "machine/run/operands.h"
#include "machine/run/regions.h"
#include "sched/flags.h"

namespace slackline::machine {

using sched::Op;
using sched::OpId;
using sched::OpKind;

namespace {

void require_decided(const sched::Schedule& schedule, const sched::RegionTree& tree) {
  const auto deciding = deciding_swaps(schedule, tree);
  for (std::uint32_t i = 0; i < schedule.regions().size(); ++i) {
    const sched::Region& r = schedule.regions()[i];
    if (r.outcome != sched::RegionOutcome::kActual || r.kind == sched::RegionKind::kRepeat)
      continue;
    const bool alt = r.kind == sched::RegionKind::kAlt;
    const auto body = schedule.ops().subspan(r.entry.value, r.count);
    const bool decided = alt ? !deciding[i].empty()
                             : std::any_of(body.begin(), body.end(),
                                           [&](const Op& o) { return is_tested(schedule, o); });
    if (decided) continue;
    throw InputError(
        fmt::format("{} has an actual outcome, but nothing decides it; expected a "
                    "compare_swap or a test {}",
                    tree.describe(i), alt ? "outside with an edge into it" : "in it"));
  }
}

}  // namespace

std::size_t require_executable(const sched::Schedule& schedule) {
  const sched::RegionTree tree(schedule);
  const Meetings meetings(schedule, tree);
  require_decided(schedule, tree);
  bool has_replies = false;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    has_replies = has_replies || sched::has_reply(op.kind);
    const bool needs_match = sched::is_fifo_source(op) || op.kind == OpKind::kRecv ||
                             op.kind == OpKind::kPoll || op.notify == sched::Notify::kFlag;
    if (needs_match && !op.match.valid() && !meetings.holds(OpId(i))) {
      throw InputError(
          fmt::format("{} has no match; `check` lists what is wrong", describe(schedule, OpId(i))));
    }
    if (op.kind != OpKind::kPoll) continue;
    if (const auto fault = sched::flag_fault(schedule, OpId(i))) throw InputError(*fault);
  }
  return has_replies ? schedule.op_count() : 0;
}

std::size_t request_count(const sched::Schedule& schedule) {
  for (const Op& op : schedule.ops()) {
    if (sched::has_reply(op.kind)) return schedule.op_count();
  }
  return 0;
}

sched::Trace trace_of(const Setting& setting, std::string_view engine) {
  sched::Trace trace;
  trace.schedule = setting.schedule.digest();
  trace.platform = setting.platform.spec();
  trace.delays = setting.delays.text();
  trace.seed = setting.delays.seed;
  trace.engine = engine;
  return trace;
}

void require_finished(const sched::Schedule& schedule, const sched::Trace& trace,
                      const Paths& paths) {
  if (paths.may_fail()) return;
  for (std::uint32_t i = 0; i < trace.ops.size(); ++i) {
    if (!std::isfinite(trace.ops[i].done_s)) {
      const Op& op = schedule.ops()[i];
      const bool message = op.kind == OpKind::kSend || op.kind == OpKind::kPut;
      if (message && schedule.channel(op.channel).bundle != sched::Bundle::kNone &&
          std::isfinite(trace.ops[i].issued_s) && !std::isfinite(trace.ops[i].wire_s)) {
        throw InputError(fmt::format("{} never leaves the bundle of channel {}: expected a flush",
                                     describe(schedule, OpId(i)), op.channel.value));
      }
      throw InputError(
          fmt::format("{} never finishes: the schedule deadlocks; `check` names the cycle",
                      describe(schedule, OpId(i))));
    }
  }
}

}  // namespace slackline::machine
