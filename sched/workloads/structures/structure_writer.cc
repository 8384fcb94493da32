#include "sched/workloads/structures/structure_writer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMail = 16 + kMarkBytes;  // arguments, mark
constexpr std::uint64_t kReply = 8 + kMarkBytes;  // an entry, mark
constexpr std::uint16_t kProgressLane = 1;

}  // namespace

StructureWriter::StructureWriter(const Spec& spec, StructureWorkload workload, bool table)
    : spec_(spec),
      options_(spec.own<StructureOptions>()),
      builder_(spec.multicast.ranks),
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
      barrier_(workload.barrier),
      record_(by_call() ? 16 : entry_bytes()) {}

StructureProgram StructureWriter::run() {
  builder_.set_title(format_spec(spec_));
  for (const StructureOp& op : out_.ops) {
    while (first_of_.size() <= op.rank.value) {
      first_of_.push_back(static_cast<std::uint32_t>(&op - out_.ops.data()));
    }
  }
  first_of_.resize(spec_.multicast.ranks + 1, static_cast<std::uint32_t>(out_.ops.size()));
  if (by_call()) find_senders();
  add_memory();
  for (std::uint32_t r = 0; r < spec_.multicast.ranks; ++r) add_program(RankId(r));
  if (by_call()) {
    for (const StructureOp& op : out_.ops) {
      builder_.add_flag_match(op.first, op.handler_first);
      builder_.add_flag_match(op.handler_last, op.last);
      out_.handlers.push_back({op.first, op.handler_first, op.handler_last, 0});
    }
    std::sort(out_.handlers.begin(), out_.handlers.end(),
              [](const AmHandler& a, const AmHandler& b) { return a.first < b.first; });
  }
  add_facts();
  out_.schedule = builder_.build();
  return std::move(out_);
}

void StructureWriter::find_senders() {
  incoming_.resize(spec_.multicast.ranks);
  for (std::uint32_t i = 0; i < out_.ops.size(); ++i) {
    const StructureOp& op = out_.ops[i];
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
    sources_.push_back(builder_.add_buffer(rank, record_ * operations));
    part.landing = builder_.add_buffer(rank, (by_call() ? kReply : entry_bytes()) * operations);
    add_part(rank, part);
    if (!by_call()) continue;
    std::uint64_t callers = 0;
    for (auto it = senders_.lower_bound({rank, RankId(0)});
         it != senders_.end() && it->first.first == rank; ++it) {
      ++callers;
    }
    marks_.push_back(words(rank, 1));
    mails_.push_back(builder_.add_buffer(rank, kMail * incoming_[r].size()));
    part.states = words(rank, callers);
  }
}

void StructureWriter::add_program(RankId rank) {
  if (barrier_) post_barrier_receives(rank);
  if (by_call()) add_handlers(rank);
  const std::uint32_t end = first_of_[rank.value + 1];
  std::uint32_t phase_begin = first_of_[rank.value];
  OpId opened;  // when this is done
  const auto pass_barrier = [&](std::uint32_t at) {
    std::vector<OpId> ended;
    for (std::uint32_t i = at; i > phase_begin && at - i < out_.in_flight; --i) {
      ended.push_back(out_.ops[i - 1].last);
    }
    opened = add_barrier(rank, ended);
    phase_begin = at;
  };
  bool passed = !barrier_;
  for (std::uint32_t i = phase_begin; i < end; ++i) {
    StructureOp& op = out_.ops[i];
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
    const OpId computed = add_calc(op_of(OpKind::kCalc, op), options_.compute);
    after(op.after, computed);
    op.after = computed;
  }
  if (by_call()) {
    call(op);
  } else {
    operate(op);
  }
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
  to.offset = kMail * static_cast<std::uint64_t>(
                          std::lower_bound(calls.begin(), calls.end(), self, less) - calls.begin());
  Op request = op_of(OpKind::kPut, op);
  request.channel = channel(op.rank, op.target, 0);
  request.notify = Notify::kFlag;
  const Slice record{sources_[op.rank.value], record_ * op.index + (16 - bytes), bytes};
  request.reads = builder_.add_slices(std::vector<Slice>{record, mark(op.rank)});
  request.writes = builder_.add_slice(to);
  op.first = add(request);
  after(op.after, op.first);
  Op poll = op_of(OpKind::kPoll, op);
  poll.reads = builder_.add_slice({part(op.rank).landing, kReply * op.index + 8, kMarkBytes});
  op.last = add(poll);
}

