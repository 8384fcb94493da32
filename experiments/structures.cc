#include "experiments/structures.h"

#include <fmt/format.h>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "sched/operands.h"
#include "sched/program_writer.h"
#include "sched/workloads/structures/queue.h"
#include "sched/workloads/structures/structure_check.h"
#include "sched/workloads/structures/structure_workload.h"

namespace slackline::experiments {
namespace {

using sched::OpArguments;
using sched::Operand;
using sched::OpId;
using sched::OpKind;
using sched::RankId;

constexpr std::uint32_t kMostTries = 1u << 16;

class MessageSchedule {
 public:
  explicit MessageSchedule(const MessageLoad& load) : load_(load), builder_(load.ranks) {}

  sched::Schedule build() {
    for (std::uint32_t r = 0; r < load_.ranks; ++r) {
      const sched::BufferId words = builder_.add_buffer(RankId(r), 8ull * load_.words);
      builder_.add_pre({{words, 0, 8ull * load_.words}, sched::ValueId(0), 0});
      words_.push_back(words);
      own_.push_back(builder_.add_buffer(RankId(r), 8));
    }
    for (std::uint32_t r = 0; r < load_.ranks; ++r) {
      OpId last;
      for (std::uint32_t i = 0; i < load_.operations; ++i) {
        const OpId op = add(r, i);
        if (last.valid()) builder_.add_edge(last, op);
        last = op;
      }
    }
    return builder_.build();
  }

 private:
  OpId add(std::uint32_t rank, std::uint32_t i) {
    std::uint32_t target =
        static_cast<std::uint32_t>(sched::structure_draw(1, rank, i) >> 32) % (load_.ranks - 1);
    target += target >= rank ? 1 : 0;
    const std::uint64_t word = sched::structure_draw(2, rank, i) % load_.words;
    const sched::OpPlace at{RankId(rank), i};
    const sched::ChannelId on = builder_.channel(RankId(rank), RankId(target));
    const auto remote = builder_.add_slice({words_[target], 8 * word, 8});
    const auto own = builder_.add_slice({own_[rank], 0, 8});
    OpKind kind = OpKind::kCompareSwap;
    OpArguments arguments;
    switch (load_.component) {
      case MessageKind::kPut:
        return builder_.put(at, on, own, remote, sched::Notify::kNone);
      case MessageKind::kGet:
        return builder_.get(at, on, remote, own);
      case MessageKind::kFetchAdd:
        kind = OpKind::kFetchAdd;
        arguments.operand = sched::literal(1);
        break;
      case MessageKind::kSwap:  // whether it swaps or not
        break;
      case MessageKind::kPersistentSwap:
        // From what it saw last, at first 0, to one more.
        arguments.compare = {Operand::From::kResult, builder_.next_op(), 1};
        arguments.operand = {Operand::From::kResult, builder_.next_op(), 1, 1};
        break;
    }
    const OpId id = builder_.add(builder_.op(kind, at, on, remote, remote), arguments);
    if (load_.component == MessageKind::kPersistentSwap) builder_.retry(id, 1, kMostTries);
    return id;
  }

  const MessageLoad load_;
  sched::ProgramWriter builder_;
  std::vector<sched::BufferId> words_;
  std::vector<sched::BufferId> own_;
};

}  // namespace

machine::Platform cori(std::uint32_t ranks_per_node) {
  return machine::load_platform(fmt::format("cori:ranks_per_node={},zones_per_node={}",
                                            ranks_per_node, ranks_per_node > 1 ? 2 : 1));
}

Measured measure_structure(const std::string& text, const machine::Platform& platform) {
  const sched::Spec spec = sched::parse_spec(text);
  const sched::StructureProgram program = sched::structure_program(spec);
  // Messages that wait for a process are handled in the order in which they came.
  const sched::Trace trace =
      analysis::run_events({program.schedule, platform, {}, machine::IssuePolicy::kReady});
  const auto found =
      sched::check_structure(program, trace, sched::kept_memory(program.schedule, trace));
  if (!found.empty()) throw InternalError(text + ": " + found.front().message);
  double sum_s = 0;
  double attempts = 0;
  double waited_s = 0;
  std::uint32_t clients = 0;
  std::uint32_t waiters = 0;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const sched::StructureOp& op = program.ops[i];
    attempts += trace.ops[op.last.value].attempts;
    if (op.handler_first.valid()) {
      const std::uint32_t poll = op.handler_first.value;
      const double wait_s = trace.ops[poll + 1].issued_s - trace.ops[poll].done_s;
      waited_s += wait_s;
      waiters += wait_s > 0 ? 1 : 0;
    }
    if (i + 1 < program.ops.size() && program.ops[i + 1].rank == op.rank) continue;
    sum_s += trace.ops[op.last.value].done_s / (op.index + 1);
    ++clients;
  }
  return {sum_s / clients - sched::seconds(program.options.compute),
          attempts / static_cast<double>(program.ops.size()),
          waiters == 0 ? 0 : waited_s / waiters};
}

double message_s(const MessageLoad& load, const machine::Platform& platform) {
  const sched::Schedule schedule = MessageSchedule(load).build();
  const sched::Trace trace = analysis::run_events({schedule, platform});
  double sum_s = 0;
  for (std::uint32_t r = 0; r < load.ranks; ++r) {
    sum_s += trace.ops[schedule.end_op(RankId(r)).value - 1].done_s;
  }
  return sum_s / load.ranks / load.operations;
}

std::string processes(std::uint32_t ranks_per_node) {
  return ranks_per_node == 1 ? "one process on each node"
                             : fmt::format("{} processes on each node", ranks_per_node);
}

std::vector<Constant> structure_constants(std::uint32_t ranks_per_node) {
  return {
      {"machine", "preset cori",
       "stated (Aries), assumed, and o_post calibrated to the put of table I; in the preset"},
      {"processes", processes(ranks_per_node),
       ranks_per_node == 32 ? "stated" : "stated are 32; fewer, for --quick"},
      {"handler", kHandler, "assumed: a look-up in a local table that is in no cache"},
      {"elements", "one word: a key and a value of 32 bits each", "stated (32-bit keys)"},
      {"targets", "a random other process each time", "stated, but that it may be the own one"},
  };
}

}  // namespace slackline::experiments
