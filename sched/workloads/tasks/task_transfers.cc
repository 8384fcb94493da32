// Gets and puts of the tasks of sched/workloads/tasks/task_program.h.

#include <utility>

#include "sched/operands.h"
#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {

// Transfers of a run all wait for what came before it, not for each other.
void TaskProgram::transfer(TaskId task, OpKind kind, std::uint32_t rank, const Slice& from,
                           const Slice& to) {
  if (transfers_.empty()) transfers_.resize(task_states_.size());
  Transfers& own = transfers_[task];
  if (own.begun.empty()) {
    const auto after = task_states_[task].after.all();
    own.before.assign(after.begin(), after.end());
  }
  const std::uint32_t here_rank = rank_of(task);
  const bool local = rank == here_rank;
  const ChannelId channel = local ? ChannelId() : links_[link(here_rank, rank)].channel;
  const Op op = out_.op(local ? OpKind::kCopy : kind, place(here_rank), channel, from, to);
  own.begun.push_back(planned(out_.add(op), own.before, local ? 0 : kPlanPost));
}

void TaskProgram::begin_get(TaskId task, std::uint32_t rank, const Slice& from, const Slice& to) {
  transfer(task, OpKind::kGet, rank, from, to);
}

void TaskProgram::begin_put(TaskId task, std::uint32_t rank, const Slice& from, const Slice& to) {
  transfer(task, OpKind::kPut, rank, from, to);
}

void TaskProgram::await(TaskId task) {
  if (!transfers_.empty() && !transfers_[task].begun.empty()) {
    task_states_[task].after.set(std::exchange(transfers_[task].begun, {}));
  }
  at(here() + 2 * kPlanLatency, What::kTask, task);
}

void TaskProgram::fetch_add(TaskId task, std::uint32_t rank, const Slice& word,
                            std::uint64_t operand) {
  OpArguments arguments;
  arguments.operand = literal(operand);
  const SliceRange at_word = out_.add_slice(word, RankId(rank_of(task)));
  const ChannelId channel = links_[link(rank_of(task), rank)].channel;
  const Op op = out_.op(OpKind::kFetchAdd, place(rank_of(task)), channel, at_word, at_word);
  then(task, out_.add(op, arguments), kPlanPost);
  await(task);
}

}  // namespace slackline::sched