void StructureWriter::add_handlers(RankId rank) {
  const std::vector<std::uint32_t>& calls = incoming_[rank.value];
  for (std::size_t k = 0; k < calls.size(); ++k) add_handler(out_.ops[calls[k]], kMail * k);
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
  const auto here = [&](OpKind kind) {
    Op o = op_of(kind, op);
    o.rank = op.target;
    o.lane = thread && kind != OpKind::kPoll ? kProgressLane : 0;
    return o;
  };
  Op poll = here(OpKind::kPoll);
  poll.reads = builder_.add_slice({box, mail + bytes, kMarkBytes});
  op.handler_first = add(poll);
  const OpId run =
      add_calc(here(OpKind::kCalc), spec_.handler + (thread ? options_.contention : Time{0}));
  after(op.handler_first, run);
  after(sender.last, run);
  OpId done = run;
  if (is_write(op.access)) {
    Op copy = here(OpKind::kCopy);
    copy.reads = builder_.add_slice({box, mail, 8});
    copy.writes = builder_.add_slice(entry_slice(op));
    done = add(copy);
    after(run, done);
  }
  const Slice state{part(op.target).states, 8ull * sender.number, 8};
  const Slice ticket{box, mail + bytes - 8, 8};
  Op sum = here(sender.handled == 0 ? OpKind::kCopy : OpKind::kReduce);
  sum.reads = sender.handled == 0 ? builder_.add_slice(ticket)
                                  : builder_.add_slices(std::vector<Slice>{state, ticket});
  sum.writes = builder_.add_slice(state);
  sender.last = add(sum);
  after(done, sender.last);
  ++sender.handled;

  Op reply = here(OpKind::kPut);
  reply.channel = channel(op.target, op.rank, kReplies);
  reply.notify = Notify::kFlag;
  Slice to{part(op.rank).landing, kReply * op.index + 8, kMarkBytes};
  if (is_write(op.access)) {
    reply.reads = builder_.add_slice(mark(op.target));
  } else {
    reply.reads = builder_.add_slices(std::vector<Slice>{entry_slice(op), mark(op.target)});
    to = {to.buffer, to.offset - 8, kReply};
  }
  reply.writes = builder_.add_slice(to);
  op.handler_last = add(reply);
  after(sender.last, op.handler_last);
}

void StructureWriter::post_barrier_receives(RankId rank) {
  barrier_receives_.clear();
  const std::uint32_t ranks = spec_.multicast.ranks;
  for (std::uint32_t t = 0; (1u << t) < ranks; ++t) {
    Op op;
    op.kind = OpKind::kRecv;
    op.rank = rank;
    op.channel = channel(RankId((rank.value + ranks - (1u << t)) % ranks), rank, kBarrier - t);
    barrier_receives_.push_back(add(op));
  }
}

// Disseminates in ⌈log2 n⌉ rounds of empty messages. Answers what the rank leaves by.
OpId StructureWriter::add_barrier(RankId rank, std::span<const OpId> ended) {
  Op join;
  join.kind = OpKind::kJoin;
  join.rank = rank;
  OpId arrived = add(join);
  for (const OpId last : ended) after(last, arrived);
  OpId sent;
  for (std::uint32_t t = 0; (1u << t) < spec_.multicast.ranks; ++t) {
    Op send = join;
    send.kind = OpKind::kSend;
    send.channel =
        channel(rank, RankId((rank.value + (1u << t)) % spec_.multicast.ranks), kBarrier - t);
    const OpId posted = add(send);
    after(arrived, posted);
    if (sent.valid()) builder_.add_edge(sent, posted, On::kIssued);
    sent = posted;
    arrived = barrier_receives_[t];
  }
  const OpId left = add(join);
  after(arrived, left);
  if (sent.valid()) builder_.add_edge(sent, left, On::kIssued);
  return left;
}

