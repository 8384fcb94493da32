// How messages of sched/workloads/tasks/task_program.h travel: alone, or gathered in queues that
// are sent when they are full or old, over one hop or several.
#include <algorithm>
#include <array>
#include <utility>

#include "base/slots.h"
#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kOverflowWindow = 16;
constexpr std::uint64_t kMark = 8;  // records are multiples of it

}  // namespace

std::uint64_t message_ops(const Spec& spec) {
  const TaskOptions& o = spec.own<TaskOptions>();
  if (o.aggregation == Aggregation::kNone) return 2;
  std::uint64_t hops = 1;
  if (o.aggregation == Aggregation::kHierarchical) {
    hops = 3;
    const std::uint64_t group = std::max<std::uint64_t>(o.group, 2);  // less is refused later
    for (std::uint64_t nodes = group; nodes < spec.multicast.ranks; nodes *= group) hops += 2;
  }
  return 5 * hops;  // copied in, aged, written, seen, taken apart
}

std::uint32_t TaskProgram::link(std::uint32_t src, std::uint32_t dst) {
  std::uint32_t way = src * ranks_ + dst;
  if (ranks_ > kFewRanks) {
    const auto found = link_of_.find_or_add(std::uint64_t{src} << 32 | dst);
    if (found.fresh) {
      found.number = static_cast<std::uint32_t>(links_.size());
      links_.emplace_back();
    }
    way = found.number;
  }
  Link& link = links_[way];
  if (link.channel.valid()) return way;
  link = {src, dst, out_.connect(RankId(src), RankId(dst)), {}};
  Channel& channel = out_.channel(link.channel);
  channel.bundle = options_.bundle;
  if (channel.bundle != Bundle::kNone) {
    channel.bundle_bytes = options_.flush_bytes;
    channel.bundle_delay = options_.flush_age;
    if (channel.bundle == Bundle::kOverflow) channel.window = kOverflowWindow;
  }
  return way;
}

// Of many replies without a result, all of which read the same.
SliceRange TaskProgram::mark_of(std::uint32_t rank) {
  SliceRange& mark = marks_[rank];
  if (mark.count == 0) mark = out_.add_slice(memory_.mark(rank), RankId(rank));
  return mark;
}

std::uint32_t TaskProgram::new_message(const TaskMessage& message) {
  const std::uint32_t id = base::take_slot(messages_, free_messages_);
  Travelling fresh;
  fresh.message = message;
  messages_[id] = fresh;
  return id;
}

void TaskProgram::reply(const TaskMessage& message, std::span<const Slice> result,
                        std::span<const OpId> after) {
  const std::uint32_t rank = message.dst;
  TaskMessage back = message;
  back.src = rank;
  back.dst = rank_of(message.task);
  back.record = result.empty() ? memory_.mark(rank) : result.front();
  const std::uint32_t id = new_message(back);
  Travelling& made = messages_[id];
  made.reply = true;
  made.own_mark = result.empty();
  made.bytes = kMark;
  if (made.own_mark) {
    made.slices = mark_of(rank);
  } else {
    std::vector<Slice> slices(result.begin(), result.end());
    made.bytes = 0;
    for (const Slice& slice : slices) made.bytes += slice.bytes;
    slices.push_back(memory_.mark(rank));
    made.slices = out_.add_slices(slices, RankId(rank));
  }
  send(rank, id, after);
}

// Sends a message that is at `rank` on its way.
void TaskProgram::send(std::uint32_t rank, std::uint32_t id, std::span<const OpId> after) {
  Travelling& m = messages_[id];
  if (m.message.dst == rank) {
    m.after = after.size() == 1 ? after.front() : planned(out_.join(place(rank)), after);
    return push(rank, {What::kMessage, id});
  }
  if (options_.aggregation == Aggregation::kNone) {
    return send_alone(link(rank, m.message.dst), id, after);
  }
  const bool direct = options_.aggregation == Aggregation::kDestination;
  const std::uint32_t way =
      link(rank, direct ? m.message.dst : hierarchy_.next(rank, m.message.dst));
  if (queues_.size() <= way) queues_.resize(links_.size());
  if (m.bytes + kMark <= options_.flush_bytes) return gather(way, id, after);
  if (queues_[way].filled != 0) flush(way, false);
  send_alone(way, id, after);
}

void TaskProgram::send_alone(std::uint32_t way, std::uint32_t id, std::span<const OpId> after) {
  const Travelling& m = messages_[id];
  depart(way, m.slices, m.bytes, m.own_mark, after, {&id, 1}, false);
}

// Copies a record into the queue.
void TaskProgram::gather(std::uint32_t way, std::uint32_t id, std::span<const OpId> after) {
  const Travelling m = messages_[id];
  const std::uint32_t src = links_[way].src;
  Queue& queue = queues_[way];
  const std::uint64_t room = options_.flush_bytes - kMark;
  if (queue.filled + m.bytes > room) flush(way, false);
  if (queue.filled == 0) {
    queue.staging = memory_.take(src, room);
    at(here() + options_.flush_age.count(), What::kFlush, way, queue.generation);
  }
  const SliceRange record{m.slices.first, m.own_mark ? m.slices.count : m.slices.count - 1};
  const Slice staged{queue.staging.buffer, queue.staging.offset + queue.filled, m.bytes};
  queue.copies.push_back(planned(out_.copy(place(src), record, staged), after, copy_cost(staged)));
  queue.messages.push_back(id);
  queue.filled += m.bytes;
  if (queue.filled + m.bytes > room) flush(way, false);
}

