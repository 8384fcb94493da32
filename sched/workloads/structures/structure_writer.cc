#include "sched/workloads/structures/structure_writer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sched/prefetch.h"
#include "sched/workloads/structures/queue.h"

namespace slackline::sched {
namespace {

constexpr std::uint16_t kProgressLane = 1;

}  // namespace

StructureWriter::StructureWriter(const Spec& spec, StructureWorkload workload, bool table)
    : spec_(spec),
      options_(spec.own<StructureOptions>()),
      writer_(spec.multicast.ranks),
      out_{Schedule(ScheduleBuilder(1).build()),
           spec.own<StructureOptions>(),
           table,
           spec.transfers.in_flight,
           workload.slots,
           std::move(workload.ops),
           std::move(workload.parts),
           {},
           workload.first_value + 1},
      first_value_(workload.first_value),
      two_phases_(workload.barrier),
      barrier_(writer_, spec.multicast.ranks),
      record_(by_call() ? entry_bytes() + 8 : slot_bytes()) {}

StructureProgram StructureWriter::run() {
  writer_.set_title(format_spec(spec_));
  const std::uint64_t ops = structure_ops(spec_);
  writer_.expect(ops, ops);
  for (std::uint32_t r = 0; r <= spec_.multicast.ranks; ++r) {
    const auto first = std::ranges::lower_bound(out_.ops, RankId(r), {}, &StructureOp::rank);
    first_of_.push_back(static_cast<std::uint32_t>(first - out_.ops.begin()));
  }
  at_targets_.resize(std::size_t{spec_.multicast.ranks} * kSharedSlices);
  if (by_call()) find_senders();
  reserve();
  add_memory();
  for (std::uint32_t r = 0; r < spec_.multicast.ranks; ++r) add_program(RankId(r));
  if (by_call()) {
    for (const StructureOp& op : out_.ops) {
      if (op.is_own()) continue;
      writer_.add_flag_match(op.first, op.handler_first);
      writer_.add_flag_match(op.handler_last, op.last);
      const std::uint64_t payload = is_write(op.access) ? op.bytes - 8 : 0;
      out_.handlers.push_back({op.first, op.handler_first, op.handler_last, payload});
    }
    std::sort(out_.handlers.begin(), out_.handlers.end(),
              [](const AmHandler& a, const AmHandler& b) { return a.first < b.first; });
  }
  add_facts();
  out_.schedule = writer_.build();
  return std::move(out_);
}

// Room in tables that would otherwise be copied as they grow.
void StructureWriter::reserve() {
  const std::size_t operations = out_.ops.size();
  std::size_t given = 0;
  for (const StructurePart& part : out_.parts) given += part.given.size();
  if (by_call()) {
    writer_.reserve_facts(given + spec_.multicast.ranks + 2 * operations,
                          operations + senders_.size());
    writer_.reserve_flag_matches(2 * operations);
    out_.handlers.reserve(operations);
  } else {
    writer_.reserve_facts(given + operations, 0);
    writer_.reserve_regions(2 * operations);
  }
}

void StructureWriter::find_senders() {
  incoming_.resize(spec_.multicast.ranks);
  for (std::uint32_t i = 0; i < out_.ops.size(); ++i) {
    const StructureOp& op = out_.ops[i];
    if (op.is_own()) continue;
    incoming_[op.target.value].push_back(i);
    ++senders_[{op.target, op.rank}].calls;
  }
  // About as they come.
  for (std::vector<std::uint32_t>& calls : incoming_) {
    std::stable_sort(calls.begin(), calls.end(), [&](std::uint32_t a, std::uint32_t b) {
      return out_.ops[a].index < out_.ops[b].index;
    });
  }
  std::uint64_t ticket = first_value_ + std::uint64_t{1};
  RankId target;
  std::uint32_t number = 0;
  for (auto& [ends, sender] : senders_) {
    number = ends.first == target ? number + 1 : 0;
    target = ends.first;
    sender.number = number;
    sender.ticket = ValueId(static_cast<std::uint32_t>(ticket));
    ticket += sender.calls;
    if (ticket > 0xfffffff0u) {
      throw InputError("operations: more than values can be told apart; expected fewer");
    }
  }
}

void StructureWriter::add_memory() {
  for (std::uint32_t r = 0; r < spec_.multicast.ranks; ++r) {
    const RankId rank(r);
    StructurePart& part = out_.parts[r];
    const std::uint64_t operations = first_of_[r + 1] - first_of_[r];
    sources_.push_back(writer_.add_buffer(rank, record_ * operations));
    part.landing = writer_.add_buffer(rank, out_.landing_bytes() * operations);
    add_part(rank, part);
    if (!by_call()) continue;
    std::uint64_t callers = 0;
    for (auto it = senders_.lower_bound({rank, RankId(0)});
         it != senders_.end() && it->first.first == rank; ++it) {
      ++callers;
    }
    marks_.push_back(words(rank, 1));
    mails_.push_back(writer_.add_buffer(rank, mail_bytes() * incoming_[r].size()));
    part.states = words(rank, callers);
  }
}

void StructureWriter::add_program(RankId rank) {
  const std::vector<OpId> receives = two_phases_ ? barrier_.post({rank}) : std::vector<OpId>();
  if (by_call()) add_handlers(rank);
  const std::uint32_t end = first_of_[rank.value + 1];
  std::uint32_t phase_begin = first_of_[rank.value];
  OpId opened;  // when this is done
  const auto pass_barrier = [&](std::uint32_t at) {
    const MessageBarrier::Ends barrier = barrier_.pass({rank}, receives);
    for (std::uint32_t i = at; i > phase_begin && at - i < out_.in_flight; --i) {
      writer_.after(out_.ops[i - 1].last, barrier.enter);
    }
    opened = barrier.exit;
    phase_begin = at;
  };
  bool passed = !two_phases_;
  for (std::uint32_t i = phase_begin; i < end; ++i) {
    StructureOp& op = out_.ops[i];
    prefetch_ahead(&op);
    if (!passed && op.phase == 1) {
      passed = true;
      pass_barrier(i);
    }
    op.after = i - phase_begin >= out_.in_flight ? out_.ops[i - out_.in_flight].last : opened;
    begin(op);
  }
  if (!passed) pass_barrier(end);
}

void StructureWriter::begin(StructureOp& op) {
  if (options_.compute > Time{0}) {
    op.after = writer_.calc(place_of(op), options_.compute, {op.after});
  }
  if (!by_call()) {
    operate(op);
  } else if (op.is_own()) {
    operate_at_home(op);
  } else {
    call(op);
  }
}

// What a call's handler would do, by the client itself. Nobody is called, and no ticket taken.
void StructureWriter::operate_at_home(StructureOp& op) {
  op.first = writer_.calc(place_of(op), spec_.handler, {op.after});
  const bool write = is_write(op.access);
  op.last = writer_.copy(place_of(op), write ? told(op, op.bytes) : entry_slice(op),
                         write ? entry_slice(op) : landing(op, op.bytes), {op.first});
}

// The request, and the poll for its reply.
void StructureWriter::call(StructureOp& op) {
  const std::uint64_t bytes = argument_bytes(op);
  Slice to{mails_[op.target.value], 0, bytes + kMarkBytes};
  const auto& calls = incoming_[op.target.value];
  const auto self = static_cast<std::uint32_t>(&op - out_.ops.data());
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(out_.ops[a].index, a) < std::pair(out_.ops[b].index, b);
  };
  to.offset =
      mail_bytes() * static_cast<std::uint64_t>(
                         std::lower_bound(calls.begin(), calls.end(), self, less) - calls.begin());
  const Slice record{sources_[op.rank.value], record_ * op.index + (record_ - bytes), bytes};
  op.first = writer_.put(place_of(op), writer_.channel(op.rank, op.target), {record, mark(op.rank)},
                         to, Notify::kFlag, {op.after});
  op.last = writer_.poll(place_of(op), end_of(reply_of(op), kMarkBytes));
}

