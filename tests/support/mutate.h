// Single-point defects, each picked by a seeded generator among all places where it can be made.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/draft.h"

namespace slackline::testing {

using Random = std::mt19937_64;

/// Breaks a draft at one place, or answers false if there is no such place.
using Mutation = std::function<bool(Draft&, Random&)>;

namespace mutation {

inline std::size_t pick(Random& random, std::size_t count) { return random() % count; }

/// Any operation for which `fits` holds.
template <class Fits>
std::optional<OpId> pick_op(const Draft& draft, Random& random, Fits&& fits) {
  std::vector<OpId> all;
  for (std::uint32_t i = 0; i < draft.ops.size(); ++i) {
    if (fits(draft.ops[i])) all.emplace_back(i);
  }
  if (all.empty()) return std::nullopt;
  return all[pick(random, all.size())];
}

inline std::optional<OpId> pick_kind(const Draft& draft, Random& random, OpKind kind) {
  return pick_op(draft, random, [&](const DraftOp& d) { return d.op.kind == kind; });
}

/// Any slice of any operation. That an atomic's two names of its word stay the same is seen to by
/// the caller's draft being refused.
inline Slice* pick_slice(Draft& draft, Random& random) {
  std::vector<Slice*> all;
  for (DraftOp& d : draft.ops) {
    if (is_atomic(d.op.kind)) continue;
    for (Slice& slice : d.reads) all.push_back(&slice);
    for (Slice& slice : d.writes) all.push_back(&slice);
  }
  return all.empty() ? nullptr : all[pick(random, all.size())];
}

inline bool shift(Draft& draft, Slice& slice, std::uint64_t by, bool up) {
  const std::uint64_t room = draft.buffers[slice.buffer.value].bytes - slice.bytes - slice.offset;
  if (up ? by > room : by > slice.offset) return false;
  slice.offset += up ? by : -by;
  return by != 0;
}

inline bool drop_edge(Draft& d, Random& random) {
  if (d.edges.empty()) return false;
  d.edges.erase(d.edges.begin() + static_cast<std::ptrdiff_t>(pick(random, d.edges.size())));
  return true;
}

inline bool weaken_edge(Draft& d, Random& random) {
  if (d.edges.empty()) return false;
  Edge& edge = d.edges[pick(random, d.edges.size())];
  edge.on = edge.on == On::kDone ? On::kIssued : On::kDone;
  return true;
}

inline bool retarget_edge(Draft& d, Random& random) {
  if (d.edges.empty()) return false;
  Edge& edge = d.edges[pick(random, d.edges.size())];
  const RankId rank = d.ops[edge.pred.value].op.rank;
  const auto other = pick_op(d, random, [&](const DraftOp& op) { return op.op.rank == rank; });
  (random() % 2 == 0 ? edge.pred : edge.succ) = *other;
  return true;
}

inline bool shift_by_byte(Draft& d, Random& random) {
  Slice* slice = pick_slice(d, random);
  return slice != nullptr && shift(d, *slice, 1, random() % 2 == 0);
}

inline bool shift_by_block(Draft& d, Random& random) {
  Slice* slice = pick_slice(d, random);
  return slice != nullptr && shift(d, *slice, slice->bytes, random() % 2 == 0);
}

inline bool shorten_slice(Draft& d, Random& random) {
  Slice* slice = pick_slice(d, random);
  if (slice == nullptr || slice->bytes == 0) return false;
  --slice->bytes;
  return true;
}

/// The slice of another operation, of the same length and on the same rank.
inline bool wrong_slice(Draft& d, Random& random) {
  Slice* slice = pick_slice(d, random);
  Slice* other = pick_slice(d, random);
  if (slice == nullptr || *slice == *other || slice->bytes != other->bytes ||
      d.buffers[slice->buffer.value].rank != d.buffers[other->buffer.value].rank) {
    return false;
  }
  *slice = *other;
  return true;
}

/// Two operations of one kind and rank change places in the program, with their edges.
inline bool swap_ops(Draft& d, Random& random, OpKind kind) {
  const auto first = pick_kind(d, random, kind);
  const auto second = pick_kind(d, random, kind);
  if (!first || *first == *second || d.ops[first->value].op.rank != d.ops[second->value].op.rank) {
    return false;
  }
  std::swap(d.ops[first->value], d.ops[second->value]);
  const auto swap_id = [&](OpId& id) { id = id == *first ? *second : id == *second ? *first : id; };
  for (Edge& edge : d.edges) {
    swap_id(edge.pred);
    swap_id(edge.succ);
  }
  return true;
}

/// Two operations of one kind and rank exchange their memory only.
inline bool swap_memory(Draft& d, Random& random, OpKind kind) {
  const auto first = pick_kind(d, random, kind);
  const auto second = pick_kind(d, random, kind);
  if (!first || *first == *second || d.ops[first->value].op.rank != d.ops[second->value].op.rank) {
    return false;
  }
  std::swap(d.ops[first->value].reads, d.ops[second->value].reads);
  std::swap(d.ops[first->value].writes, d.ops[second->value].writes);
  return true;
}

inline bool drop_op(Draft& d, Random& random, OpKind kind) {
  const auto op = pick_kind(d, random, kind);
  if (op) d.erase(*op);
  return op.has_value();
}

/// A message without bytes goes, both halves.
inline bool drop_credit(Draft& d, Random& random) {
  const auto send = pick_op(
      d, random, [](const DraftOp& op) { return op.op.kind == OpKind::kSend && op.reads.empty(); });
  if (!send) return false;
  const ChannelId channel = d.ops[send->value].op.channel;
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < send->value; ++i) {
    const Op& op = d.ops[i].op;
    number += op.channel == channel && op.kind == OpKind::kSend ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < d.ops.size(); ++i) {
    const Op& op = d.ops[i].op;
    if (op.channel != channel || op.kind != OpKind::kRecv || number-- != 0) continue;
    d.erase(OpId(std::max(i, send->value)));
    d.erase(OpId(std::min(i, send->value)));
    return true;
  }
  return false;
}

inline bool drop_pre(Draft& d, Random& random) {
  if (d.pre.empty()) return false;
  d.pre.erase(d.pre.begin() + static_cast<std::ptrdiff_t>(pick(random, d.pre.size())));
  return true;
}

inline bool shift_fact(Draft& d, Random& random) {
  std::vector<Fact>& facts = random() % 2 == 0 ? d.pre : d.post;
  if (facts.empty()) return false;
  facts[pick(random, facts.size())].value_offset += 1;
  return true;
}

inline bool reduce_window(Draft& d, Random& random) {
  Channel& channel = d.channels[pick(random, d.channels.size())];
  if (channel.window < 2) return false;
  --channel.window;
  return true;
}

inline bool promise_window(Draft& d, Random& random) {
  Channel& channel = d.channels[pick(random, d.channels.size())];
  if (channel.window != 0) return false;
  channel.window = 1 + static_cast<std::uint32_t>(random() % 2);
  return true;
}

inline bool unreliable(Draft& d, Random& random) {
  d.channels[pick(random, d.channels.size())].service = Service::kDatagram;
  return true;
}

inline bool swap_flags(Draft& d, Random& random) {
  if (d.flags.size() < 2) return false;
  auto& first = d.flags[pick(random, d.flags.size())];
  auto& second = d.flags[pick(random, d.flags.size())];
  if (&first == &second) return false;
  std::swap(first.second, second.second);
  return true;
}

inline bool drop_flag(Draft& d, Random& random) {
  if (d.flags.empty()) return false;
  d.flags.erase(d.flags.begin() + static_cast<std::ptrdiff_t>(pick(random, d.flags.size())));
  return true;
}

/// An operand of a reduce is added once more.
inline bool add_twice(Draft& d, Random& random) {
  const auto reduce = pick_kind(d, random, OpKind::kReduce);
  if (!reduce) return false;
  std::vector<Slice>& reads = d.ops[reduce->value].reads;
  reads.push_back(reads[pick(random, reads.size())]);
  return true;
}

/// One operand of a reduce takes another's place.
inline bool wrong_operand(Draft& d, Random& random) {
  const auto reduce = pick_kind(d, random, OpKind::kReduce);
  const auto other = pick_kind(d, random, OpKind::kReduce);
  if (!reduce || d.ops[reduce->value].op.rank != d.ops[other->value].op.rank) return false;
  std::vector<Slice>& reads = d.ops[reduce->value].reads;
  const std::vector<Slice>& others = d.ops[other->value].reads;
  Slice& slice = reads[pick(random, reads.size())];
  const Slice& instead = others[pick(random, others.size())];
  if (slice == instead || slice.bytes != instead.bytes) return false;
  slice = instead;
  return true;
}

}  // namespace mutation

