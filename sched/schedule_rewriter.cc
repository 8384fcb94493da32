#include "sched/schedule_rewriter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sched/operands.h"
#include "sched/prefetch.h"

namespace slackline::sched {
namespace {

RankId moved(RankId rank, const PartPlace& place) {
  return place.rank_of.empty() ? rank : place.rank_of[rank.value];
}

Slice moved(Slice slice, const TableBases& bases) {
  slice.buffer.value += bases.buffer;
  return slice;
}

}  // namespace

TableBases copy_tables(const Schedule& schedule, ScheduleBuilder& out, const PartPlace& place) {
  TableBases bases;
  out.set_title(schedule.title());
  out.set_message_bytes(schedule.message_bytes());
  for (std::uint32_t b = 0; b < schedule.buffers().size(); ++b) {
    const Buffer& buffer = schedule.buffers()[b];
    bases.buffer = out.add_buffer(moved(buffer.rank, place), buffer.bytes).value - b;
  }
  bases.slice = out.add_slices({}).first;
  if (bases.buffer == 0) {
    out.add_slices(schedule.slices());
  } else {
    for (const Slice& slice : schedule.slices()) out.add_slice(moved(slice, bases));
  }
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    Channel channel = schedule.channels()[c];
    channel.src = moved(channel.src, place);
    channel.dst = moved(channel.dst, place);
    const ChannelId id = out.add_channel(channel);
    bases.channel = id.value - c;
    if (channel.credit_on.valid()) out.channel(id).credit_on.value += bases.channel;
  }
  const auto moved_fact = [&](Fact fact) {
    fact.slice = moved(fact.slice, bases);
    fact.value.value += place.first_value;
    return fact;
  };
  for (const Fact& fact : schedule.contract().pre) out.add_pre(moved_fact(fact));
  for (const Fact& fact : schedule.contract().post) out.add_post(moved_fact(fact));
  return bases;
}

std::uint64_t value_count(const Contract& contract) {
  std::uint64_t count = 0;
  for (const auto* facts : {&contract.pre, &contract.post}) {
    for (const Fact& fact : *facts) {
      count = std::max(count, std::uint64_t{fact.value.value} + fact.terms);
    }
  }
  return count;
}

ScheduleRewriter::ScheduleRewriter(const Schedule& in, ScheduleBuilder& out, const PartPlace& place)
    : in_(in), out_(out), place_(place), bases_(copy_tables(in, out, place)), now_(in.op_count()) {}

OpId ScheduleRewriter::keep(OpId id) {
  Op op = in_.op(id);
  op.rank = moved(op.rank, place_);
  if (op.channel.valid()) op.channel.value += bases_.channel;
  if (op.reads.count != 0) op.reads.first += bases_.slice;
  if (op.writes.count != 0) op.writes.first += bases_.slice;
  OpId& now = now_[id.value];
  if (op.arguments == kNoArguments) return now = out_.add(op);
  const OpArguments arguments = in_.arguments(op);
  now = out_.add(op, arguments);
  for (const Operand* operand : operands(arguments)) {
    if (operand->op.valid()) return dependent_.emplace_back(now);
  }
  return now;
}

OpId ScheduleRewriter::named(OpId id) const {
  const OpId now = now_[id.value];
  if (now.valid()) return now;
  throw InternalError(fmt::format("{} is dropped, and still named", describe(in_, id)));
}

void ScheduleRewriter::keep_edges(RankId rank) {
  next_rank_ = rank.value + 1;
  const std::uint32_t end = in_.end_op(rank).value;
  for (std::uint32_t i = in_.first_op(rank).value; i < end; ++i) {
    const OpId now = now_[i];
    if (!now.valid()) continue;
    for (const Edge& edge : in_.edges_into(OpId(i))) {
      prefetch_ahead(&edge);
      const OpId pred = now_[edge.pred.value];
      if (pred.valid()) out_.add_edge(pred, now, edge.on);
    }
    const Op& op = in_.ops()[i];
    if (op.notify != Notify::kFlag || !op.match.valid()) continue;
    flag_matches_.push_back({OpId(i), op.match});
  }
}

void ScheduleRewriter::finish() {
  while (next_rank_ < in_.rank_count()) keep_edges(RankId(next_rank_));
  for (const FlagMatch& match : flag_matches_) {
    const OpId poll = now_[match.poll.value];
    if (poll.valid()) out_.add_flag_match(now_[match.put.value], poll);
  }
  for (const OpId dependent : dependent_) {
    out_.rename_operands(dependent, [this](OpId op) { return named(op); });
  }
  for (Region region : in_.regions()) {
    const OpId last(region.entry.value + region.count - 1);
    region.entry = named(region.entry);
    region.count = named(last).value - region.entry.value + 1;
    out_.add_region(region);
  }
}

}  // namespace slackline::sched
