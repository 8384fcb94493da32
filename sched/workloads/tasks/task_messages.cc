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

TaskProgram::Link& TaskProgram::link(std::uint32_t src, std::uint32_t dst) {
  const auto found = link_of_.find_or_add(std::uint64_t{src} << 32 | dst);
  if (!found.fresh) return links_[found.number];
  found.number = static_cast<std::uint32_t>(links_.size());
  Link& made = links_.emplace_back();
  made.number = found.number;
  made.src = src;
  made.dst = dst;
  made.channel = out_.connect(RankId(src), RankId(dst));
  Channel& channel = out_.channel(made.channel);
  channel.bundle = options_.bundle;
  if (channel.bundle != Bundle::kNone) {
    channel.bundle_bytes = options_.flush_bytes;
    channel.bundle_delay = options_.flush_age;
    if (channel.bundle == Bundle::kOverflow) channel.window = kOverflowWindow;
  }
  return made;
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
  Link& way = link(rank, direct ? m.message.dst : hierarchy_.next(rank, m.message.dst));
  if (m.bytes + kMark <= options_.flush_bytes) return gather(way, id, after);
  if (way.filled != 0) flush(way, false);
  send_alone(way, id, after);
}

void TaskProgram::send_alone(Link& way, std::uint32_t id, std::span<const OpId> after) {
  const Travelling& m = messages_[id];
  depart(way, m.slices, m.bytes, m.own_mark, after, {&id, 1}, false);
}

// Copies a record into the queue.
void TaskProgram::gather(Link& way, std::uint32_t id, std::span<const OpId> after) {
  const Travelling m = messages_[id];
  const std::uint64_t room = options_.flush_bytes - kMark;
  if (way.filled + m.bytes > room) flush(way, false);
  if (way.filled == 0) {
    way.staging = memory_.take(way.src, room);
    at(here() + options_.flush_age.count(), What::kFlush, way.number, way.generation);
  }
  const SliceRange record{m.slices.first, m.own_mark ? m.slices.count : m.slices.count - 1};
  const Slice staged{way.staging.buffer, way.staging.offset + way.filled, m.bytes};
  way.copies.push_back(
      planned(out_.copy(place(way.src), record, staged), after, copy_cost(staged)));
  way.messages.push_back(id);
  way.filled += m.bytes;
  if (way.filled + m.bytes > room) flush(way, false);
}

// An aggregate that goes because it is old waits until its first record has waited that long.
void TaskProgram::flush(Link& way, bool aged) {
  if (aged) {
    // A delay that takes no time has no arguments.
    const OpId delay = options_.flush_age > Time{0}
                           ? out_.delay(place(way.src), options_.flush_age)
                           : out_.add(out_.op(OpKind::kDelay, place(way.src)));
    way.copies.push_back(planned(delay, {way.copies.data(), 1}));
  }
  const Slice records{way.staging.buffer, way.staging.offset, way.filled};
  const std::vector<OpId> copies = std::move(way.copies);
  const std::vector<std::uint32_t> messages = std::move(way.messages);
  way.copies.clear();
  way.messages.clear();
  way.filled = 0;
  ++way.generation;
  depart(way, out_.add_slices(std::array{records, memory_.mark(way.src)}, RankId(way.src)),
         records.bytes, false, copies, messages, true);
}

// Writes `bytes` and, unless they end in one, a mark.
void TaskProgram::depart(Link& way, SliceRange reads, std::uint64_t bytes, bool own_mark,
                         std::span<const OpId> after, std::span<const std::uint32_t> messages,
                         bool gathered) {
  const std::uint32_t id = base::take_slot(writes_, free_writes_);
  Write& write = writes_[id];
  write.link = way.number;
  write.gathered = gathered;
  if (gathered) {
    write.messages.assign(messages.begin(), messages.end());
  } else {
    write.message = messages.front();
  }
  write.landing = memory_.take(way.dst, bytes + (own_mark ? 0 : kMark));
  write.put = planned(out_.put(place(way.src), way.channel, reads, write.landing, Notify::kFlag),
                      after, kPlanPost);
  at(here() + kPlanLatency, What::kWrite, id, way.dst);
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
  const Travelling& near = messages_[messages[at + kNamed]];
  if (near.reply) {
    __builtin_prefetch(&task_states_[near.message.task]);
  } else {
    pattern_.look_ahead(near.message);
  }
}

// The polling thread sees a write. What was gathered it takes apart, and runs handlers or sends on.
void TaskProgram::take_in(std::uint32_t write) {
  const Write seen = std::move(writes_[write]);
  free_writes_.push_back(write);
  const Slice& landing = seen.landing;
  Link& way = links_[seen.link];
  const std::uint32_t rank = way.dst;
  const OpPlace here = place(rank);
  OpId after = planned(out_.poll(here, end_of(landing, kMark)), {&way.last_poll, 1});
  out_.add_flag_match(seen.put, after);
  way.last_poll = after;
  Slice at = landing;
  if (seen.gathered) {
    const Slice records{landing.buffer, landing.offset, landing.bytes - kMark};
    at = memory_.take(rank, records.bytes);
    after = planned(out_.copy(here, records, at), {&after, 1}, copy_cost(at));
  }
  const std::span<const std::uint32_t> messages =
      seen.gathered ? std::span(seen.messages) : std::span(&seen.message, 1);
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
