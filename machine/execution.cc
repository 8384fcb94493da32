#include "machine/execution.h"

#include <fmt/format.h>

#include "sched/error.h"

namespace slackline::machine {

using sched::Op;
using sched::OpId;
using sched::OpKind;

void require_executable(const sched::Schedule& schedule, std::string_view engine) {
  sched::require_static(schedule, engine);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    const bool needs_match = sched::is_fifo_source(op) || op.kind == OpKind::kRecv ||
                             op.kind == OpKind::kPoll || op.notify == sched::Notify::kFlag;
    if (sched::is_atomic(op.kind) &&
        schedule.arguments(op).address_offset.from != sched::Operand::From::kAbsent) {
      throw Unsupported(
          fmt::format("{} cannot run {}: which word it acts on is only known in a run", engine,
                      describe(schedule, OpId(i))));
    }
    if (needs_match && !op.match.valid()) {
      throw InputError(
          fmt::format("{} has no match; `check` lists what is wrong", describe(schedule, OpId(i))));
    }
  }
}

std::size_t request_count(const sched::Schedule& schedule) {
  for (const Op& op : schedule.ops()) {
    if (sched::has_reply(op.kind)) return schedule.op_count();
  }
  return 0;
}

void require_finished(const sched::Schedule& schedule, const sched::Trace& trace,
                      const Paths& paths) {
  if (paths.may_fail()) return;
  for (std::uint32_t i = 0; i < trace.ops.size(); ++i) {
    if (!std::isfinite(trace.ops[i].done_s)) {
      throw InputError(
          fmt::format("{} never finishes: the schedule deadlocks; `check` names the cycle",
                      describe(schedule, OpId(i))));
    }
  }
}

LaneIndex::LaneIndex(const sched::Schedule& schedule) : count(schedule.rank_count()) {
  bool several = false;
  for (const Op& op : schedule.ops()) several = several || op.lane != 0;
  if (!several) return;
  of_op.resize(schedule.op_count());
  count = 0;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    std::map<std::uint16_t, std::uint32_t> lanes;
    const std::uint32_t end = schedule.end_op(sched::RankId(r)).value;
    for (std::uint32_t i = schedule.first_op(sched::RankId(r)).value; i < end; ++i) {
      const auto [it, fresh] = lanes.try_emplace(schedule.ops()[i].lane, count);
      if (fresh) ++count;
      of_op[i] = it->second;
    }
  }
}

}  // namespace slackline::machine
