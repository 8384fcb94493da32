#include "sched/export/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/error.h"
#include "sched/event_graph.h"

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

// What the file's readers must know. LogGOPSim's reader, and that of ATLAHS which came from it,
// lose the character behind blanks at the start of a line, so no line of the program begins with
// one.
constexpr std::string_view kHeader =
    "// GOAL, as LogGOPSim and ATLAHS read it: no line begins with a blank.\n"
    "// They give other times where an operation requires a send. In this schedule a send is over\n"
    "// once it is acknowledged; there, once it has left its sender's CPU, or, above the limit "
    "for\n"
    "// eager messages (-S), once it has met its recv. 'irequires' means the same to all: it has "
    "begun.\n";

// They keep a cpu in 8 bits.
constexpr std::uint16_t kMaxCpu = 255;

class Writer {
 public:
  explicit Writer(const Schedule& schedule)
      : schedule_(schedule), order_(channel_order(schedule)), tags_(message_tags(schedule)) {}

  std::string write() {
    out_ = kHeader;
    print("num_ranks {}\n", schedule_.rank_count());
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      print("\nrank {} {{\n", rank);
      const std::uint32_t first = schedule_.first_op(RankId(rank)).value;
      const std::uint32_t end = schedule_.end_op(RankId(rank)).value;
      for (std::uint32_t i = first; i != end; ++i) statement(OpId(i));
      for (std::uint32_t i = first; i != end; ++i) dependencies(OpId(i));
      out_ += "}\n";
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    append(out_, format, std::forward<Args>(args)...);
  }

  [[noreturn]] void refuse(OpId id, std::string_view why) const {
    throw Unsupported(fmt::format("goal: {} {}", describe(schedule_, id), why));
  }

  void statement(OpId id) {
    const Op& op = schedule_.op(id);
    if (op.lane > kMaxCpu) {
      refuse(id, fmt::format("is on lane {}; GOAL's cpus are 0 to {}", op.lane, kMaxCpu));
    }
    switch (op.kind) {
      case OpKind::kSend:
      case OpKind::kRecv:
        return message(id, op);
      case OpKind::kPut:
        if (op.notify == Notify::kImm) return message(id, op);
        refuse(id, "has no counterpart in GOAL; only puts with immediate have");
      case OpKind::kGet:
      case OpKind::kFetchAdd:
      case OpKind::kFetchAnd:
      case OpKind::kFetchOr:
      case OpKind::kFetchXor:
      case OpKind::kCompareSwap:
      case OpKind::kPoll:
        refuse(id, "has no counterpart in GOAL");
      case OpKind::kCopy:
      case OpKind::kReduce:
        print("// {} of {} bytes\n", name(op.kind), schedule_.payload_bytes(op));
        return calculation(id, op, 0);
      case OpKind::kCalc:
      case OpKind::kDelay: {
        // To the nearest, but never beyond what a time can hold.
        const std::int64_t ps = schedule_.arguments(op).duration.count();
        const bool up = ps % 1000 >= 500 && ps < kForever.count() - 1000;
        return calculation(id, op, static_cast<std::uint64_t>(ps / 1000 + (up ? 1 : 0)));
      }
      case OpKind::kFlush:
      case OpKind::kJoin:
        return calculation(id, op, 0);
    }
  }

  void message(OpId id, const Op& op) {
    if (!op.match.valid()) refuse(id, "has nothing that matches it");
    const bool receives = op.kind == OpKind::kRecv;
    // A receive may have room for more than what comes; GOAL wants both sizes equal.
    const std::uint64_t bytes = schedule_.bytes((receives ? schedule_.op(op.match) : op).reads);
    const Channel& channel = schedule_.channel(op.channel);
    print("op{}: {} {}b {} {} tag {}", id.value, receives ? "recv" : "send", bytes,
          receives ? "from" : "to", (receives ? channel.src : channel.dst).value, tags_[id.value]);
    cpu(op);
  }

  void calculation(OpId id, const Op& op, std::uint64_t nanoseconds) {
    print("op{}: calc {}", id.value, nanoseconds);
    cpu(op);
  }

  void cpu(const Op& op) {
    if (op.lane != 0) print(" cpu {}", op.lane);
    out_ += '\n';
  }

  void dependencies(OpId id) {
    const OpId previous = order_.previous[id.value];
    bool tied = !previous.valid() || schedule_.op(id).kind == OpKind::kRecv;
    for (const Edge& edge : schedule_.edges_into(id)) {
      tied = tied || edge.pred == previous;
      print("op{} {} op{}\n", id.value, edge.on == On::kDone ? "requires" : "irequires",
            edge.pred.value);
    }
    if (!tied) print("op{} irequires op{}\n", id.value, previous.value);
  }

  const Schedule& schedule_;
  ChannelOrder order_;
  std::vector<std::uint32_t> tags_;
  std::string out_;
};

}  // namespace

std::string write_goal(const Schedule& schedule) {
  require_static(schedule, "goal");
  return Writer(schedule).write();
}

}  // namespace slackline::sched
