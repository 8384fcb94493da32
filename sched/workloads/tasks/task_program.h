// Programs of many tasks a core, as Grappa runs them: what its run-time system would decide as it
// goes is decided by a planning run, and what was decided is written down as operations.
//
// The planning run is a deterministic simulation in unit costs (kPlan…), with one queue of things
// to do for every core, first come, first served: tasks to resume, messages to take in, queues to
// send. Operations are written in the order in which they are planned, and each waits for the
// operations that it needs, never for a time; so the planned run itself shows that there is no
// cycle, and any engine may run them at its own pace. Planned are, and hence the same in every run:
// which task does what, the order of messages between two ranks, the order of handlers on one word,
// which messages travel in one aggregate, and who steals what from whom.
//
// A rank is a core; all its operations are on lane 0. Messages are one-sided writes with a mark
// behind them that the receiver polls for, each to a place of its own. A handler runs whole: it is
// ordered, by edges, after the handler before it on the same word.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_index.h"
#include "base/mix.h"
#include "sched/pattern/pattern.h"
#include "sched/program_writer.h"
#include "sched/workloads/tasks/context_cache.h"
#include "sched/workloads/tasks/end_points.h"
#include "sched/workloads/tasks/op_list.h"
#include "sched/workloads/tasks/plan_queue.h"
#include "sched/workloads/tasks/task_memory.h"
#include "sched/workloads/tasks/task_options.h"

namespace slackline::sched {

/// What the planning run takes things to cost, in picoseconds, beside the options' own times.
inline constexpr std::int64_t kPlanPost = 200'000;
inline constexpr std::int64_t kPlanLatency = 1'000'000;
inline constexpr std::int64_t kPlanCopiedByte = 125;

/// A task: rank · tasks + its number at its core.
using TaskId = std::uint32_t;

/// A message that is at its end, with its record there.
struct TaskMessage {
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  TaskId task = 0;  // whose it is, for reply()
  std::uint32_t kind = 0;
  std::uint64_t argument = 0;  // the pattern's own
  Slice record;
};

/// The most operations that one message makes of itself, from its sender to its end.
std::uint64_t message_ops(const Spec& spec);

/// Work that was spawned at a core and that no task has begun.
struct TaskWork {
  std::uint64_t begin = 0;  // the pattern's own: a vertex, a range of iterations
  std::uint64_t end = 0;
  OpId after;  // the operation that spawned it
  Slice data;  // what travels with it if it is stolen
};

/// A pattern's own part.
class TaskPattern {
 public:
  virtual ~TaskPattern() = default;
  /// The task is resumed. It does what it can and ends in one of the calls that block it.
  virtual void run(TaskId task) = 0;
  /// A message's handler: writes operations that come after `after`, and sends; never blocks.
  virtual void handle(const TaskMessage& message, OpId after) = 0;
  /// The message is soon to be handled: brings what that needs into the cache, and changes nothing.
  virtual void look_ahead(const TaskMessage&) const {}
  /// All tasks have passed a barrier; they are resumed next.
  virtual void passed_barrier() {}
  /// The planning run is over: what the contract still lacks.
  virtual void finish() {}
  /// Whether idle tasks should look for work at other cores.
  virtual bool may_steal() const { return false; }
};

class TaskProgram {
 public:
  /// Throws InputError for options out of their range. `options` and `pattern` must outlive this.
  TaskProgram(const Spec& spec, TaskPattern& pattern);

  /// Work that a core has from the start.
  void add_work(std::uint32_t rank, const TaskWork& work) { cores_[rank].pool.push_back(work); }
  /// It has at most so many operations: room for them. `atomics`: of those.
  void expect(std::uint64_t ops, std::uint64_t atomics = 0);
  /// The planning run, from all tasks ready to nothing left to do.
  Schedule make();

  TaskMemory& memory() { return memory_; }
  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t tasks() const { return tasks_; }
  std::uint32_t rank_of(TaskId task) const { return task / tasks_; }
  /// Of the operations that follow.
  void set_step(std::uint32_t step) { step_ = step; }

