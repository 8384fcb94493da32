#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "sched/verify/access.h"
#include "sched/verify/checks.h"
#include "sched/verify/conflicts.h"
#include "sched/verify/segments.h"
#include "sched/verify/sums.h"
#include "sched/verify/values.h"

namespace slackline::sched {
namespace {

class MemoryChecker {
 public:
  MemoryChecker(const Schedule& schedule, const SegmentTable& segments, bool joins,
                const std::vector<bool>& lowers, const OperationOrder& order,
                const MemoryLimit& limit, OrderProver& prover, Findings& findings)
      : schedule_(schedule),
        order_(order),
        limit_(limit),
        findings_(findings),
        value_findings_(Findings::like(findings)),
        segments_(segments),
        lowers_(lowers),
        conflicts_(schedule, segments_, joins, prover, findings),
        values_(segments_, joins) {}

  void run() {
    place_pre_facts();
    for (const OpId id : order_.sequence) {
      if (findings_.full()) return;
      take(id, schedule_.op(id));
    }
    if (conflicts_.found_races()) return;  // what memory holds depends on the order taken
    for (const Fact& fact : schedule_.contract().post) check_post(fact);
    findings_.merge(std::move(value_findings_));
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Snapshot {
    std::size_t first;
    std::size_t count;
  };

  std::string who(OpId id) const { return describe(schedule_, id); }

  std::string text(const SymbolicValue& value) const {
    return value.origin == SymbolicValue::Origin::kSum ? sums_.describe(value)
                                                       : describe(schedule_, value);
  }

  void place_pre_facts() {
    for (const Fact& fact : schedule_.contract().pre) {
      const SymbolicValue value{fact.value_offset, fact.value.value,
                                SymbolicValue::Origin::kContract};
      // What an earlier fact left in place does not match unless both say the same.
      if (const auto clash = values_.mismatch(fact.slice, value);
          clash && clash->found.origin != SymbolicValue::Origin::kNothing) {
        findings_.error(
            Code::kStructure, OpId::none(),
            fmt::format("two pre facts speak of {}: one says {}, one {}",
                        describe(schedule_, clash->slice), describe(schedule_, clash->found),
                        describe(schedule_, clash->expected)));
      }
      values_.set(segments_.run(fact.slice), value);
    }
  }

  void take(OpId id, const Op& op) {
    if (op.arguments != kNoArguments) check_operands(id, op);
    switch (op.kind) {
      case OpKind::kSend:
        read_all(id, op);
        if (issued_before(op.match, id)) {
          write_values(op.match, schedule_.op(op.match));
        } else {
          keep(id);
        }
        break;
      case OpKind::kRecv:
        write_access(id, op);
        if (schedule_.op(op.match).kind == OpKind::kSend && issued_before(op.match, id)) {
          restore(op.match);
          write_values(id, op);
        }
        break;
      case OpKind::kPut:
        read_all(id, op);
        write_access(id, op);
        if (op.notify == Notify::kFlag) {
          raise_flag(id, op);
        } else {
          write_values(id, op);
        }
        break;
      case OpKind::kGet:
      case OpKind::kCopy:
        read_all(id, op);
        write_access(id, op);
        write_values(id, op);
        break;
      case OpKind::kReduce:
        combine(id, op);
        write_access(id, op);
        write_values(id, op);
        break;
      case OpKind::kPoll:
        segments_.for_each_read(op,
                                [&](SegmentRun run) { conflicts_.access(id, run, Access::kRead); });
        if (issued_before(op.match, id)) lower_flag(id, op);
        break;
      default:
        if (is_atomic(op.kind)) take_atomic(id, op);
    }
  }

  // A put with a flag, whose poll looks at what it finds there. A poll that waits already is done
  // with it.
  void raise_flag(OpId id, const Op& op) {
    static constexpr std::array kZeros{SymbolicValue::Origin::kNothing,
                                       SymbolicValue::Origin::kLowered};
    static constexpr std::array kNeverZero{SymbolicValue::Origin::kContract};
    const Op& poll = schedule_.op(op.match);
    const SegmentRun flag = segments_.read_run(poll);
    const auto before = values_.other_than(flag, kZeros);
    write_values(id, op);
    if (before) {
      value_findings_.error(
          Code::kFlag, op.match,
          fmt::format("{} polls {} for {}, but before it {} stands there; expected zeros",
                      who(op.match), describe(schedule_, before->slice), who(id),
                      text(before->value)));
    }
    if (const auto after = values_.other_than(flag, kNeverZero)) {
      value_findings_.error(
          Code::kFlag, op.match,
          fmt::format("{} polls {}, where {} puts {}, of which bytes may be zero; expected a value "
                      "of the contract",
                      who(op.match), describe(schedule_, after->slice), who(id),
                      text(after->value)));
    }
    if (issued_before(op.match, id)) lower_flag(op.match, poll);
  }

  void lower_flag(OpId id, const Op& op) {
    if (lowers_.empty() || !lowers_[id.value]) return;
    values_.set(segments_.read_run(op), {0, id.value, SymbolicValue::Origin::kLowered});
  }

  void take_atomic(OpId id, const Op& op) {
    const SegmentRun word = segments_.run(atomic_word(schedule_, op));
    payload_.clear();
    conflicts_.access(id, word, Access::kAtomic);
    values_.set(word, {0, id.value, SymbolicValue::Origin::kWord});
    write_access(id, op);
    write_fresh(id, op, SymbolicValue::Origin::kFetched);
  }

  void check_operands(OpId id, const Op& op) {
    const OpArguments& arguments = schedule_.arguments(op);
    for (const Operand* operand : {&arguments.operand, &arguments.compare}) {
      if (operand->from == Operand::From::kResult) conflicts_.check_operand(id, operand->op);
    }
  }

  // Whether it may meet memory that nothing wrote, which holds zeros.
  bool looks_for_zeros(OpId id) const {
    const Op& op = schedule_.op(id);
    return op.kind == OpKind::kGet &&
           schedule_.arguments(op).compare.from != Operand::From::kAbsent;
  }

  bool issued_before(OpId first, OpId second) const {
    return order_.position[first.value] < order_.position[second.value];
  }

  // Gathers what the operation reads into payload_.
  void read_all(OpId id, const Op& op) {
    payload_.clear();
    segments_.for_each_read(op, [&](SegmentRun run) {
      conflicts_.access(id, run, Access::kRead);
      read(id, run);
    });
  }

  // Sums what the operation reads into payload_.
  void combine(OpId id, const Op& op) {
    Pieces sum;
    bool first = true;
    segments_.for_each_read(op, [&](SegmentRun run) {
      payload_.clear();
      conflicts_.access(id, run, Access::kRead);
      read(id, run);
      sum = first ? payload_ : add(sums_, sum, payload_, id);
      first = false;
    });
    payload_ = std::move(sum);
  }

  void read(OpId id, SegmentRun run) {
    const auto missing = values_.gather(run, id, payload_);
    if (!missing || looks_for_zeros(id)) return;
    if (missing->value.origin == SymbolicValue::Origin::kLowered) {
      value_findings_.error(
          Code::kFlag, id,
          fmt::format("{} reads {}, which holds {}: what is polled again is no "
                      "data",
                      who(id), describe(schedule_, missing->slice), text(missing->value)));
      return;
    }
    value_findings_.error(Code::kUninitialised, id,
                          fmt::format("{} reads {}, which nothing wrote", who(id),
                                      describe(schedule_, missing->slice)));
  }

  void write_access(OpId id, const Op& op) {
    segments_.for_each_write(op,
                             [&](SegmentRun run) { conflicts_.access(id, run, Access::kWrite); });
  }

  // Scatters payload_ to where the operation writes.
  void write_values(OpId id, const Op& op) {
    ValueMap::Scatter scatter(values_, payload_);
    segments_.for_each_write(op, [&](SegmentRun run) { scatter.into(run); });
    const bool local = op.kind == OpKind::kCopy || op.kind == OpKind::kReduce;
    if (scatter.unchanged_bytes() == 0 || local || op.notify == Notify::kFlag ||
        !value_findings_.takes_warnings()) {
      return;
    }
    const Slice first = segments_.slice(scatter.first_unchanged());
    value_findings_.warning(
        Code::kDuplicate, id,
        fmt::format("{} brings {} bytes that stand there already, the first at {}", who(id),
                    scatter.unchanged_bytes(), describe(schedule_, first)));
  }

  void write_fresh(OpId id, const Op& op, SymbolicValue::Origin origin) {
    segments_.for_each_write(op, [&](SegmentRun run) { values_.set(run, {0, id.value, origin}); });
  }

  // Keeps payload_ until the receive of `send` is issued.
  void keep(OpId send) {
    if (snapshot_of_.empty()) snapshot_of_.resize(schedule_.op_count(), kNone);
    snapshot_of_[send.value] = static_cast<std::uint32_t>(snapshots_.size());
    snapshots_.push_back({kept_.size(), payload_.size()});
    if (const std::size_t need = kept_.size() + payload_.size(); need > kept_.capacity()) {
      const std::size_t room = std::max(need, 2 * kept_.capacity());
      limit_.require((kept_.capacity() + room) * sizeof(Piece),
                     fmt::format("the proof: {} pieces of values in messages under way,", need),
                     kLessProof);
      kept_.reserve(room);
    }
    kept_.insert(kept_.end(), payload_.begin(), payload_.end());
  }

  void restore(OpId send) {
    const Snapshot& snapshot = snapshots_[snapshot_of_[send.value]];
    const auto first = kept_.begin() + static_cast<std::ptrdiff_t>(snapshot.first);
    payload_.assign(first, first + static_cast<std::ptrdiff_t>(snapshot.count));
  }

  void check_post(const Fact& fact) {
    const auto wrong = values_.mismatch(fact.slice, sums_.expected(fact));
    if (!wrong) return;
    std::string writer;
    if (const OpId op = conflicts_.last_writer(segments_.holding(wrong->slice)); op.valid()) {
      writer = fmt::format(", last written by {}", who(op));
    }
    findings_.error(Code::kPost, OpId::none(),
                    fmt::format("{} should hold {} at the end, but what stands there is {}{}",
                                describe(schedule_, wrong->slice), text(wrong->expected),
                                text(wrong->found), writer));
  }

  const Schedule& schedule_;
  const OperationOrder& order_;
  const MemoryLimit& limit_;
  Findings& findings_;
  Findings value_findings_;  // of what memory holds
  const SegmentTable& segments_;
  const std::vector<bool>& lowers_;  // by operation; empty if no poll lowers its flag
  ConflictChecker conflicts_;
  ValueMap values_;
  SumTable sums_;
  Pieces payload_;
  // Messages on their way to receives that are not issued yet.
  std::vector<std::uint32_t> snapshot_of_;  // by operation
  std::vector<Snapshot> snapshots_;
  Pieces kept_;
};

}  // namespace

void check_memory(const Schedule& schedule, const SegmentTable& segments, bool joins,
                  const std::vector<bool>& lowers, const OperationOrder& order,
                  const MemoryLimit& limit, OrderProver& prover, Findings& findings) {
  MemoryChecker(schedule, segments, joins, lowers, order, limit, prover, findings).run();
}

}  // namespace slackline::sched
