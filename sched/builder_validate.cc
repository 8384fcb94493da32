// What ScheduleBuilder::validate() finds.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "sched/builder.h"
#include "sched/kind_rules.h"
#include "sched/operands.h"
#include "sched/prefetch.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kNoStep = 0xffffffffu;  // one more than the highest step must fit
// Of a buffer, of what an operation or all of them carry, of a place in a value: so that no sum of
// two of them leaves 64 bits.
constexpr std::uint64_t kMostBytes = 0x7fffffffffffffffu;
using Wide = unsigned __int128;

// The rules of one table entry after another; each adds at most one finding for an operation.
class Validator {
 public:
  Validator(std::span<const Op> ops, std::span<const Buffer> buffers, std::span<const Slice> slices,
            std::span<const Channel> channels, const ArgumentTable& arguments, std::uint32_t ranks,
            bool grouped)
      : ops_(ops),
        buffers_(buffers),
        slices_(slices),
        channels_(channels),
        arguments_(arguments),
        ranks_(ranks),
        grouped_(grouped) {}

  Diagnostics found;

  bool clean() const { return clean_; }

  void check_buffer(std::size_t i) {
    if (buffers_[i].rank.value >= ranks_) {
      report({}, fmt::format("buffer {} belongs to rank {}, but there are {} ranks", i,
                             buffers_[i].rank.value, ranks_));
    } else if (buffers_[i].bytes > kMostBytes) {
      report({}, fmt::format("buffer {} has {} bytes; expected at most 2^63 - 1", i,
                             buffers_[i].bytes));
    }
  }

  void check_slice(std::size_t i) {
    const Slice& slice = slices_[i];
    if (slice.buffer.value >= buffers_.size()) {
      report({},
             fmt::format("slice {} is in buffer {}, which does not exist", i, slice.buffer.value));
      return;
    }
    const std::uint64_t size = buffers_[slice.buffer.value].bytes;
    if (slice.bytes > size || slice.offset > size - slice.bytes) {
      report({}, fmt::format("slice {} (offset {}, {} bytes) goes past the end of buffer {}, which "
                             "has {} bytes",
                             i, slice.offset, slice.bytes, slice.buffer.value, size));
    }
  }

  void check_channel(std::size_t i) {
    const Channel& channel = channels_[i];
    if (channel.src.value >= ranks_ || channel.dst.value >= ranks_) {
      report({}, fmt::format("channel {} joins ranks {} and {}, but there are {} ranks", i,
                             channel.src.value, channel.dst.value, ranks_));
    } else if (channel.credit_on.valid() && channel.credit_on.value >= channels_.size()) {
      report({}, fmt::format("channel {} has its credits on channel {}, which does not exist", i,
                             channel.credit_on.value));
    } else if (channel.credit_batch == 0) {
      report({}, fmt::format("channel {} has a credit batch of 0; expected at least 1", i));
    } else if (channel.bundle_delay.count() < 0) {
      report({}, fmt::format("channel {} has a negative bundle delay", i));
    }
  }

  // Most operations are sound, and a look at the whole of one costs less than asking for what may
  // be wrong, one thing after another. Slices and channels have no findings here.
  void check_op_of_sound_tables(std::size_t i) {
    if (!is_sound(ops_[i])) return check_op(i);
    check_arguments(i, ops_[i]);
  }

  void check_op(std::size_t i) {
    const Op& op = ops_[i];
    const OpId id(static_cast<std::uint32_t>(i));
    const auto kind = [&] { return name(op.kind); };
    const auto outside = [&](SliceRange range) {
      return range.first > slices_.size() || range.count > slices_.size() - range.first;
    };
    if (op.rank.value >= ranks_) {
      return report(id, fmt::format("op {} ({}) belongs to rank {}, but there are {} ranks", i,
                                    kind(), op.rank.value, ranks_));
    }
    if (op.step == kNoStep) {
      return report(id, fmt::format("op {} ({}) has step {}; expected less", i, kind(), op.step));
    }
    if (outside(op.reads) || outside(op.writes)) {
      return report(id, fmt::format("op {} ({}) names slices that do not exist", i, kind()));
    }
    if ((op.reads.count != 0 && !takes_reads(op.kind)) ||
        (op.writes.count != 0 && !takes_writes(op.kind))) {
      return report(id, fmt::format("op {}: a {} {} nothing of memory", i, kind(),
                                    takes_reads(op.kind) ? "writes" : "reads or writes"));
    }
    if (has_channel(op.kind)) {
      if (op.channel.value >= channels_.size()) {
        return report(id, fmt::format("op {} ({}) needs a channel", i, kind()));
      }
      const Channel& channel = channels_[op.channel.value];
      const RankId home = op.kind == OpKind::kRecv ? channel.dst : channel.src;
      if (home != op.rank) {
        return report(id,
                      fmt::format("op {} ({}) of rank {} is on channel {}, whose {} is rank {}", i,
                                  kind(), op.rank.value, op.channel.value,
                                  op.kind == OpKind::kRecv ? "destination" : "source", home.value));
      }
    } else if (op.channel.valid()) {
      return report(id, fmt::format("op {}: a {} has no channel", i, kind()));
    }
    if (op.notify != Notify::kNone && op.kind != OpKind::kPut) {
      return report(id, fmt::format("op {}: only a put notifies, not a {}", i, kind()));
    }
    check_places(i, op);
    check_bytes(id, op);
    check_arguments(i, op);
  }

