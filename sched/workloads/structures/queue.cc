#include "sched/workloads/structures/queue.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sched/operands.h"
#include "sched/workloads/structures/hash_table.h"
#include "sched/workloads/structures/structure_writer.h"

namespace slackline::sched {
namespace {

// A push that waits for the ones before it, or a pop for an entry, gives up after so many: far more
// than any number of clients makes another wait.
constexpr std::uint64_t kPersistence = 1u << 16;

class QueueWriter : public StructureWriter {
 public:
  QueueWriter(const Spec& spec, StructureWorkload workload)
      : StructureWriter(spec, std::move(workload), false),
        local_(spec.handler),
        claim_(spec.own<StructureOptions>().claim) {}

 private:
  void add_part(RankId rank, StructurePart& part) override {
    part.entries = writer().add_buffer(rank, slot_bytes() * slots());
    if (!by_call()) part.control = words(rank, kQueueWords);
  }

  void operate(StructureOp& op) override {
    if (op.level == Promise::kLocal) return operate_locally(op);
    const bool push = op.access == StructureAccess::kPush;
    claim(op, word(op, push ? QueueWord::kTail : QueueWord::kHead));
    op.last = push ? write(op) : read(op);
    if (op.level == Promise::kReadWrite) {
      advance(op, push ? QueueWord::kTailReady : QueueWord::kHeadReady);
    }
  }

  Slice word(const StructureOp& op, QueueWord which) const {
    return {part(op.target).control, offset_of(which), 8};
  }
  // A number of its own: what the word held when it moved it on.
  void claim(StructureOp& op, const Slice& counter) {
    OpArguments next;
    if (claim_ == Claim::kAdd) {
      next.operand = literal(1);
      op.first = op.ticket = add_atomic(OpKind::kFetchAdd, op, counter, next, op.after);
      return;
    }
    OpId seen = writer().next_op();  // itself, the time before; at first it expects 0
    op.first = seen;
    if (claim_ == Claim::kReadSwap) add_get(op, counter, landing(op, 8), {}, op.after);
    next.compare = {Operand::From::kResult, seen, 1};
    next.operand = {Operand::From::kResult, seen, 1, 1};
    const bool reads = claim_ == Claim::kReadSwap;
    op.ticket = add_atomic(OpKind::kCompareSwap, op, counter, next, reads ? seen : op.after);
    add_retry(op.first, reads ? 2 : 1, kPersistence);
  }

  // The place that the ticket says.
  OpArguments placed(const StructureOp& op) const {
    OpArguments arguments;
    arguments.address_offset = {Operand::From::kResult, op.ticket, slot_bytes(), 0,
                                slot_bytes() * slots()};
    return arguments;
  }

  OpId write(const StructureOp& op) {
    return add_put(op, {part(op.target).entries, 0, written_bytes(op)}, placed(op), op.ticket);
  }

  OpId read(StructureOp& op) {
    OpId there = op.ticket;
    if (op.level == Promise::kChecksum) {
      OpArguments arrived = placed(op);
      arrived.compare = literal(0);
      arrived.expect = Expect::kUnequal;
      Slice sum = landing(op, 8);
      sum.offset += entry_bytes();
      there = add_get(op, {part(op.target).entries, entry_bytes(), 8}, sum, arrived, op.ticket);
      add_retry(there, 1, kPersistence);
    }
    op.get = add_get(op, {part(op.target).entries, 0, entry_bytes()}, landing(op, entry_bytes()),
                     placed(op), there);
    return op.get;
  }

  // In the order of tickets: it waits for all before it.
  void advance(StructureOp& op, QueueWord which) {
    OpArguments next;
    next.compare = {Operand::From::kResult, op.ticket, 1};
    next.operand = {Operand::From::kResult, op.ticket, 1, 1};
    op.last = add_atomic(OpKind::kCompareSwap, op, word(op, which), next, op.last);
    add_retry(op.last, 1, kPersistence);
  }

  void operate_locally(StructureOp& op) {
    op.first = writer().calc(place_of(op), local_, {op.after});
    const bool push = op.access == StructureAccess::kPush;
    op.last = writer().copy(place_of(op), push ? source(op, op.bytes) : entry_slice(op),
                            push ? entry_slice(op) : landing(op, op.bytes), {op.first});
  }

  const Time local_;
  const Claim claim_;
};

}  // namespace

StructureProgram queue_program(const Spec& spec) {
  return QueueWriter(spec, queue_workload(spec)).run();
}

Schedule queue(const Spec& spec) { return queue_program(spec).schedule; }

bool is_structure_pattern(std::string_view pattern) {
  return pattern == "hash-table" || pattern == "queue";
}

StructureProgram structure_program(const Spec& spec) {
  if (spec.pattern == "hash-table") return hash_table_program(spec);
  if (spec.pattern == "queue") return queue_program(spec);
  throw InputError(
      fmt::format("{}: no data structure; expected hash-table or queue", spec.pattern));
}

std::uint64_t structure_ops(const Spec& spec) {
  const StructureOptions& structure = spec.own<StructureOptions>();
  const std::uint64_t each = (structure.via == StructureVia::kAm ? 7u : 3u) +
                             (structure.claim == Claim::kReadSwap ? 1u : 0u) +
                             (structure.compute > Time{0} ? 1u : 0u);
  const std::uint64_t kinds = structure.work == StructureWork::kBoth ? 2 : 1;
  const std::uint64_t rounds = ceil_log2(spec.multicast.ranks);
  const std::uint64_t clients = structure.clients != 0 ? structure.clients : spec.multicast.ranks;
  const std::uint64_t ops =
      clients * structure.operations * kinds * each + spec.multicast.ranks * (2 * rounds + 2);
  if (ops > 1ull << 31) {
    throw InputError(
        fmt::format("operations: {} of each of {} ranks make {} operations of the "
                    "schedule; expected at most {}",
                    structure.operations, clients, ops, 1ull << 31));
  }
  return ops;
}

namespace {

constexpr auto kQueueOptions = option_list(
    kStructureOperations,
    choice_option<&StructureOptions::work>("op", "push|pop|both", "structures: what clients do"),
    kStructureAccess, kStructureClients,
    choice_option<&StructureOptions::queues>("queues", "each|one",
                                             "queue: on every rank, or on rank 0 alone"),
    choice_option<&StructureOptions::claim>("claim", "add|swap|read-swap",
                                            "queue: how a place is taken"),
    kStructureTimes);

}  // namespace

constinit const PatternEntry kQueuePattern =
    schedule_entry("queue", "pushes and pops of hosted queues, by RDMA or by call", kQueueOptions,
                   queue, structure_ops, 600);

}  // namespace slackline::sched
