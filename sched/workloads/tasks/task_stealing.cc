// Work stealing of sched/workloads/tasks/task_program.h: who asks whom is drawn, what is found is
// planned.
#include <algorithm>
#include <vector>

#include "base/mix.h"
#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {
namespace {

constexpr std::size_t kMostStolen = 64;
constexpr std::int64_t kLeastRest = 1'000'000;  // picoseconds; doubles with each failure…
constexpr std::uint32_t kMostDoublings = 6;     // …so many times

}  // namespace

// One task of a core asks another core; after a failure it rests first.
void TaskProgram::steal(TaskId task) {
  const std::uint32_t rank = rank_of(task);
  Core& core = cores_[rank];
  core.thief = task;
  if (core.attempts > 0 && !core.rested) {
    core.rested = true;
    const Time rest{kLeastRest << std::min(core.attempts, kMostDoublings)};
    then(task, out_.delay(place(rank), rest));
    return at(here() + rest.count(), What::kTask, task);
  }
  core.rested = false;
  const std::uint64_t bits = draw(options_.seed, {1, rank, core.tries++});
  const std::uint32_t other = below(bits, ranks_ - 1);
  const std::uint32_t victim = other < rank ? other : other + 1;
  delegate(task, victim, kStealing, 0, memory_.mark(rank));
}

// The victim gives away the older half of what no task of its has begun. It keeps the last: two
// cores could else take it from each other for ever.
void TaskProgram::give_work(const TaskMessage& message, OpId after) {
  const std::uint32_t rank = message.dst;
  std::vector<TaskWork>& pool = cores_[rank].pool;
  const std::size_t count = std::min(pool.size() / 2, kMostStolen);
  std::vector<OpId> waits{busy(rank, spec_.handler, after)};
  std::vector<Slice> data;
  for (std::size_t i = 0; i < count; ++i) {
    waits.push_back(pool[i].after);
    data.push_back(pool[i].data);
  }
  const auto end = pool.begin() + static_cast<std::ptrdiff_t>(count);
  TaskMessage answer = message;
  answer.argument = parcels_.size();
  parcels_.emplace_back(pool.begin(), end);
  pool.erase(pool.begin(), end);
  reply(answer, data, waits);
}

void TaskProgram::receive_work(TaskId task, std::uint64_t parcel, OpId after) {
  Core& core = cores_[rank_of(task)];
  const std::vector<TaskWork> stolen = std::move(parcels_[parcel]);
  if (stolen.empty()) {
    ++core.attempts;
    return;
  }
  core.attempts = 0;
  core.thief = kNoTask;
  Slice at = task_states_[task].result;
  for (TaskWork work : stolen) {
    at.bytes = work.data.bytes;
    work.data = at;
    work.after = after;
    at.offset += at.bytes;
    core.pool.push_back(work);
  }
  for (std::size_t i = 1; i < stolen.size() && !core.parked.empty(); ++i) {
    const TaskId next = core.parked.back();
    core.parked.pop_back();
    push(rank_of(task), {What::kTask, next});
  }
}

}  // namespace slackline::sched