  // Whether check_op() finds nothing, its arguments aside. If so, counts what it carries. What
  // names more slices may be sound as well.
  bool is_sound(const Op& op) {
    const KindRules& rules = kKindRules[static_cast<std::size_t>(op.kind)];
    if (op.rank.value >= ranks_ || op.step == kNoStep || op.reads.count > rules.reads ||
        op.writes.count > (rules.writes ? 1u : 0u) ||
        op.reads.first + std::uint64_t{op.reads.count} > slices_.size() ||
        op.writes.first + std::uint64_t{op.writes.count} > slices_.size() ||
        (op.notify != Notify::kNone && !rules.notifies)) {
      return false;
    }
    RankId target = op.rank;
    if (rules.on_channel) {
      if (op.channel.value >= channels_.size()) return false;
      const Channel& channel = channels_[op.channel.value];
      if ((rules.at_destination ? channel.dst : channel.src) != op.rank) return false;
      target = channel.dst;
    } else if (op.channel.valid()) {
      return false;
    }
    if (rules.in_place && (op.reads.count == 0 || op.reads != op.writes)) return false;
    if (op.kind == OpKind::kReduce && op.writes.count == 0) return false;
    std::uint64_t bytes = 0;
    if (op.writes.count != 0) {
      const Slice& slice = slices_[op.writes.first];
      if (buffers_[slice.buffer.value].rank != (rules.writes_remote ? target : op.rank))
        return false;
      bytes = slice.bytes;
    }
    if (op.reads.count != 0) {
      bytes = 0;  // no more than 2^64 - 2
      for (const Slice& slice : slices_.subspan(op.reads.first, op.reads.count)) {
        if (buffers_[slice.buffer.value].rank != (rules.reads_remote ? target : op.rank))
          return false;
        bytes += slice.bytes;
      }
      if (bytes > kMostBytes) return false;
    }
    if (rules.initiates) carried_ += bytes;
    return true;
  }

  void check_bytes(OpId id, const Op& op) {
    if ((op.reads.count | op.writes.count) == 0) return;
    const Wide reads = bytes_of(op.reads);
    const Wide writes = bytes_of(op.writes);
    if (std::max(reads, writes) > kMostBytes) {
      report(id, fmt::format("op {} ({}) names 2^63 bytes or more; expected less", id.value,
                             name(op.kind)));
    }
    if (is_initiator(op.kind)) carried_ += op.reads.count != 0 ? reads : writes;
  }

  void check_all_bytes() {
    if (carried_ <= kMostBytes) return;
    report({}, "the messages carry 2^63 bytes or more in all; expected less");
  }

  void check_places(std::size_t i, const Op& op) {
    const OpId id(static_cast<std::uint32_t>(i));
    const bool remote_read = op.kind == OpKind::kGet;
    const bool remote_write = op.kind == OpKind::kPut;
    const auto expect = [&](SliceRange range, RankId rank, std::string_view side) {
      const RankId owner = foreign_owner(range, rank);
      if (!owner.valid()) return;
      report(id, fmt::format("op {} ({}) {} memory of rank {}; expected rank {}", i, name(op.kind),
                             side, owner.value, rank.value));
    };
    const RankId target = has_channel(op.kind) ? channels_[op.channel.value].dst : op.rank;
    if (is_atomic(op.kind)) {
      if (op.reads.count != 1 || op.writes.count < 1 || op.writes.count > 2 ||
          slices_[op.reads.first] != slices_[op.writes.first]) {
        report(id, fmt::format("op {}: a {} reads and writes one remote slice, and writes at most "
                               "one local result",
                               i, name(op.kind)));
        return;
      }
      expect(op.reads, target, "reads");
      expect({op.writes.first + 1, op.writes.count - 1}, op.rank, "writes");
      return;
    }
    expect(op.reads, remote_read ? target : op.rank, "reads");
    expect(op.writes, remote_write ? target : op.rank, "writes");
    if (op.kind == OpKind::kReduce && op.writes.count != 1) {
      report(id, fmt::format("op {}: a reduce writes one slice, not {}", i, op.writes.count));
    }
  }

