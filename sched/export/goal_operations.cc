#include "sched/export/goal_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "sched/channel_numbers.h"

namespace slackline::sched {
namespace {

// The tag of every message, at both its operations.
std::vector<std::uint32_t> message_tags(const Schedule& schedule) {
  std::vector<std::uint32_t> tags(schedule.op_count(), 0);
  std::map<std::pair<RankId, RankId>, std::uint32_t> next;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (!is_fifo_source(op) || !op.match.valid()) continue;
    const Channel& channel = schedule.channel(op.channel);
    tags[i] = tags[op.match.value] = next[{channel.src, channel.dst}]++;
  }
  return tags;
}

// To the nearest, but never beyond what a time can hold.
std::uint64_t whole_ticks(Time duration, std::uint32_t ticks_per_ns) {
  const std::int64_t ps = duration.count();
  if (ticks_per_ns == 1) {
    const bool up = ps % 1000 >= 500 && ps < kForever.count() - 1000;
    return static_cast<std::uint64_t>(ps / 1000 + (up ? 1 : 0));
  }
  const auto ticks = (static_cast<unsigned __int128>(ps) * ticks_per_ns + 500) / 1000;
  return static_cast<std::uint64_t>(std::min<unsigned __int128>(ticks, kForever.count()));
}

}  // namespace

GoalOperations::GoalOperations(const Schedule& schedule, const GoalDialect& dialect)
    : schedule_(schedule), dialect_(dialect) {
  require_static(schedule, dialect.format);
  order_ = channel_order(schedule);
  tags_ = message_tags(schedule);
  if (dialect.nics > 1) numbers_ = channel_numbers(schedule);
}

void GoalOperations::refuse(OpId id, std::string_view why) const {
  throw Unsupported(fmt::format("{}: {} {}", dialect_.format, describe(schedule_, id), why));
}

GoalOperation GoalOperations::of(OpId id) const {
  const Op& op = schedule_.op(id);
  if (op.lane > dialect_.most_lane) {
    refuse(id, fmt::format("is on lane {}; {}'s cpus are 0 to {}", op.lane, dialect_.tool,
                           dialect_.most_lane));
  }
  GoalOperation out;
  out.cpu = static_cast<std::uint8_t>(op.lane);
  switch (op.kind) {
    case OpKind::kPut:
      if (op.notify != Notify::kImm) {
        refuse(id, fmt::format("has no counterpart in {}; only puts with immediate have",
                               dialect_.tool));
      }
      [[fallthrough]];
    case OpKind::kSend:
    case OpKind::kRecv: {
      if (!op.match.valid()) refuse(id, "has nothing that matches it");
      const bool receives = op.kind == OpKind::kRecv;
      const Channel& channel = schedule_.channel(op.channel);
      if (channel.src == channel.dst && !dialect_.takes_own) {
        refuse(id,
               fmt::format("is of a message to its own rank; {}'s go to others", dialect_.tool));
      }
      out.kind = receives ? OpKind::kRecv : OpKind::kSend;
      out.peer = (receives ? channel.src : channel.dst).value;
      out.tag = tags_[id.value];
      if (!numbers_.empty()) {
        out.nic = static_cast<std::uint8_t>(numbers_[op.channel.value] % dialect_.nics);
      }
      // A receive may have room for more than what comes; GOAL wants both sizes equal.
      out.amount = schedule_.bytes((receives ? schedule_.op(op.match) : op).reads);
      return out;
    }
    case OpKind::kGet:
    case OpKind::kFetchAdd:
    case OpKind::kFetchAnd:
    case OpKind::kFetchOr:
    case OpKind::kFetchXor:
    case OpKind::kCompareSwap:
    case OpKind::kPoll:
      refuse(id, fmt::format("has no counterpart in {}", dialect_.tool));
    case OpKind::kCalc:
    case OpKind::kDelay:
    case OpKind::kReduce:  // that counts; of others it is 0
      out.amount = whole_ticks(schedule_.arguments(op).duration, dialect_.ticks_per_ns);
      return out;
    case OpKind::kCopy:
    case OpKind::kFlush:
    case OpKind::kJoin:
      return out;
  }
  return out;
}

}  // namespace slackline::sched
