#include "sched/workloads/tasks/task_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "sched/dissemination.h"
#include "sched/pattern/spec.h"
#include "sched/workloads/tasks/mark_barrier.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMostTasks = 1u << 28;
constexpr std::uint64_t kMostExpected = 1u << 24;  // of what room is asked for at once

const Spec& checked(const Spec& spec) {
  const TaskOptions& o = spec.own<TaskOptions>();
  if (spec.multicast.ranks == 0) throw InputError("ranks: 0; expected at least 1");
  if (o.tasks == 0) throw InputError("tasks: 0; expected at least 1 a core");
  if (std::uint64_t{spec.multicast.ranks} * o.tasks > kMostTasks) {
    throw InputError(fmt::format("tasks: {} at each of {} ranks; expected at most {} together",
                                 o.tasks, spec.multicast.ranks, kMostTasks));
  }
  check_record(o.record);
  if (o.resident != 0 && o.switch_miss < o.switch_cost) {
    throw InputError(fmt::format(
        "switch-miss: {} with resident={}; expected no less than switch, {}: a context that is not "
        "in the cache takes longer",
        format_time(o.switch_miss), o.resident, format_time(o.switch_cost)));
  }
  if (o.resident == 0 && o.switch_miss != Time{0}) {
    throw InputError(
        fmt::format("switch-miss: {} with resident=0, which is all contexts; expected 1 or more",
                    format_time(o.switch_miss)));
  }
  if (o.cores == 0) throw InputError("cores: 0; expected at least 1 a node");
  if (o.group < 2) throw InputError(fmt::format("group: {}; expected at least 2", o.group));
  if (o.aggregation != Aggregation::kNone && o.flush_bytes < o.record + 8) {
    throw InputError(fmt::format("flush: {} bytes; expected room for a request of {} and a mark",
                                 o.flush_bytes, o.record));
  }
  return spec;
}

}  // namespace

TaskProgram::TaskProgram(const Spec& spec, TaskPattern& pattern)
    : spec_(checked(spec)),
      options_(spec.own<TaskOptions>()),
      pattern_(pattern),
      ranks_(spec.multicast.ranks),
      tasks_(options_.tasks),
      hierarchy_(ranks_, options_.cores, options_.group),
      out_(ranks_),
      memory_(out_, ranks_),
      marks_(ranks_),
      cores_(ranks_),
      contexts_(ranks_, ContextCache(options_.resident, tasks_)),
      task_states_(std::size_t{ranks_} * tasks_),
      links_(ranks_ <= kFewRanks ? std::size_t{ranks_} * ranks_ : 0) {
  out_.set_title(format_spec(spec));
  out_.take_turns();
}

// The others that have arguments share them.
void TaskProgram::expect(std::uint64_t ops, std::uint64_t atomics) {
  out_.expect(ops, atomics + std::uint64_t{64} * ranks_);
  out_.reserve_flag_matches(std::min(ops / 3, kMostExpected));
}

Schedule TaskProgram::make() {
  for (TaskId task = 0; task < task_states_.size(); ++task) {
    push(rank_of(task), {What::kTask, task});
  }
  while (!events_.empty()) {
    const Event event = events_.pop();
    cost_ = 0;
    switch (event.what) {
      case What::kCore:
        step(event.id);
        break;
      case What::kTask:
        push(rank_of(event.id), {What::kTask, event.id});
        break;
      case What::kWrite:
        push(event.detail, {What::kWrite, event.id});
        break;
      case What::kFlush:
        if (queues_[event.id].generation == event.detail && queues_[event.id].filled != 0) {
          push(links_[event.id].src, {What::kFlush, event.id});
        }
        break;
      case What::kMessage:
        break;
    }
  }
  if (in_barrier_ != 0) throw InternalError("a planned barrier was never complete");
  pattern_.finish();
  memory_.finish();
  return out_.build();
}

void TaskProgram::at(When when, What what, std::uint32_t id, std::uint32_t detail) {
  events_.push(when, {what, id, detail});
}

void TaskProgram::push(std::uint32_t rank, Item item) {
  cores_[rank].queue.push_back(item);
  wake(rank);
}

void TaskProgram::wake(std::uint32_t rank) {
  Core& core = cores_[rank];
  if (core.awake || core.queue.empty()) return;
  core.awake = true;
  at(std::max(here(), core.free_at), What::kCore, rank);
}

void TaskProgram::step(std::uint32_t rank) {
  Core& core = cores_[rank];
  const Item item = core.queue.front();
  core.queue.pop_front();
  look_ahead(core.queue);
  switch (item.what) {
    case What::kTask:
      resume(item.id);
      break;
    case What::kWrite:
      take_in(item.id);
      break;
    case What::kMessage: {
      const Travelling here = messages_[item.id];
      deliver(item.id, here.message.record, here.after);
      break;
    }
    case What::kFlush:
      if (queues_[item.id].filled != 0) flush(item.id, true);
      break;
    case What::kCore:
      break;
  }
  core.awake = false;
  core.free_at = here();
  wake(rank);
}

void TaskProgram::resume(TaskId task) {
  const bool there = contexts_[rank_of(task)].use(task % tasks_);
  compute(task, there ? options_.switch_cost : options_.switch_miss);
  pattern_.run(task);
}