  // Of the first slice that is not in memory of `rank`; none() if all are, as far as their buffers
  // exist.
  RankId foreign_owner(SliceRange range, RankId rank) const {
    for (const Slice& slice : slices_.subspan(range.first, range.count)) {
      if (slice.buffer.value >= buffers_.size()) break;
      const RankId owner = buffers_[slice.buffer.value].rank;
      if (owner != rank) return owner;
    }
    return RankId::none();
  }

  void check_arguments(std::size_t i, const Op& op) {
    if (op.arguments == kNoArguments) return;
    const bool lasts = op.kind == OpKind::kCalc || op.kind == OpKind::kDelay;
    if (lasts && arguments_.only_duration(op.arguments)) return;
    const OpId id(static_cast<std::uint32_t>(i));
    const OpArguments arguments = arguments_[op.arguments];
    const bool counts = op.kind == OpKind::kReduce && bytes_of(op.writes) == 8;
    const bool timed = lasts || counts;
    const auto absent = [](const Operand& o) { return o.from == Operand::From::kAbsent; };
    if (arguments.duration.count() < 0 || (arguments.duration.count() != 0 && !timed)) {
      report(id, fmt::format("op {} ({}) has a duration it cannot have", i, name(op.kind)));
    } else if ((!absent(arguments.operand) && !is_atomic(op.kind)) ||
               (!absent(arguments.compare) && !has_reply(op.kind)) ||
               (!absent(arguments.address_offset) &&
                (op.kind == OpKind::kSend || !is_initiator(op.kind)))) {
      report(id, fmt::format("op {} ({}) has an operand it cannot have", i, name(op.kind)));
    }
    check_test(id, op, arguments);
    for (const Operand* operand : operands(arguments)) {
      if (!check_operand(id, op, *operand)) return;
    }
  }

  void check_test(OpId id, const Op& op, const OpArguments& arguments) {
    const OpArguments defaults;
    const bool plain =
        arguments.compare_mask == defaults.compare_mask && arguments.expect == defaults.expect;
    const bool tested = arguments.compare.from != Operand::From::kAbsent;
    if (!plain && (!tested || op.kind == OpKind::kCompareSwap)) {
      report(id, fmt::format("op {} ({}) has a mask or an expectation it cannot have", id.value,
                             name(op.kind)));
    } else if (tested && op.kind == OpKind::kGet && !in_one_piece(op.reads)) {
      report(id, fmt::format("op {} (get) is tested, but does not read one piece of 1 byte or more",
                             id.value));
    }
  }

  Wide bytes_of(SliceRange range) const {
    if (range.count == 1) return slices_[range.first].bytes;
    Wide sum = 0;
    for (const Slice& slice : slices_.subspan(range.first, range.count)) sum += slice.bytes;
    return sum;
  }

  bool in_one_piece(SliceRange range) const {
    if (range.count != 1 || range.first >= slices_.size()) return false;
    return slices_[range.first].bytes >= 1;
  }

  bool check_operand(OpId id, const Op& op, const Operand& operand) {
    if (!operand.is_dynamic()) {
      if (operand.addend == 0 && operand.modulus == 0) return true;
      report(id, fmt::format("op {} ({}) has a literal operand with more than its value", id.value,
                             name(op.kind)));
      return false;
    }
    const bool result = operand.from == Operand::From::kResult;
    if (operand.op.value >= ops_.size() || ops_[operand.op.value].rank != op.rank ||
        (result && !has_reply(ops_[operand.op.value].kind))) {
      report(id, fmt::format("op {} ({}) uses the {} of op {}, which is not {} of its rank",
                             id.value, name(op.kind), result ? "result" : "attempt",
                             operand.op.value, result ? "a get or an atomic" : "an operation"));
      return false;
    }
    return true;
  }

