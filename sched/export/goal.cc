#include "sched/export/goal.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/append.h"
#include "sched/export/goal_operations.h"

namespace slackline::sched {
namespace {

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

class Writer {
 public:
  Writer(const Schedule& schedule, std::uint32_t nics)
      : schedule_(schedule), operations_(schedule, {"goal", "GOAL", 1, 255, nics}) {}

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

  void statement(OpId id) {
    const GoalOperation operation = operations_.of(id);
    const Op& op = schedule_.op(id);
    if (op.kind == OpKind::kCopy || op.kind == OpKind::kReduce) {
      print("// {} of {} bytes\n", name(op.kind), schedule_.payload_bytes(op));
    }
    if (operation.kind == OpKind::kCalc) {
      print("op{}: calc {}", id.value, operation.amount);
    } else {
      print("op{}: {} {}b {} {} tag {}", id.value, name(operation.kind), operation.amount,
            operation.kind == OpKind::kRecv ? "from" : "to", operation.peer, operation.tag);
    }
    if (operation.cpu != 0) print(" cpu {}", operation.cpu);
    if (operation.nic != 0) print(" nic {}", operation.nic);
    out_ += '\n';
  }

  void dependencies(OpId id) {
    operations_.for_each_required(id, [&](OpId pred, On on) {
      print("op{} {} op{}\n", id.value, on == On::kDone ? "requires" : "irequires", pred.value);
    });
  }

  const Schedule& schedule_;
  GoalOperations operations_;
  std::string out_;
};

}  // namespace

std::string write_goal(const Schedule& schedule) { return write_goal_on_nics(schedule, 1); }

std::string write_goal_on_nics(const Schedule& schedule, std::uint32_t nics) {
  return Writer(schedule, nics).write();
}

}  // namespace slackline::sched
