#include "sched/verify/conflicts.h"

#include <fmt/format.h>

#include <string_view>

namespace slackline::sched {
namespace {

Code code_of(bool wrote, Access later) {
  if (!wrote) return Code::kWar;
  return later == Access::kWrite ? Code::kWaw : Code::kRaw;
}

std::string_view verb(Access access) {
  return access == Access::kRead    ? "reads"
         : access == Access::kWrite ? "writes"
                                    : "reads and writes";
}

}  // namespace

ConflictChecker::ConflictChecker(const Schedule& schedule, const SegmentTable& segments, bool joins,
                                 OrderProver& prover, Findings& findings)
    : schedule_(schedule),
      segments_(segments),
      prover_(prover),
      findings_(findings),
      intervals_(segments, joins),
      cells_(segments.size()),
      proven_after_(schedule.op_count()) {
  if (!joins) return;
  for (const Op& op : schedule.ops()) {
    if (!is_atomic(op.kind)) continue;
    if (!words_) words_.emplace(static_cast<std::uint32_t>(segments.size()), false);
    const SegmentRun word = segments.run(atomic_word(schedule, op));
    for (std::uint32_t segment = word.first; segment < word.last; ++segment) {
      words_->insert(segment);
    }
  }
}

void ConflictChecker::access(OpId op, SegmentRun run, Access kind) {
  if (intervals_.joins()) return access_joined(op, run, kind);
  const bool long_run = run.last - run.first > 1;
  for (std::uint32_t segment = run.first; segment < run.last; ++segment) {
    access_segment({op, segment, kind, long_run});
  }
}

void ConflictChecker::check_operand(OpId op, OpId producer) {
  if (prover_.before(EventId::done(producer), op) == OrderProver::Answer::kProven) return;
  reported_.insert({producer, op, Code::kRaw});
  findings_.error(
      Code::kRaw, op,
      fmt::format("{} uses the result of {}, whose done no path leads from to its issue",
                  describe(schedule_, op), describe(schedule_, producer)));
}

OpId ConflictChecker::last_writer(std::uint32_t segment) const {
  const std::uint32_t list = cells_[intervals_.begin_of(segment)].writes;
  return list == kEnd ? OpId::none() : nodes_[list].op;
}

std::uint32_t ConflictChecker::push(OpId op, std::uint32_t next) {
  nodes_.push_back({op, next});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void ConflictChecker::access_segment(const Later& later) {
  Cell& cell = cells_[later.segment];
  if (later.kind == Access::kRead) {
    const bool excepted = after_all(cell.writes, true, later);
    if (excepted) after_all(cell.prior_writes, true, later);
    cell.reads = push(later.op, cell.reads);
    return;
  }
  if (later.kind == Access::kAtomic && joins(cell, later.op)) {
    const bool excepted = after_all(cell.prior_reads, false, later);
    if (cell.prior_reads == kEnd || excepted) after_all(cell.prior_writes, true, later);
    cell.writes = push(later.op, cell.writes);
    return;
  }
  check_own_overlap(cell, later);
  // Whoever read came after the last write, so what comes after the reads comes after it too.
  const bool excepted = after_all(cell.reads, false, later);
  if (cell.reads == kEnd || excepted) after_all(cell.writes, true, later);
  const bool reads_itself = cell.reads != kEnd && nodes_[cell.reads].op == later.op;
  cell.prior_writes = cell.writes;
  cell.prior_reads = cell.reads;
  cell.writes = push(later.op, kEnd);
  // A put within one rank may write what it reads, and is released from the two at different times.
  const bool both = reads_itself && release(later.op, true) != release(later.op, false);
  cell.reads = both ? push(later.op, kEnd) : kEnd;
}

// Proves `later` to come after every one of the list. Answers whether one of them needs no order,
// and so says nothing of what came before it.
bool ConflictChecker::after_all(std::uint32_t list, bool wrote, const Later& later) {
  bool any_excepted = false;
  for (; list != kEnd; list = nodes_[list].next) {
    const OpId first = nodes_[list].op;
    if (first == later.op) continue;
    if (!wrote) {
      any_excepted |= after_read(first, later);
    } else if (excepted(first, wrote, later)) {
      any_excepted = true;
    } else {
      comes_after(first, wrote, later);
    }
  }
  return any_excepted;
}

bool ConflictChecker::after_read(OpId first, const Later& later) {
  if (excepted(first, false, later)) return true;
  comes_after(first, false, later);
  // The read of an operation that writes there too says nothing of its write.
  return schedule_.op(first).kind == OpKind::kPut;
}

bool ConflictChecker::excepted(OpId first, bool wrote, const Later& later) const {
  const Op& op = schedule_.op(later.op);
  if (op.match != first) return false;
  if (wrote) return later.kind == Access::kRead && op.kind == OpKind::kPoll;
  return later.kind == Access::kWrite && op.kind == OpKind::kPut &&
         schedule_.op(first).kind == OpKind::kPoll;
}

EventId ConflictChecker::release(OpId op, bool wrote) const {
  const Op& first = schedule_.op(op);
  return EventId::done(wrote && first.kind == OpKind::kPut && first.match.valid() ? first.match
                                                                                  : op);
}

void ConflictChecker::comes_after(OpId first, bool wrote, const Later& later) {
  const EventId event = release(first, wrote);
  if (later.long_run) {
    const OpId known = proven_after_[event.op().value];
    if (known == later.op || (known.valid() && prover_.waits_on_chain(known, later.op))) return;
  }
  if (findings_.full()) return;  // nothing more is kept, and a refutation may be long
  const Code code = code_of(wrote, later.kind);
  if (!reported_.empty() && reported_.contains({first, later.op, code})) return;
  const OrderProver::Answer answer = prover_.before(event, later.op);
  if (answer == OrderProver::Answer::kProven) {
    if (later.long_run) proven_after_[event.op().value] = later.op;
    return;
  }
  reported_.insert({first, later.op, code});
  const std::string reason = answer == OrderProver::Answer::kUndecided
                                 ? fmt::format("not proven within {} steps", prover_.max_steps())
                                 : "no path leads";
  findings_.error(
      code, later.op,
      fmt::format("{} {} {}, which {} {}: {} from the done of {} to its issue",
                  describe(schedule_, later.op), verb(later.kind),
                  describe(schedule_, segments_.slice(later.segment)), describe(schedule_, first),
                  wrote ? "writes" : "reads", reason,
                  event.op() == first ? "the latter" : describe(schedule_, event.op())));
}

// Whether an atomic meets nothing but atomics on its own word since the last ordinary access.
bool ConflictChecker::joins(const Cell& cell, OpId id) const {
  if (cell.reads != kEnd || cell.writes == kEnd) return false;
  const Op& last = schedule_.op(nodes_[cell.writes].op);
  return is_atomic(last.kind) &&
         atomic_word(schedule_, last) == atomic_word(schedule_, schedule_.op(id));
}

// An operation that writes a byte twice, or writes one that it reads for another place of its
// payload, does so in no order that anything states.
void ConflictChecker::check_own_overlap(const Cell& cell, const Later& later) {
  const bool writes = cell.writes != kEnd && nodes_[cell.writes].op == later.op;
  const bool reads = cell.reads != kEnd && nodes_[cell.reads].op == later.op;
  if (writes || (reads && !stays_in_place(later))) report_own_overlap(writes, later);
}

void ConflictChecker::report_own_overlap(bool writes, const Later& later) {
  const Code code = writes ? Code::kWaw : Code::kWar;
  if (!reported_.insert({later.op, later.op, code}).second) return;
  findings_.error(
      code, later.op,
      fmt::format("{} {} {} at different places of its payload", describe(schedule_, later.op),
                  writes ? "writes twice" : "reads and writes",
                  describe(schedule_, segments_.slice(later.segment))));
}

// Whether the payload's place of every read of a segment is that of its write.
bool ConflictChecker::stays_in_place(const Later& later) const {
  const Op& op = schedule_.op(later.op);
  const BufferId buffer = segments_.slice(later.segment).buffer;
  const std::uint64_t at = segments_.begin(later.segment);
  const auto holds = [&](const Slice& slice) {
    return slice.buffer == buffer && slice.offset <= at && at - slice.offset < slice.bytes;
  };
  std::uint64_t place = 0;
  std::uint64_t written = 0;
  for_each_write(schedule_, op, [&](const Slice& slice) {
    if (holds(slice)) written = place + (at - slice.offset);
    place += slice.bytes;
  });
  place = 0;
  bool in_place = true;
  for_each_read(schedule_, op, [&](const Slice& slice) {
    if (holds(slice) && place + (at - slice.offset) != written) in_place = false;
    if (op.kind != OpKind::kReduce) place += slice.bytes;  // operands lie over each other
  });
  return in_place;
}

}  // namespace slackline::sched