  // What a task does, one operation after the other.
  /// `time` of its core.
  void compute(TaskId task, Time time);
  /// A copy or reduce in local memory.
  void local(TaskId task, OpKind kind, std::span<const Slice> reads, const Slice& write);
  /// Spawns work at its own core.
  void spawn(TaskId task, TaskWork work);
  /// What its next operation waits for, as one operation; none at first.
  OpId last_of(TaskId task);
  /// The work spawned last at its core, for it to do; nothing if there is none.
  std::optional<TaskWork> take_work(TaskId task);
  /// Where the last reply to it stands.
  const Slice& result(TaskId task) const { return task_states_[task].result; }

  // What it then is blocked by; all but the last of a run's transfers are only begun.
  /// The handler's reply. The last 8 bytes of `record`, a value, are never zero.
  void delegate(TaskId task, std::uint32_t dst, std::uint32_t kind, std::uint64_t argument,
                const Slice& record);
  /// A fetch_add in the NIC of `rank`.
  void fetch_add(TaskId task, std::uint32_t rank, const Slice& word, std::uint64_t operand);
  /// Begins to bring bytes of `rank` here, or from here there.
  void begin_get(TaskId task, std::uint32_t rank, const Slice& from, const Slice& to);
  void begin_put(TaskId task, std::uint32_t rank, const Slice& from, const Slice& to);
  /// All that was begun.
  void await(TaskId task);
  /// All tasks of all cores: a barrier of ⌈log2 ranks⌉ rounds.
  void wait_barrier(TaskId task);
  /// There is work again: spawned here or, if the pattern may steal, stolen.
  void idle(TaskId task);
  /// Resumes those tasks of a core that are idle.
  void wake_idle(std::uint32_t rank);
  /// For ever.
  void finish(TaskId task);

  // What a handler does, at `rank`.
  OpId handler(std::uint32_t rank, OpKind kind, std::span<const Slice> reads, const Slice& write,
               std::initializer_list<OpId> after);
  OpId busy(std::uint32_t rank, Time time, OpId after);
  OpId joined(std::uint32_t rank, std::initializer_list<OpId> after);
  /// Lets the message's task go on: with no bytes, or those of `result`.
  void reply(const TaskMessage& message, std::span<const Slice> result,
             std::span<const OpId> after);
  /// A message for which nobody waits; a task or a handler sends it.
  void call(std::uint32_t rank, OpId after, const TaskMessage& message);

 private:
  using When = std::int64_t;  // picoseconds
  static constexpr TaskId kNoTask = 0xffffffffu;
  static constexpr std::uint32_t kStealing = 0xffffffffu;  // a kind of message, not the pattern's

  enum class What : std::uint8_t { kTask, kWrite, kMessage, kFlush, kCore };
  struct Item {
    What what;
    std::uint32_t id;
  };
  struct Event {
    What what;
    std::uint32_t id;
    std::uint32_t detail;  // kWrite: its target; kFlush: the queue's generation
  };
  struct Core {
    std::deque<Item> queue;
    When free_at = 0;
    bool awake = false;          // an event for it is coming
    std::vector<TaskWork> pool;  // work spawned; the newest last
    std::vector<TaskId> parked;
    TaskId thief = kNoTask;      // who looks for work elsewhere: one at a time
    std::uint32_t attempts = 0;  // its steals that failed since the last that did not
    std::uint64_t tries = 0;
    bool rested = false;
  };
  struct TaskState {
    OpList after;  // what its next operation waits for
    Slice result;
  };
  struct Transfers {           // of a task
    std::vector<OpId> before;  // what they wait for
    std::vector<OpId> begun;
  };
  // A message under way. Its slices have a mark behind the record, unless it ends in its own.
  struct Travelling {
    TaskMessage message;
    SliceRange slices;
    std::uint64_t bytes = 0;
    bool own_mark = false;
    bool reply = false;
    OpId after;  // between tasks of one core: what its handler waits for
  };
  struct alignas(64) Write {  // a line of the cache
    std::uint32_t link = 0;
    OpId put;
    bool gathered = false;
    std::uint32_t message = 0;            // if it is not gathered
    std::vector<std::uint32_t> messages;  // if it is
    Slice landing;
  };
  struct HashOfEnds {
    std::uint64_t operator()(std::uint64_t ends) const { return mixed(ends); }
  };
  struct Link {  // an ordered pair of ranks
    std::uint32_t src = 0;
    std::uint32_t dst = 0;
    ChannelId channel;
    OpId last_poll;
  };
  struct Queue {  // of a link: what waits to be sent together
    Slice staging;
    std::uint64_t filled = 0;
    std::uint32_t generation = 0;
    std::vector<std::uint32_t> messages;
    std::vector<OpId> copies;
  };