// What the reply writes: what was fetched, if anything is, and a mark.
Slice StructureWriter::reply_of(const StructureOp& op) const {
  const Slice whole{part(op.rank).landing, out_.landing_bytes() * op.index,
                    (is_write(op.access) ? entry_bytes() : op.bytes) + kMarkBytes};
  return is_write(op.access) ? end_of(whole, kMarkBytes) : whole;
}

void StructureWriter::add_handlers(RankId rank) {
  const std::vector<std::uint32_t>& calls = incoming_[rank.value];
  for (std::size_t k = 0; k < calls.size(); ++k) add_handler(out_.ops[calls[k]], mail_bytes() * k);
}

// Poll, calc, what it does to the structure, the caller's sum, reply.
void StructureWriter::add_handler(StructureOp& op, std::uint64_t mail) {
  Sender& sender = senders_[{op.target, op.rank}];
  const std::uint64_t bytes = argument_bytes(op);
  const BufferId box = mails_[op.target.value];
  const bool thread = options_.progress == Progress::kThread;
  if (thread && options_.contention >= kForever - spec_.handler) {
    throw InputError("contention: 106 days or more with handler; expected less");
  }
  const OpPlace polls{op.target, op.index};
  const OpPlace handles{op.target, op.index, thread ? kProgressLane : std::uint16_t{0}};
  op.handler_first = writer_.poll(polls, {{box, mail + bytes, kMarkBytes}});
  OpId done = writer_.calc(handles, spec_.handler + (thread ? options_.contention : Time{0}),
                           {op.handler_first, sender.last});
  if (is_write(op.access)) {
    done = writer_.copy(handles, {{box, mail, op.bytes}}, entry_slice(op), {done});
  }
  const Slice state{part(op.target).states, 8ull * sender.number, 8};
  const Slice ticket{box, mail + bytes - 8, 8};
  sender.last = writer_.accumulate(handles, state, ticket, !sender.last.valid(), {done});
  const ChannelId replies = writer_.channel(op.target, op.rank, kReplies);
  const Slice marked = mark(op.target);
  op.handler_last = is_write(op.access) ? writer_.put(handles, replies, marked, reply_of(op),
                                                      Notify::kFlag, {sender.last})
                                        : writer_.put(handles, replies, {entry_slice(op), marked},
                                                      reply_of(op), Notify::kFlag, {sender.last});
}

