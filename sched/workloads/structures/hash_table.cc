#include "sched/workloads/structures/hash_table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/number.h"
#include "sched/operands.h"
#include "sched/workloads/structures/queue.h"
#include "sched/workloads/structures/structure_writer.h"

namespace slackline::sched {
namespace {

class TableWriter : public StructureWriter {
 public:
  explicit TableWriter(const Spec& spec) : StructureWriter(spec, table_workload(spec), true) {}

 private:
  void add_part(RankId rank, StructurePart& part) override {
    part.entries = writer().add_buffer(rank, slot_bytes() * slots());
    if (!by_call()) part.flags = words(rank, slots());
  }

  void operate(StructureOp& op) override {
    if (op.access == StructureAccess::kInsert) {
      insert(op);
    } else {
      find(op);
    }
  }

  // The bucket of the attempt that `probe` is in.
  Operand bucket(const StructureOp& op, OpId probe, std::uint64_t bytes) const {
    return {Operand::From::kAttempt, probe, bytes, bytes * op.slot, bytes * slots()};
  }
  Operand flag_of(const StructureOp& op, OpId probe) const { return bucket(op, probe, 8); }
  Operand entry_of(const StructureOp& op, OpId probe) const {
    return bucket(op, probe, slot_bytes());
  }
  Slice flag(const StructureOp& op) const { return {part(op.target).flags, 0, 8}; }
  Slice entry(const StructureOp& op, std::uint64_t bytes) const {
    return {part(op.target).entries, 0, bytes};
  }

  void insert(StructureOp& op) {
    const bool marks = op.level == Promise::kReadWrite;
    OpArguments arguments;
    arguments.compare = literal(0);
    arguments.operand = literal(marks ? kTaken | kWriting : kTaken);
    arguments.address_offset = flag_of(op, writer().next_op());
    op.first = add_atomic(OpKind::kCompareSwap, op, flag(op), arguments, op.after);
    add_retry(op.first, 1, slots());
    OpArguments there;
    there.address_offset = entry_of(op, op.first);
    op.last = add_put(op, entry(op, op.bytes), there, op.first);
    if (!marks) return;
    there.address_offset = flag_of(op, op.first);
    there.operand = literal(~kWriting);
    op.last = add_atomic(OpKind::kFetchAnd, op, flag(op), there, op.last);
  }

  void find(StructureOp& op) {
    const bool locks = op.level == Promise::kReadWrite;
    const std::uint64_t bit = std::uint64_t{1} << (kFirstReadBit + op.rank.value % kReadBits);
    OpArguments probe;
    const OpId first = writer().next_op();
    if (locks) {
      probe.address_offset = flag_of(op, first);
      probe.operand = literal(bit);
      op.first = add_atomic(OpKind::kFetchOr, op, flag(op), probe, op.after);
      probe.operand = {};
    }
    probe.address_offset = entry_of(op, first);
    probe.compare = literal(key_of(op.entry()));
    probe.compare_mask = kKeyMask;
    op.get = add_get(op, entry(op, entry_bytes()), landing(op, entry_bytes()), probe,
                     locks ? op.first : op.after);
    op.last = op.get;
    if (locks) {
      OpArguments unlock;
      unlock.address_offset = flag_of(op, op.first);
      unlock.operand = literal(~bit);
      op.last = add_atomic(OpKind::kFetchAnd, op, flag(op), unlock, op.get);
    } else {
      op.first = op.get;
    }
    add_retry(op.first, locks ? 3 : 1, slots());
  }
};

}  // namespace

StructureProgram hash_table_program(const Spec& spec) { return TableWriter(spec).run(); }

Schedule hash_table(const Spec& spec) { return hash_table_program(spec).schedule; }

namespace {

void read_load(const Option& option, std::string_view text, Spec& spec) {
  const auto value = base::whole_number<double>(text);
  const double ppm = std::round(value.value_or(0) * 1e6);
  if (!value || !(ppm >= 1) || !(*value <= 1)) {
    throw InputError(
        fmt::format("{}: '{}'; expected a load factor above 0 and at most 1", option.key, text));
  }
  spec.edit_own<StructureOptions>().load = {static_cast<std::uint32_t>(ppm)};
}
std::string write_load(const Option&, const Spec& spec) {
  return fmt::format("{}", spec.own<StructureOptions>().load.value / 1e6);
}

constexpr auto kTableOptions = option_list(
    kStructureOperations,
    choice_option<&StructureOptions::work>("op", "insert|find|both", "structures: what clients do"),
    kStructureAccess,
    Option{"load", "above 0, at most 1", "hash-table: keys a slot, fullest part", read_load,
           write_load},
    kStructureClients, kStructureTimes);

}  // namespace

constinit const PatternEntry kHashTablePattern =
    schedule_entry("hash-table", "inserts and finds in a distributed table, by RDMA or by call",
                   kTableOptions, hash_table, structure_ops, 600);

}  // namespace slackline::sched
