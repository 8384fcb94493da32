#include <fmt/format.h>

#include <limits>

#include "sched/flags.h"
#include "sched/verify/access.h"
#include "sched/verify/checks.h"

namespace slackline::sched {
namespace {

// Saturates, so that a sum that does not fit is not taken for a small one.
std::uint64_t total(std::span<const Slice> slices) {
  std::uint64_t sum = 0;
  for (const Slice& slice : slices) {
    if (slice.bytes > std::numeric_limits<std::uint64_t>::max() - sum) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    sum += slice.bytes;
  }
  return sum;
}

class Matching {
 public:
  Matching(const Schedule& schedule, Findings& findings)
      : schedule_(schedule), findings_(findings) {}

  void check(OpId id) {
    const Op& op = schedule_.op(id);
    if (op.arguments != kNoArguments && !offset_fits(id, op)) return;
    switch (op.kind) {
      case OpKind::kSend:
        check_send(id, op);
        break;
      case OpKind::kRecv:
        if (!op.match.valid()) {
          findings_.error(
              Code::kFifo, id,
              fmt::format("{} has no message: channel {} from rank {} carries fewer messages than "
                          "it has receives",
                          who(id), op.channel.value, schedule_.channel(op.channel).src.value));
        }
        break;
      case OpKind::kPut:
        check_put(id, op);
        break;
      case OpKind::kGet:
      case OpKind::kCopy:
        check_both_sides(id, op);
        break;
      case OpKind::kPoll:
        check_poll(id, op);
        break;
      case OpKind::kReduce:
        check_reduce(id, op);
        break;
      default:
        if (is_atomic(op.kind)) check_atomic(id, op);
    }
  }

 private:
  std::string who(OpId id) const { return describe(schedule_, id); }
  std::uint64_t bytes(SliceRange range) const { return total(schedule_.slices(range)); }

  bool offset_fits(OpId id, const Op& op) {
    const std::uint64_t by = fixed_offset(schedule_, op);
    for (const Slice& slice : schedule_.slices(op.kind == OpKind::kPut ? op.writes : op.reads)) {
      const std::uint64_t room =
          schedule_.buffers()[slice.buffer.value].bytes - slice.bytes - slice.offset;
      if (by > room) {
        findings_.error(Code::kStructure, id,
                        fmt::format("{} adds {} to the address of {}, which leads {} bytes past "
                                    "the buffer's end",
                                    who(id), by, describe(schedule_, slice), by - room));
        return false;
      }
    }
    return true;
  }

  void missing_receive(OpId id, const Op& op) {
    findings_.error(
        Code::kFifo, id,
        fmt::format("{} has no receive: channel {} to rank {} carries more messages "
                    "than it has receives",
                    who(id), op.channel.value, schedule_.channel(op.channel).dst.value));
  }

  void check_send(OpId id, const Op& op) {
    const std::uint64_t sent = bytes(op.reads);
    if (schedule_.channel(op.channel).service == Service::kDatagram && sent > kDatagramBytes) {
      findings_.error(Code::kSize, id,
                      fmt::format("{} sends a datagram of {} bytes; expected at most {}", who(id),
                                  sent, kDatagramBytes));
    }
    if (!op.match.valid()) return missing_receive(id, op);
    const std::uint64_t taken = bytes(schedule_.op(op.match).writes);
    if (sent > taken) {
      findings_.error(Code::kTruncate, op.match,
                      fmt::format("{} takes {} bytes, but the message of {} has {}", who(op.match),
                                  taken, who(id), sent));
    } else if (sent < taken) {
      findings_.error(Code::kSize, op.match,
                      fmt::format("{} takes {} bytes, but the message of {} has only {}",
                                  who(op.match), taken, who(id), sent));
    }
  }

  void check_put(OpId id, const Op& op) {
    check_both_sides(id, op);
    if (op.notify == Notify::kNone) return;
    if (op.notify == Notify::kFlag) {
      if (!op.match.valid()) {
        findings_.error(Code::kFifo, id,
                        fmt::format("{} notifies by flag, but no poll waits for it", who(id)));
      }
      return;
    }
    if (!op.match.valid()) return missing_receive(id, op);
    // The payload of a put lands where the put says; its receive is but the notification.
    if (const std::uint64_t taken = bytes(schedule_.op(op.match).writes); taken != 0) {
      findings_.error(Code::kSize, op.match,
                      fmt::format("{} takes {} bytes, but {} brings it none: a put lands in the "
                                  "slices it names itself",
                                  who(op.match), taken, who(id)));
    }
  }

  void check_both_sides(OpId id, const Op& op) {
    const std::uint64_t from = bytes(op.reads);
    const std::uint64_t to = bytes(op.writes);
    if (from == to) return;
    findings_.error(
        Code::kSize, id,
        fmt::format("{} reads {} bytes and writes {}; expected as many", who(id), from, to));
  }

  void check_poll(OpId id, const Op& op) {
    if (!op.match.valid()) {
      findings_.error(Code::kFifo, id, fmt::format("{} waits for no put", who(id)));
      return;
    }
    if (const auto fault = flag_fault(schedule_, id)) findings_.error(Code::kFlag, id, *fault);
  }

  void check_reduce(OpId id, const Op& op) {
    const std::uint64_t result = bytes(op.writes);
    if (op.reads.count == 0) {
      findings_.error(Code::kSize, id, fmt::format("{} has no operands", who(id)));
    }
    for (const Slice& operand : schedule_.slices(op.reads)) {
      if (operand.bytes == result) continue;
      findings_.error(Code::kSize, id,
                      fmt::format("{} writes {} bytes, but its operand {} has {}", who(id), result,
                                  describe(schedule_, operand), operand.bytes));
      return;
    }
  }

  void check_atomic(OpId id, const Op& op) {
    for (const Slice& word : schedule_.slices(op.writes)) {
      if (word.bytes == 8) continue;
      findings_.error(
          Code::kSize, id,
          fmt::format("{} works on {}; expected 8 bytes", who(id), describe(schedule_, word)));
      return;
    }
    const Slice word = atomic_word(schedule_, op);
    if (word.offset % 8 == 0) return;
    findings_.error(Code::kStructure, id,
                    fmt::format("{} works on {}; expected a multiple of 8 as their beginning",
                                who(id), describe(schedule_, word)));
  }

  const Schedule& schedule_;
  Findings& findings_;
};

}  // namespace

void check_matching(const Schedule& schedule, Findings& findings) {
  Matching matching(schedule, findings);
  for (std::uint32_t i = 0; i < schedule.op_count() && !findings.full(); ++i) {
    matching.check(OpId(i));
  }
}

}  // namespace slackline::sched
