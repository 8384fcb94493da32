// Gets and puts of the tasks of sched/workloads/tasks/task_program.h.
#include <vector>

#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {

// Transfers of a run all wait for what came before it, not for each other.
void TaskProgram::transfer(TaskId task, OpKind kind, std::uint32_t rank, const Slice& from,
                           const Slice& to) {
  TaskState& state = task_states_[task];
  if (state.begun.empty()) state.before = state.after;
  const std::uint32_t here_rank = rank_of(task);
  const OpKind moved = rank == here_rank ? OpKind::kCopy : kind;
  const ChannelId channel = rank == here_rank ? ChannelId() : link(here_rank, rank).channel;
  const OpId op = add(moved, here_rank, out_.add_slice(from), out_.add_slice(to), state.before,
                      Time{0}, channel);
  state.begun.push_back(op);
}

void TaskProgram::begin_get(TaskId task, std::uint32_t rank, const Slice& from, const Slice& to) {
  transfer(task, OpKind::kGet, rank, from, to);
}

void TaskProgram::begin_put(TaskId task, std::uint32_t rank, const Slice& from, const Slice& to) {
  transfer(task, OpKind::kPut, rank, from, to);
}

void TaskProgram::await(TaskId task) {
  TaskState& state = task_states_[task];
  if (!state.begun.empty()) state.after = std::move(state.begun);
  state.begun.clear();
  at(here() + 2 * kPlanLatency, What::kTask, task);
}

void TaskProgram::fetch_add(TaskId task, std::uint32_t rank, const Slice& word,
                            std::uint64_t operand) {
  OpArguments arguments;
  arguments.operand.from = Operand::From::kLiteral;
  arguments.operand.value = operand;
  const SliceRange at_word = out_.add_slice(word);
  const OpId op = add(OpKind::kFetchAdd, rank_of(task), at_word, at_word, task_states_[task].after,
                      Time{0}, link(rank_of(task), rank).channel, Notify::kNone, &arguments);
  task_states_[task].after.assign(1, op);
  await(task);
}

}  // namespace slackline::sched
