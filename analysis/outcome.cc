#include "analysis/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/enum_names.h"

namespace slackline::analysis {
namespace {

using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::RankId;

// Where an operation's bytes go when it is a message, and how many got there.
struct Delivery {
  RankId to;
  std::uint64_t bytes = 0;
  std::uint64_t arrived_bytes = 0;
};

// How often the operation came to its end: 0 times if it was passed over.
std::uint64_t times_done(const sched::Schedule& schedule, const sched::Trace& trace, OpId id) {
  const sched::OpTimes& times = trace.ops[id.value];
  if (std::isfinite(times.done_s)) return times.attempts;
  // Without regions an operation has its one attempt from the start.
  if (schedule.regions().empty()) return 0;
  return std::isfinite(times.ready_s) ? times.attempts - 1 : times.attempts;
}

Delivery delivery_of(const sched::Schedule& schedule, const sched::Trace& trace, OpId id) {
  const Op& op = schedule.op(id);
  if (!sched::is_initiator(op.kind)) return {};
  const sched::Channel& channel = schedule.channel(op.channel);
  const bool reply = sched::has_reply(op.kind);
  const std::uint64_t each = schedule.payload_bytes(op);
  const std::uint64_t arrived = times_done(schedule, trace, op.match.valid() ? op.match : id);
  // Of what runs several times, nobody knows what would have come after the attempt that failed.
  const bool is_done = std::isfinite(trace.ops[id.value].done_s);
  const std::uint64_t sent = times_done(schedule, trace, id) + (is_done ? 0 : 1);
  return {reply ? channel.src : channel.dst, sent * each, std::min(arrived, sent) * each};
}

// Every way on which a message is still missing at the rank has failed.
std::vector<bool> cut_off(const sched::Schedule& schedule, const machine::Paths& paths,
                          const sched::Trace& trace) {
  std::vector<bool> missing(schedule.rank_count(), false);
  std::vector<bool> open(schedule.rank_count(), false);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Delivery delivery = delivery_of(schedule, trace, OpId(i));
    if (delivery.arrived_bytes == delivery.bytes) continue;
    const Op& op = schedule.ops()[i];
    missing[delivery.to.value] = true;
    const auto path = paths.of(op.channel, sched::has_reply(op.kind));
    if (std::isinf(paths[path].cut_s)) open[delivery.to.value] = true;
  }
  for (std::size_t r = 0; r < missing.size(); ++r) missing[r] = missing[r] && !open[r];
  return missing;
}

}  // namespace

Outcome outcome_of(const sched::Schedule& schedule, const machine::Paths& paths,
                   const sched::Trace& trace) {
  Outcome outcome;
  outcome.ranks.resize(schedule.rank_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    RankOutcome& rank = outcome.ranks[schedule.ops()[i].rank.value];
    ++rank.ops;
    if (std::isfinite(trace.ops[i].done_s)) {
      ++rank.ops_done;
      rank.last_done_s = std::max(rank.last_done_s, trace.ops[i].done_s);
    } else if (!rank.stuck.valid()) {
      rank.stuck = OpId(i);
    }
    const Delivery delivery = delivery_of(schedule, trace, OpId(i));
    if (delivery.bytes == 0) continue;
    RankOutcome& receiver = outcome.ranks[delivery.to.value];
    receiver.expected_bytes += delivery.bytes;
    receiver.delivered_bytes += delivery.arrived_bytes;
  }
  const std::vector<bool> unreachable = cut_off(schedule, paths, trace);
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    RankOutcome& rank = outcome.ranks[r];
    outcome.last_done_s = std::max(outcome.last_done_s, rank.last_done_s);
    outcome.delivered_bytes += rank.delivered_bytes;
    outcome.expected_bytes += rank.expected_bytes;
    if (rank.ops_done == rank.ops) continue;
    outcome.complete = false;
    if (std::isfinite(paths.gone_s(RankId(r)))) {
      rank.fate = RankFate::kGone;
    } else {
      rank.fate = unreachable[r] ? RankFate::kCutOff : RankFate::kStranded;
    }
  }
  return outcome;
}

std::string_view name(RankFate fate) {
  constexpr base::EnumNames<RankFate, 4> kFates = {"complete", "gone", "cut off", "stranded"};
  return kFates[fate];
}

std::string why_stuck(const sched::Schedule& schedule, const machine::Paths& paths,
                      const sched::Trace& trace, OpId id) {
  const Op& op = schedule.op(id);
  const sched::OpTimes& times = trace.ops[id.value];
  const std::string what = describe(schedule, id);
  if (std::isfinite(paths.gone_s(op.rank))) {
    return fmt::format("{}: its host failed at {}", what,
                       sched::human_seconds(paths.gone_s(op.rank)));
  }
  if (!std::isfinite(times.issued_s)) {
    for (const sched::Edge& edge : schedule.edges_into(id)) {
      const sched::OpTimes& pred = trace.ops[edge.pred.value];
      if (!std::isfinite(edge.on == sched::On::kDone ? pred.done_s : pred.issued_s)) {
        return fmt::format("{}: it waits for {}", what, describe(schedule, edge.pred));
      }
    }
    return fmt::format("{}: it was never posted", what);
  }
  const bool awaits = op.kind == OpKind::kRecv || op.kind == OpKind::kPoll;
  // On channels with regions the schedule may not say whose it is.
  if (awaits && !op.match.valid()) return fmt::format("{}: its message never came", what);
  if (awaits) {
    const sched::OpTimes& source = trace.ops[op.match.value];
    return fmt::format("{}: its message, {}, {}", what, describe(schedule, op.match),
                       std::isfinite(source.wire_s) ? "was lost" : "was never sent");
  }
  if (!std::isfinite(times.wire_s)) return fmt::format("{}: its message never left", what);
  const bool arrived = op.match.valid() && std::isfinite(trace.ops[op.match.value].wire_s);
  return fmt::format("{}: its {} was lost", what,
                     arrived ? "acknowledgement" : "message or its acknowledgement");
}

}  // namespace slackline::analysis