// An aggregate that goes because it is old waits until its first record has waited that long.
void TaskProgram::flush(std::uint32_t way, bool aged) {
  const std::uint32_t src = links_[way].src;
  Queue& queue = queues_[way];
  if (aged) {
    // A delay that takes no time has no arguments.
    const OpId delay = options_.flush_age > Time{0} ? out_.delay(place(src), options_.flush_age)
                                                    : out_.add(out_.op(OpKind::kDelay, place(src)));
    queue.copies.push_back(planned(delay, {queue.copies.data(), 1}));
  }
  const Slice records{queue.staging.buffer, queue.staging.offset, queue.filled};
  const std::vector<OpId> copies = std::exchange(queue.copies, {});
  const std::vector<std::uint32_t> messages = std::exchange(queue.messages, {});
  queue.filled = 0;
  ++queue.generation;
  depart(way, out_.add_slices(std::array{records, memory_.mark(src)}, RankId(src)), records.bytes,
         false, copies, messages, true);
}

// Writes `bytes` and, unless they end in one, a mark.
void TaskProgram::depart(std::uint32_t way, SliceRange reads, std::uint64_t bytes, bool own_mark,
                         std::span<const OpId> after, std::span<const std::uint32_t> messages,
                         bool gathered) {
  const Link& link = links_[way];
  const std::uint32_t id = base::take_slot(writes_, free_writes_);
  Write& write = writes_[id];
  write.link = way;
  write.gathered = gathered;
  if (gathered) {
    write.messages.assign(messages.begin(), messages.end());
  } else {
    write.message = messages.front();
  }
  write.landing = memory_.take(link.dst, bytes + (own_mark ? 0 : kMark));
  write.put = planned(out_.put(place(link.src), link.channel, reads, write.landing, Notify::kFlag),
                      after, kPlanPost);
  at(here() + kPlanLatency, What::kWrite, id, link.dst);
}

// While one message of many is taken in, the processor is told what those some places further on
// will touch: first where the message itself stands, and then what it names.
void TaskProgram::look_ahead(std::span<const std::uint32_t> messages, std::size_t at) const {
  constexpr std::size_t kNamed = 4;
  if (at + 2 * kNamed < messages.size()) {
    const char* const far = reinterpret_cast<const char*>(&messages_[messages[at + 2 * kNamed]]);
    __builtin_prefetch(far);
    __builtin_prefetch(far + sizeof(Travelling) - 1);
  }
  if (at + kNamed >= messages.size()) return;
  look_ahead(messages_[messages[at + kNamed]]);
}

void TaskProgram::look_ahead(const Travelling& message) const {
  if (message.reply) {
    __builtin_prefetch(&task_states_[message.message.task]);
  } else {
    pattern_.look_ahead(message.message);
  }
}

// The same while a core has its turn, of what it does in the turns after this one.
void TaskProgram::look_ahead(const std::deque<Item>& queue) const {
  const auto write = [&](std::size_t turn) {
    const bool is_write = turn < queue.size() && queue[turn].what == What::kWrite;
    return is_write ? &writes_[queue[turn].id] : nullptr;
  };
  if (const Write* const third = write(2)) __builtin_prefetch(third);
  if (const Write* const second = write(1)) {
    __builtin_prefetch(&links_[second->link]);
    const char* const message = reinterpret_cast<const char*>(&messages_[second->message]);
    __builtin_prefetch(message);
    __builtin_prefetch(message + sizeof(Travelling) - 1);
  }
  if (const Write* const next = write(0)) look_ahead(messages_[next->message]);
}

// The polling thread sees a write. What was gathered it takes apart, and runs handlers or sends on.
void TaskProgram::take_in(std::uint32_t write) {
  Write& seen = writes_[write];
  free_writes_.push_back(write);  // until a message departs, which is when `seen` ends
  const Slice landing = seen.landing;
  Link& way = links_[seen.link];
  const std::uint32_t rank = way.dst;
  const OpPlace here = place(rank);
  OpId after = planned(out_.poll(here, end_of(landing, kMark)), {&way.last_poll, 1});
  out_.add_flag_match(seen.put, after);
  way.last_poll = after;
  const std::uint32_t alone = seen.message;
  const bool gathered = seen.gathered;
  const std::vector<std::uint32_t> together = std::move(seen.messages);
  Slice at = landing;
  if (gathered) {
    const Slice records{landing.buffer, landing.offset, landing.bytes - kMark};
    at = memory_.take(rank, records.bytes);
    after = planned(out_.copy(here, records, at), {&after, 1}, copy_cost(at));
  }
  const std::span<const std::uint32_t> messages =
      gathered ? std::span(together) : std::span(&alone, 1);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    look_ahead(messages, i);
    const std::uint32_t id = messages[i];
    Travelling& m = messages_[id];
    const Slice record{at.buffer, at.offset, m.bytes};
    at.offset += m.bytes;
    if (m.message.dst == rank) {
      deliver(id, record, after);
      continue;
    }
    m.slices = out_.add_slices(std::array{record, memory_.mark(rank)}, RankId(rank));
    m.own_mark = false;
    send(rank, id, {&after, 1});
  }
}

void TaskProgram::deliver(std::uint32_t id, const Slice& record, OpId after) {
  TaskMessage message = messages_[id].message;
  const bool reply = messages_[id].reply;
  free_messages_.push_back(id);
  message.record = record;
  if (reply) {
    TaskState& state = task_states_[message.task];
    state.after.set(after);
    state.result = record;
    if (message.kind == kStealing) receive_work(message.task, message.argument, after);
    push(message.dst, {What::kTask, message.task});
  } else if (message.kind == kStealing) {
    give_work(message, after);
  } else {
    pattern_.handle(message, after);
  }
}

}  // namespace slackline::sched