OpId TaskProgram::planned(OpId op, std::span<const OpId> after, When cost) {
  if (op.value >= kMaxOps) {
    throw InputError(fmt::format("more than {} operations; expected a smaller workload", kMaxOps));
  }
  out_.after(after, op);
  cost_ += cost;
  return op;
}

void TaskProgram::then(TaskId task, OpId op, When cost) {
  TaskState& state = task_states_[task];
  planned(op, state.after.all(), cost);
  state.after.set(op);
}

void TaskProgram::compute(TaskId task, Time time) {
  if (time > Time{0}) then(task, out_.calc(place(rank_of(task)), time), time.count());
}

void TaskProgram::local(TaskId task, OpKind kind, std::span<const Slice> reads,
                        const Slice& write) {
  then(task, out_.add(out_.op(kind, place(rank_of(task)), {}, reads, write)), copy_cost(write));
}

OpId TaskProgram::last_of(TaskId task) {
  const OpList& after = task_states_[task].after;
  if (after.all().size() > 1) then(task, out_.join(place(rank_of(task))));
  return after.all().empty() ? OpId::none() : after.all().front();
}

void TaskProgram::spawn(TaskId task, TaskWork work) {
  work.after = last_of(task);
  Core& core = cores_[rank_of(task)];
  core.pool.push_back(work);
  if (core.parked.empty()) return;
  const TaskId next = core.parked.back();
  core.parked.pop_back();
  push(rank_of(task), {What::kTask, next});
}

std::optional<TaskWork> TaskProgram::take_work(TaskId task) {
  Core& core = cores_[rank_of(task)];
  if (core.pool.empty()) return std::nullopt;
  const TaskWork work = core.pool.back();
  core.pool.pop_back();
  if (work.after.valid()) task_states_[task].after.add(work.after);
  return work;
}

void TaskProgram::idle(TaskId task) {
  Core& core = cores_[rank_of(task)];
  const bool thief = core.thief == kNoTask || core.thief == task;
  if (thief && ranks_ > 1 && pattern_.may_steal()) return steal(task);
  if (core.thief == task) core.thief = kNoTask;
  core.parked.push_back(task);
}

void TaskProgram::wake_idle(std::uint32_t rank) {
  for (const TaskId task : std::exchange(cores_[rank].parked, {})) {
    push(rank, {What::kTask, task});
  }
}

void TaskProgram::finish(TaskId task) { task_states_[task].after.clear(); }

void TaskProgram::delegate(TaskId task, std::uint32_t dst, std::uint32_t kind,
                           std::uint64_t argument, const Slice& record) {
  const std::uint32_t id = new_message({rank_of(task), dst, task, kind, argument, record});
  Travelling& made = messages_[id];
  made.slices = out_.add_slice(record, RankId(rank_of(task)));
  made.bytes = record.bytes;
  made.own_mark = true;
  send(rank_of(task), id, task_states_[task].after.all());
}

void TaskProgram::call(std::uint32_t rank, OpId after, const TaskMessage& message) {
  const std::uint32_t id = new_message(message);
  Travelling& made = messages_[id];
  made.slices = out_.add_slice(message.record, RankId(rank));
  made.bytes = message.record.bytes;
  made.own_mark = true;
  send(rank, id, {&after, 1});
}

void TaskProgram::wait_barrier(TaskId) {
  if (++in_barrier_ == task_states_.size()) release_barrier();
}

// Disseminates by writes.
void TaskProgram::release_barrier() {
  in_barrier_ = 0;
  const Dissemination way{ranks_};
  std::vector<OpId> through(ranks_);
  for (std::uint32_t c = 0; c < ranks_; ++c) {
    std::vector<OpId> came;
    for (TaskId t = c * tasks_; t < (c + 1) * tasks_; ++t) {
      const auto after = task_states_[t].after.all();
      came.insert(came.end(), after.begin(), after.end());
    }
    through[c] = planned(out_.join(place(c)), came);
  }
  through = write_mark_barrier(
      out_, memory_, step_, std::move(through),
      [&](std::uint32_t src, std::uint32_t dst) { return links_[link(src, dst)].channel; });
  cost_ = 0;  // of no core alone
  pattern_.passed_barrier();
  const When over = events_.now() + way.rounds() * (kPlanPost + kPlanLatency);
  for (TaskId t = 0; t < task_states_.size(); ++t) {
    task_states_[t].after.set(through[rank_of(t)]);
    at(over, What::kTask, t);
  }
}

OpId TaskProgram::handler(std::uint32_t rank, OpKind kind, std::span<const Slice> reads,
                          const Slice& write, std::initializer_list<OpId> after) {
  // What is changed in place is read first.
  const SliceRange from = out_.add_slices(reads, RankId(rank));
  const bool in_place = !reads.empty() && reads.front() == write;
  const SliceRange to = in_place ? SliceRange{from.first, 1} : out_.add_slice(write, RankId(rank));
  return planned(out_.add(out_.op(kind, place(rank), {}, from, to)), after, copy_cost(write));
}

OpId TaskProgram::busy(std::uint32_t rank, Time time, OpId after) {
  if (time <= Time{0}) return after;
  return planned(out_.calc(place(rank), time), {&after, 1}, time.count());
}

OpId TaskProgram::joined(std::uint32_t rank, std::initializer_list<OpId> after) {
  return planned(out_.join(place(rank)), after);
}

}  // namespace slackline::sched