  // Where operations are grouped few of them are looked at: of an edge between two places in what
  // one rank has, both are of that rank.
  void check_edges(std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      if (!clean()) return;
      prefetch_ahead(&edge);
      const std::size_t pred = edge.pred.value;
      const std::size_t succ = edge.succ.value;
      if (grouped_ && succ >= end_of_rank_ && succ < ops_.size()) look_at_rank_of(succ);
      if (pred < first_of_rank_ || pred >= end_of_rank_ || succ < first_of_rank_ ||
          succ >= end_of_rank_) {
        check_edge(edge);
      }
    }
  }

  void check_edge(const Edge& edge) {
    if (edge.pred.value >= ops_.size() || edge.succ.value >= ops_.size()) {
      report({}, fmt::format("an edge joins ops {} and {}, but there are {} ops", edge.pred.value,
                             edge.succ.value, ops_.size()));
    } else if (ops_[edge.pred.value].rank != ops_[edge.succ.value].rank) {
      report(edge.succ,
             fmt::format("an edge joins op {} of rank {} to op {} of rank {}; edges join "
                         "operations of one rank",
                         edge.pred.value, ops_[edge.pred.value].rank.value, edge.succ.value,
                         ops_[edge.succ.value].rank.value));
    }
  }

  void check_flag_match(OpId put, OpId poll) {
    if (put.value >= ops_.size() || poll.value >= ops_.size()) {
      report({}, fmt::format("a flag joins ops {} and {}, but there are {} ops", put.value,
                             poll.value, ops_.size()));
      return;
    }
    const Op& from = ops_[put.value];
    const Op& to = ops_[poll.value];
    if (from.kind != OpKind::kPut || from.notify != Notify::kFlag || to.kind != OpKind::kPoll) {
      report(poll, fmt::format("a flag joins a put that notifies by flag to a poll, not op {} ({}) "
                               "to op {} ({})",
                               put.value, name(from.kind), poll.value, name(to.kind)));
    } else if (channels_[from.channel.value].dst != to.rank) {
      report(poll, fmt::format("op {} (poll) is of rank {}, but its put writes to rank {}",
                               poll.value, to.rank.value, channels_[from.channel.value].dst.value));
    }
  }

  void check_region(std::size_t i, const Region& region) {
    if (region.entry.value >= ops_.size() || region.count == 0) {
      report({}, fmt::format("region {} holds no operations or some that do not exist", i));
    } else if (region.count > left_on_rank(region.entry)) {
      report(region.entry, fmt::format("region {} goes past the end of rank {}'s program", i,
                                       ops_[region.entry.value].rank.value));
    } else if (region.max_attempts == 0 || region.p.value > 1'000'000 ||
               region.backoff.count() < 0) {
      report(region.entry, fmt::format("region {} has no attempts, a probability above one million "
                                       "parts per million, or a negative backoff",
                                       i));
    }
  }

  // How many operations a rank's program has from this one on; other ranks' may stand between.
  std::size_t left_on_rank(OpId op) {
    if (grouped_) {
      if (op.value < first_of_rank_ || op.value >= end_of_rank_) look_at_rank_of(op.value);
      return end_of_rank_ - op.value;
    }
    if (left_on_rank_.empty()) {
      left_on_rank_.resize(ops_.size());
      std::vector<std::uint32_t> left(ranks_, 0);
      for (std::size_t i = ops_.size(); i-- > 0;) left_on_rank_[i] = ++left[ops_[i].rank.value];
    }
    return left_on_rank_[op.value];
  }

  void check_fact(const Fact& fact, std::string_view side) {
    if (fact.slice.buffer.value >= buffers_.size()) {
      report({}, fmt::format("a {} fact is about buffer {}, which does not exist", side,
                             fact.slice.buffer.value));
      return;
    }
    const std::uint64_t size = buffers_[fact.slice.buffer.value].bytes;
    if (fact.slice.bytes > size || fact.slice.offset > size - fact.slice.bytes) {
      report({}, fmt::format("a {} fact goes past the end of buffer {}, which has {} bytes", side,
                             fact.slice.buffer.value, size));
    }
    if (fact.value_offset > kMostBytes) {
      report({}, fmt::format("a {} fact is about bytes of a value from {} on; expected at most "
                             "2^63 - 1",
                             side, fact.value_offset));
    }
    const bool pre = side == "pre";
    if (fact.terms == 0 || (pre && fact.terms != 1) ||
        (fact.terms > 1 && fact.value.value > ValueId::none().value - fact.terms)) {
      report({},
             fmt::format("a {} fact is about {} values from {} on; expected {}", side, fact.terms,
                         fact.value.value, pre ? "1" : "1 or more, below 2^32 - 1"));
    }
  }

  void report(OpId op, std::string message) {
    found.push_back({Code::kStructure, Severity::kError, op, std::move(message)});
    clean_ = found.size() < kMostFound;
  }

 private:
  static constexpr std::size_t kMostFound = 20;

  // Where operations are grouped: at those of the rank that the i-th is of.
  void look_at_rank_of(std::size_t i) {
    const auto [begin, end] =
        std::equal_range(ops_.begin(), ops_.end(), ops_[i],
                         [](const Op& a, const Op& b) { return a.rank < b.rank; });
    first_of_rank_ = static_cast<std::size_t>(begin - ops_.begin());
    end_of_rank_ = static_cast<std::size_t>(end - ops_.begin());
  }

  std::span<const Op> ops_;
  std::span<const Buffer> buffers_;
  std::span<const Slice> slices_;
  std::span<const Channel> channels_;
  ArgumentTable arguments_;
  std::uint32_t ranks_;
  bool grouped_;  // each rank's operations stand together, in the order of ranks
  bool clean_ = true;
  std::size_t first_of_rank_ = 0;            // of the operations of the rank that is looked at…
  std::size_t end_of_rank_ = 0;              // …and what is behind them
  std::vector<std::uint32_t> left_on_rank_;  // if they are not grouped
  Wide carried_ = 0;                         // by all messages
};

}  // namespace

