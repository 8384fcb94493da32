#include "offload/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace slackline::offload {
namespace {

using sched::Notify;
using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::Schedule;

// Data segments that fit one 64-byte block beside the control segment, and the address of a write.
constexpr std::uint32_t kMaxSendPieces = 3;
constexpr std::uint32_t kMaxWritePieces = 2;

std::string_view reason_against(const Schedule& schedule, const Op& op) {
  switch (op.kind) {
    case OpKind::kJoin:
      return {};
    case OpKind::kSend:
    case OpKind::kRecv:
    case OpKind::kPut:
      break;
    case OpKind::kGet:
      return "a get has no completion at its target that a queue there could wait for";
    case OpKind::kFetchAdd:
    case OpKind::kFetchAnd:
    case OpKind::kFetchOr:
    case OpKind::kFetchXor:
    case OpKind::kCompareSwap:
      return "what follows depends on a result, and a queue cannot branch";
    case OpKind::kPoll:
      return "a queue waits for completions, not for memory";
    case OpKind::kCopy:
    case OpKind::kReduce:
      return "a queue moves bytes between ranks only; this needs a CPU";
    case OpKind::kCalc:
    case OpKind::kDelay:
      return "a queue does not compute or keep time";
    case OpKind::kFlush:
      return "a queue does not bundle";
  }
  if (!sched::is_acknowledged(schedule.channel(op.channel).service)) {
    return "its channel has no acknowledgements, and a queue would wait for them for ever";
  }
  if (op.kind == OpKind::kPut && op.notify != Notify::kImm) {
    return "without an immediate its target has no completion to wait for";
  }
  if (op.kind == OpKind::kSend && op.reads.count > kMaxSendPieces) {
    return "it gathers more than 3 pieces, which do not fit one work request block";
  }
  if (op.kind == OpKind::kPut && (op.reads.count > kMaxWritePieces || op.writes.count > 1)) {
    return "it has more than 2 pieces to gather or 1 to write, which do not fit one work request "
           "block";
  }
  if (op.kind == OpKind::kRecv && op.writes.count > kMaxSendPieces) {
    return "it scatters over more than 3 pieces";
  }
  return {};
}

[[noreturn]] void refuse(const Schedule& schedule, OpId op, std::string_view reason) {
  throw Unsupported(fmt::format("offload: {}: {}", describe(schedule, op), reason));
}

bool is_dropped(const Schedule& schedule, const Op& op, const std::vector<char>& is_credit) {
  if (sched::has_channel(op.kind)) return is_credit[op.channel.value] != 0;
  if (op.kind != OpKind::kPoll || !op.match.valid()) return false;
  return is_credit[schedule.op(op.match).channel.value] != 0;
}

// What is written, by whom; none() is the contract.
struct Written {
  std::uint32_t buffer;
  std::uint64_t begin;
  std::uint64_t end;
  OpId by;
};

void require_written_once(const Schedule& schedule, const std::vector<char>& is_credit) {
  std::vector<Written> all;
  for (const sched::Fact& fact : schedule.contract().pre) {
    all.push_back({fact.slice.buffer.value, fact.slice.offset, fact.slice.offset + fact.slice.bytes,
                   OpId::none()});
  }
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (op.kind == OpKind::kJoin || is_dropped(schedule, op, is_credit)) continue;
    for (const sched::Slice& slice : schedule.slices(op.writes)) {
      all.push_back({slice.buffer.value, slice.offset, slice.offset + slice.bytes, OpId(i)});
    }
  }
  std::erase_if(all, [](const Written& w) { return w.begin == w.end; });
  std::sort(all.begin(), all.end(), [](const Written& a, const Written& b) {
    return std::tie(a.buffer, a.begin, a.end, a.by) < std::tie(b.buffer, b.begin, b.end, b.by);
  });
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Written& a = all[i - 1];
    const Written& b = all[i];
    if (a.buffer != b.buffer || b.begin >= a.end) continue;
    if (!a.by.valid() && !b.by.valid()) {
      all[i].end = std::max(a.end, b.end);
      continue;
    }
    const OpId second = !a.by.valid() ? b.by : !b.by.valid() ? a.by : std::max(a.by, b.by);
    refuse(schedule, second,
           "it writes memory that holds something already, and receives posted at the start cannot "
           "be held back");
  }
}

}  // namespace

std::vector<char> credit_channels(const Schedule& schedule) {
  std::vector<char> is_credit(schedule.channels().size(), 0);
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    const sched::ChannelId on = schedule.channels()[c].credit_on;
    if (on.valid() && on.value != c) is_credit[on.value] = 1;
  }
  for (const Op& op : schedule.ops()) {
    if (!sched::has_channel(op.kind)) continue;
    const bool flag = op.kind == OpKind::kPut && op.notify == Notify::kFlag;
    const bool empty = (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) &&
                       schedule.bytes(op.reads) == 0 && schedule.bytes(op.writes) == 0;
    if (!flag && !empty) is_credit[op.channel.value] = 0;
  }
  return is_credit;
}

void require_offloadable(const Schedule& schedule, const std::vector<char>& is_credit) {
  require_static(schedule, "offload");
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (is_dropped(schedule, op, is_credit)) continue;
    const std::string_view reason = reason_against(schedule, op);
    if (!reason.empty()) refuse(schedule, OpId(i), reason);
    if (op.kind != OpKind::kJoin && !op.match.valid()) {
      throw InputError(
          fmt::format("offload: {} has no match; expected a schedule that check proves",
                      describe(schedule, OpId(i))));
    }
  }
  require_written_once(schedule, is_credit);
}

void require_in_range(const QueueOptions& options) {
  if (options.limits.queue_depth < 4 || options.limits.queue_depth > 1u << 15) {
    throw InputError(fmt::format("offload: a queue of {} entries; expected 4 … 32768",
                                 options.limits.queue_depth));
  }
  if (options.readiness == Readiness::kWindow && options.window == 0) {
    throw InputError("offload: a window of 0; expected at least 1");
  }
  if (options.mode == Mode::kRdmcMq && options.readiness != Readiness::kNone) {
    throw InputError(
        fmt::format("offload: rdmc-mq enables receives step by step; expected no readiness, not {}",
                    name(options.readiness)));
  }
}

}  // namespace slackline::offload