/// Defects of sums. Kept apart, as most schedules have none.
inline std::vector<std::pair<std::string, Mutation>> sum_mutations() {
  using namespace mutation;  // NOLINT
  using std::placeholders::_1;
  using std::placeholders::_2;
  return {{"term added twice", add_twice},
          {"another's operand", wrong_operand},
          {"reduces' memory swapped", std::bind(swap_memory, _1, _2, OpKind::kReduce)},
          {"reduce dropped", std::bind(drop_op, _1, _2, OpKind::kReduce)}};
}

inline std::vector<std::pair<std::string, Mutation>> mutations() {
  using namespace mutation;  // NOLINT
  using std::placeholders::_1;
  using std::placeholders::_2;
  return {{"edge dropped", drop_edge},
          {"edge on the other event", weaken_edge},
          {"edge re-targeted", retarget_edge},
          {"slice shifted by a byte", shift_by_byte},
          {"slice shifted by a block", shift_by_block},
          {"slice shortened", shorten_slice},
          {"another's slice", wrong_slice},
          {"receives swapped", std::bind(swap_ops, _1, _2, OpKind::kRecv)},
          {"sends swapped", std::bind(swap_ops, _1, _2, OpKind::kSend)},
          {"puts swapped", std::bind(swap_ops, _1, _2, OpKind::kPut)},
          {"receives' memory swapped", std::bind(swap_memory, _1, _2, OpKind::kRecv)},
          {"sends' memory swapped", std::bind(swap_memory, _1, _2, OpKind::kSend)},
          {"copies' memory swapped", std::bind(swap_memory, _1, _2, OpKind::kCopy)},
          {"receive dropped", std::bind(drop_op, _1, _2, OpKind::kRecv)},
          {"send dropped", std::bind(drop_op, _1, _2, OpKind::kSend)},
          {"put dropped", std::bind(drop_op, _1, _2, OpKind::kPut)},
          {"get dropped", std::bind(drop_op, _1, _2, OpKind::kGet)},
          {"poll dropped", std::bind(drop_op, _1, _2, OpKind::kPoll)},
          {"copy dropped", std::bind(drop_op, _1, _2, OpKind::kCopy)},
          {"credit dropped", drop_credit},
          {"pre fact dropped", drop_pre},
          {"fact shifted", shift_fact},
          {"window reduced", reduce_window},
          {"window promised", promise_window},
          {"datagrams", unreliable},
          {"flags swapped", swap_flags},
          {"flag dropped", drop_flag}};
}

}  // namespace slackline::testing