  // task_program.cc
  void push(std::uint32_t rank, Item item);
  void at(When when, What what, std::uint32_t id, std::uint32_t detail = 0);
  void wake(std::uint32_t rank);
  void step(std::uint32_t rank);
  void resume(TaskId task);
  OpPlace place(std::uint32_t rank) const { return {RankId(rank), step_}; }
  // `op`, which has just been written, comes after others and takes its core so long.
  OpId planned(OpId op, std::span<const OpId> after, When cost = 0);
  // It is the task's next.
  void then(TaskId task, OpId op, When cost = 0);
  void release_barrier();
  When here() const { return events_.now() + cost_; }
  static When copy_cost(const Slice& to) { return static_cast<When>(to.bytes) * kPlanCopiedByte; }

  // task_transfers.cc
  void transfer(TaskId task, OpKind kind, std::uint32_t rank, const Slice& from, const Slice& to);

  // task_messages.cc; `way` is the number of a link
  std::uint32_t link(std::uint32_t src, std::uint32_t dst);
  SliceRange mark_of(std::uint32_t rank);
  std::uint32_t new_message(const TaskMessage& message);
  void send(std::uint32_t rank, std::uint32_t id, std::span<const OpId> after);
  void send_alone(std::uint32_t way, std::uint32_t id, std::span<const OpId> after);
  void gather(std::uint32_t way, std::uint32_t id, std::span<const OpId> after);
  void flush(std::uint32_t way, bool aged);
  void depart(std::uint32_t way, SliceRange reads, std::uint64_t bytes, bool own_mark,
              std::span<const OpId> after, std::span<const std::uint32_t> messages, bool gathered);
  void take_in(std::uint32_t write);
  void look_ahead(std::span<const std::uint32_t> messages, std::size_t at) const;
  void look_ahead(const Travelling& message) const;
  void look_ahead(const std::deque<Item>& queue) const;
  void deliver(std::uint32_t id, const Slice& record, OpId after);

  // task_stealing.cc
  void steal(TaskId task);
  void give_work(const TaskMessage& message, OpId after);
  void receive_work(TaskId task, std::uint64_t parcel, OpId after);

  const Spec& spec_;
  const TaskOptions& options_;
  TaskPattern& pattern_;
  const std::uint32_t ranks_;
  const std::uint32_t tasks_;
  const Hierarchy hierarchy_;
  ProgramWriter out_;
  TaskMemory memory_;
  std::vector<SliceRange> marks_;  // by rank, of those that are in the table
  std::vector<Core> cores_;
  std::vector<ContextCache> contexts_;  // by core
  std::vector<TaskState> task_states_;
  std::vector<Transfers> transfers_;  // by task, once there are any
  std::vector<Travelling> messages_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<Write> writes_;
  std::vector<std::uint32_t> free_writes_;
  static constexpr std::uint32_t kFewRanks = 128;
  std::vector<Link> links_;    // by source and target, where few ranks are; else as they come
  std::vector<Queue> queues_;  // by link, once there are any
  base::FlatIndex<std::uint64_t, HashOfEnds> link_of_;  // by source and target, of many ranks
  std::vector<std::vector<TaskWork>> parcels_;          // stolen, under way
  PlanQueue<Event> events_;
  std::uint32_t in_barrier_ = 0;
  std::uint32_t step_ = 0;
  When cost_ = 0;  // of what the core that has its turn does
};

}  // namespace slackline::sched