void StructureWriter::add_facts() {
  const ValueId mark_value(first_value_);
  for (std::uint32_t r = 0; r < spec_.multicast.ranks; ++r) {
    if (by_call()) builder_.add_pre({mark(RankId(r)), mark_value, 0});
    for (const StructurePart::Given& given : out_.parts[r].given) {
      builder_.add_pre(
          {{out_.parts[r].entries, given.place * entry_bytes(), entry_bytes()}, given.value, 0});
    }
  }
  std::map<std::pair<RankId, RankId>, std::uint32_t> calls;
  for (const StructureOp& op : out_.ops) {
    const bool wrote = is_write(op.access);
    if (!by_call()) {
      if (wrote) builder_.add_pre({source(op, entry_bytes()), op.value, 0});
      if (op.level != Promise::kLocal) continue;
      if (!wrote || options_.phases == 2 || !reads()) {
        builder_.add_post({wrote ? entry_slice(op) : landing(op, 8), op.value, 0});
      }
      continue;
    }
    const std::uint64_t at = record_ * op.index;
    if (op.access != StructureAccess::kPop) {
      builder_.add_pre({{sources_[op.rank.value], at, 8}, op.value, 0});
    }
    const ValueId first = senders_[{op.target, op.rank}].ticket;
    const ValueId ticket(first.value + calls[{op.target, op.rank}]++);
    builder_.add_pre({{sources_[op.rank.value], at + 8, 8}, ticket, 0});
    if (wrote) {
      builder_.add_post({entry_slice(op), op.value, 0});
    } else {
      builder_.add_post({{part(op.rank).landing, kReply * op.index, 8}, op.value, 0});
    }
  }
  for (const auto& [ends, sender] : senders_) {
    builder_.add_post(
        {{part(ends.first).states, 8ull * sender.number, 8}, sender.ticket, 0, sender.calls});
  }
}

ChannelId StructureWriter::channel(RankId src, RankId dst, std::uint32_t lane) {
  const auto [found, fresh] = channels_.try_emplace({src, dst, lane});
  if (fresh) {
    Channel made;
    made.src = src;
    made.dst = dst;
    found->second = builder_.add_channel(made);
    // A barrier's carry control: they name themselves.
    if (lane <= kBarrier && lane > kBarrier - 64) {
      builder_.channel(found->second).credit_on = found->second;
    }
  }
  return found->second;
}

Slice StructureWriter::entry_slice(const StructureOp& op) const {
  return {part(op.target).entries, 8 * op.place, 8};
}

Slice StructureWriter::source(const StructureOp& op, std::uint64_t bytes) const {
  return {sources_[op.rank.value], record_ * op.index, bytes};
}

Slice StructureWriter::landing(const StructureOp& op, std::uint64_t bytes) const {
  return {part(op.rank).landing, entry_bytes() * op.index, bytes};
}

Op StructureWriter::op_of(OpKind kind, const StructureOp& op) const {
  Op made;
  made.kind = kind;
  made.rank = op.rank;
  made.step = op.index;
  return made;
}

// Operations that are under way at once do not wait for each other's place on a channel.
Op StructureWriter::message(OpKind kind, const StructureOp& op) {
  Op made = op_of(kind, op);
  made.channel = channel(op.rank, op.target, op.index % out_.in_flight);
  return made;
}

OpId StructureWriter::add_atomic(OpKind kind, const StructureOp& op, const Slice& word,
                                 const OpArguments& arguments) {
  Op made = message(kind, op);
  made.reads = made.writes = builder_.add_slice(word);
  return add(made, arguments);
}

OpId StructureWriter::add_put(const StructureOp& op, const Slice& to,
                              const OpArguments& arguments) {
  Op made = message(OpKind::kPut, op);
  made.reads = builder_.add_slice(source(op, to.bytes));
  made.writes = builder_.add_slice(to);
  return add(made, arguments);
}

OpId StructureWriter::add_get(const StructureOp& op, const Slice& from, const Slice& to,
                              const OpArguments& arguments) {
  Op made = message(OpKind::kGet, op);
  made.reads = builder_.add_slice(from);
  made.writes = builder_.add_slice(to);
  return add(made, arguments);
}

void StructureWriter::add_retry(OpId entry, std::uint32_t count, std::uint64_t attempts) {
  Region region;
  region.kind = RegionKind::kRetry;
  region.entry = entry;
  region.count = count;
  region.max_attempts = static_cast<std::uint32_t>(std::min<std::uint64_t>(attempts, 1u << 31));
  region.outcome = Outcome::kActual;
  builder_.add_region(region);
}

OpId StructureWriter::add_calc(const Op& where, Time duration) {
  OpArguments arguments;
  arguments.duration = duration;
  return add(where, arguments);
}

}  // namespace slackline::sched