void StructureWriter::add_facts() {
  const ValueId mark_value(first_value_);
  for (std::uint32_t r = 0; r < spec_.multicast.ranks; ++r) {
    if (by_call()) writer_.add_pre({mark(RankId(r)), mark_value, 0});
    for (const StructurePart::Given& given : out_.parts[r].given) {
      prefetch_ahead(&given);
      writer_.add_pre({{out_.parts[r].entries, given.place * slot_bytes(),
                        options_.level == Promise::kChecksum ? slot_bytes() : given.bytes},
                       given.value,
                       0});
    }
  }
  std::map<std::pair<RankId, RankId>, std::uint32_t> calls;
  for (const StructureOp& op : out_.ops) {
    prefetch_ahead(&op);
    const bool wrote = is_write(op.access);
    if (!by_call()) {
      if (wrote) writer_.add_pre({source(op, written_bytes(op)), op.value, 0});
      if (op.level != Promise::kLocal) continue;
      if (!wrote || options_.phases == 2 || !reads()) {
        writer_.add_post({wrote ? entry_slice(op) : landing(op, op.bytes), op.value, 0});
      }
      continue;
    }
    const std::uint64_t told_of = op.is_own() && !wrote ? 0 : told_bytes(op);
    if (told_of != 0) writer_.add_pre({told(op, told_of), op.value, 0});
    writer_.add_post({wrote ? entry_slice(op) : landing(op, op.bytes), op.value, 0});
    if (op.is_own()) continue;
    const ValueId first = senders_[{op.target, op.rank}].ticket;
    const ValueId ticket(first.value + calls[{op.target, op.rank}]++);
    writer_.add_pre({{sources_[op.rank.value], record_ * op.index + entry_bytes(), 8}, ticket, 0});
  }
  for (const auto& [ends, sender] : senders_) {
    writer_.add_post(
        {{part(ends.first).states, 8ull * sender.number, 8}, sender.ticket, 0, sender.calls});
  }
}

Slice StructureWriter::entry_slice(const StructureOp& op) const {
  return {part(op.target).entries, slot_bytes() * op.slot, op.bytes};
}

Slice StructureWriter::source(const StructureOp& op, std::uint64_t bytes) const {
  return {sources_[op.rank.value], record_ * op.index, bytes};
}

Slice StructureWriter::landing(const StructureOp& op, std::uint64_t bytes) const {
  return {part(op.rank).landing, out_.landing_bytes() * op.index, bytes};
}

// Operations that are under way at once do not wait for each other's place on a channel.
ChannelId StructureWriter::channel_of(const StructureOp& op) {
  return writer_.channel(op.rank, op.target, op.index % out_.in_flight);
}

// Operations say what they act on by their arguments, mostly, and name the same slice.
SliceRange StructureWriter::at_target(const StructureOp& op, const Slice& slice) {
  const std::size_t place = (slice.buffer.value + slice.offset / 8) % kSharedSlices;
  SharedSlice& shared = at_targets_[kSharedSlices * op.target.value + place];
  if (shared.at.count == 0 || shared.slice != slice) shared = {slice, writer_.add_slice(slice)};
  return shared.at;
}

OpId StructureWriter::add_atomic(OpKind kind, const StructureOp& op, const Slice& word,
                                 const OpArguments& arguments, OpId after) {
  const SliceRange at = at_target(op, word);
  return writer_.add(writer_.op(kind, place_of(op), channel_of(op), at, at), arguments, {after});
}

OpId StructureWriter::add_put(const StructureOp& op, const Slice& to, const OpArguments& arguments,
                              OpId after) {
  const Slice from = source(op, to.bytes);
  return writer_.add(
      writer_.op(OpKind::kPut, place_of(op), channel_of(op), from, at_target(op, to)), arguments,
      {after});
}

OpId StructureWriter::add_get(const StructureOp& op, const Slice& from, const Slice& to,
                              const OpArguments& arguments, OpId after) {
  return writer_.add(
      writer_.op(OpKind::kGet, place_of(op), channel_of(op), at_target(op, from), to), arguments,
      {after});
}

void StructureWriter::add_retry(OpId entry, std::uint32_t count, std::uint64_t attempts) {
  const std::uint64_t most = std::min<std::uint64_t>(attempts, 1u << 31);
  writer_.retry(entry, count, static_cast<std::uint32_t>(most));
}

}  // namespace slackline::sched