Diagnostics ScheduleBuilder::validate() const {
  if (turns_) {
    ScheduleBuilder all = *this;
    all.end_turns();
    return all.validate();
  }
  const ArgumentTable arguments(argument_cells_);
  Validator validator(ops_, buffers_, slices_, channels_, arguments, ranks_, grouped_);
  if (ops_.size() >= (1ull << 31) || slices_.size() >= (1ull << 32) ||
      edges_.size() >= (1ull << 32)) {
    validator.report({}, "the schedule is too large; expected fewer than 2^31 operations");
    return validator.found;
  }
  for (std::size_t i = 0; i < buffers_.size() && validator.clean(); ++i) validator.check_buffer(i);
  for (std::size_t i = 0; i < slices_.size() && validator.clean(); ++i) {
    prefetch_ahead(&slices_[i]);
    validator.check_slice(i);
  }
  for (std::size_t i = 0; i < channels_.size() && validator.clean(); ++i) {
    validator.check_channel(i);
  }
  const bool sound_tables = validator.found.empty();
  for (std::size_t i = 0; i < ops_.size() && validator.clean(); ++i) {
    prefetch_ahead(&ops_[i]);
    if (i + kFetchedAhead < ops_.size()) prefetch(ops_[i + kFetchedAhead], slices_, arguments);
    sound_tables ? validator.check_op_of_sound_tables(i) : validator.check_op(i);
  }
  validator.check_all_bytes();
  validator.check_edges(edges_);
  if (!validator.found.empty()) return validator.found;  // what follows looks things up
  for (std::size_t i = 0; i < flag_matches_.size(); ++i) {
    prefetch_matched(i, ops_);
    validator.check_flag_match(flag_matches_[i].put, flag_matches_[i].poll);
  }
  std::vector<bool> flagged(flag_matches_.empty() ? 0 : ops_.size());
  OpId twice;
  for (const FlagMatch& match : flag_matches_) {
    for (const OpId op : {match.put, match.poll}) {
      if (op.value >= ops_.size()) continue;  // which has been found already
      if (flagged[op.value] && (!twice.valid() || op < twice)) twice = op;
      flagged[op.value] = true;
    }
  }
  if (twice.valid()) {
    validator.report(twice, fmt::format("op {} is matched by two flags", twice.value));
  }
  for (std::size_t i = 0; i < regions_.size(); ++i) validator.check_region(i, regions_[i]);
  for (const Fact& fact : contract_.pre) {
    prefetch_ahead(&fact);
    validator.check_fact(fact, "pre");
  }
  for (const Fact& fact : contract_.post) {
    prefetch_ahead(&fact);
    validator.check_fact(fact, "post");
  }
  return validator.found;
}

}  // namespace slackline::sched
