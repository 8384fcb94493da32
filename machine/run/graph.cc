#include "machine/run/graph.h"

#include <algorithm>
#include <bit>

namespace slackline::machine {

using sched::OpId;

namespace {

// They stand together, in the order of the operations that they come into.
std::span<const sched::Edge> edges_into(const sched::Schedule& schedule, sched::OpRange range) {
  if (range.count == 0) return {};
  const auto first = schedule.edges_into(range.first);
  const auto last = schedule.edges_into(range.id(range.count - 1));
  return {first.data(), last.data() + last.size()};
}

}  // namespace

RunGraph::RunGraph(const sched::Schedule& schedule, sched::OpRange range)
    : schedule_(schedule), tree_(schedule, range) {
  nodes_.reserve(tree_.nodes());
  if (tree_.empty()) {
    join_by_rank();
  } else {
    join_lifted();
  }
  nodes_.resize(tree_.nodes());
}

// A schedule's messages mostly have few different sizes.
inline std::uint8_t RunGraph::size_of(std::uint64_t bytes) {
  constexpr std::size_t kMost = 16;
  std::size_t size = 0;
  while (size < sizes_.size() && sizes_[size] != bytes) ++size;
  if (size == kMost) return Node::kAnySize;
  if (size == sizes_.size()) sizes_.push_back(bytes);
  return static_cast<std::uint8_t>(size);
}

// The order of a channel: calls visit(previous, next) for two operations that follow each other on
// one, the second of them between two places of the range. Writes down what nodes have of their
// operations.
template <class Visit>
void RunGraph::each_on_channel(std::uint32_t begin, std::uint32_t end, std::vector<OpId>& last,
                               const Visit& visit) {
  const sched::OpRange& range = tree_.range();
  for (std::uint32_t i = begin; i < end; ++i) {
    const sched::Op& o = schedule_.op(range.id(i));
    several_lanes_ = several_lanes_ || o.lane != 0;
    if (sched::is_initiator(o.kind)) {
      nodes_[i].size = size_of(schedule_.payload_bytes(o));
      nodes_[i].has_operands = o.arguments != sched::kNoArguments || sched::is_atomic(o.kind);
    }
    if (!sched::has_channel(o.kind)) continue;
    OpId& previous = last[2 * o.channel.value + (o.kind == sched::OpKind::kRecv ? 1 : 0)];
    if (previous.valid()) visit(previous, range.id(i));
    previous = range.id(i);
  }
}

inline void RunGraph::join(std::uint32_t pred, std::uint32_t succ, bool on_done) {
  ++nodes_[succ].waits;
  Node& node = nodes_[pred];
  const std::uint32_t by = succ - pred;
  const unsigned used = node.at_issue + unsigned{node.at_done};
  const bool is_near = by + 0x8000u <= 0xffffu;
  if (used >= Node::kNear || !is_near) return list(pred, {succ & 0x7fffffffu, on_done ? 1u : 0u});
  const std::uint64_t arc = by & 0xffffu;
  if (on_done) {
    node.arcs |= arc << kNearBits * used;
    ++node.at_done;
  } else {
    const unsigned before = kNearBits * node.at_issue;
    const std::uint64_t behind = node.arcs >> before;
    node.arcs ^= (behind ^ (behind << kNearBits) ^ arc) << before;
    ++node.at_issue;
  }
}

// A node's arcs have room for the next power of two, or for two. Once that is full, they move to
// the table's end, where they have twice as much. Those of regions and of what is around them are
// mostly here, since a region's node is far from its operations.
void RunGraph::list(std::uint32_t pred, Arc arc) {
  Node& node = nodes_[pred];
  auto first = static_cast<std::uint32_t>(node.arcs);
  auto count = static_cast<std::uint32_t>(node.arcs >> 32);
  if (node.at_issue != Node::kListed) {
    first = static_cast<std::uint32_t>(listed_.size());
    count = 0;
    const unsigned arcs = node.at_issue + unsigned{node.at_done} + 1;
    listed_.resize(listed_.size() + std::max(2u, std::bit_ceil(arcs)));
    each_at_issue(pred, node, [&](std::uint32_t to) {
      listed_[first + count++] = {to & 0x7fffffffu, 0};
    });
    each_at_done(pred, node, [&](std::uint32_t to) {
      listed_[first + count++] = {to & 0x7fffffffu, 1};
    });
    node.at_issue = Node::kListed;
  } else if (count > 1 && std::has_single_bit(count)) {
    const auto moved = static_cast<std::uint32_t>(listed_.size());
    listed_.resize(listed_.size() + 2 * std::size_t{count});
    std::copy_n(listed_.begin() + first, count, listed_.begin() + moved);
    first = moved;
  }
  listed_[first + count] = arc;
  node.arcs = std::uint64_t{count + 1} << 32 | first;
}

// Rank by rank, since no arc goes from one to another: so what is written of a rank's nodes is
// written while they are in the cache.
void RunGraph::join_by_rank() {
  const sched::OpRange& range = tree_.range();
  std::vector<OpId> last(2 * schedule_.channels().size());
  for (std::uint32_t begin = 0; begin < range.count;) {
    const OpId past = schedule_.end_op(schedule_.op(range.id(begin)).rank);
    const std::uint32_t end = std::min(range.count, range.place(past));
    nodes_.resize(end);
    each_on_channel(begin, end, last, [&](OpId previous, OpId next) {
      join(range.place(previous), range.place(next), false);
    });
    for (const sched::Edge& edge : edges_into(schedule_, {range.id(begin), end - begin})) {
      const std::uint32_t pred = range.place(edge.pred);
      nodes_[pred].is_awaited = true;
      join(pred, range.place(edge.succ), edge.on == sched::On::kDone);
    }
    begin = end;
  }
}

// All at once, since a region's node stands behind those of all operations.
void RunGraph::join_lifted() {
  const sched::OpRange& range = tree_.range();
  nodes_.resize(tree_.nodes());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> crossings;  // in and out of regions
  std::vector<OpId> last(2 * schedule_.channels().size());
  each_on_channel(0, range.count, last, [&](OpId previous, OpId next) {
    const auto [pred, succ] = tree_.lifted(previous, next);
    if (pred == range.place(previous) && succ == range.place(next)) {
      join(pred, succ, false);
    } else {
      crossings.emplace_back(pred, succ);
    }
  });
  const auto join_awaited = [&](std::uint32_t pred, std::uint32_t succ, bool on_done) {
    nodes_[pred].is_awaited = true;
    join(pred, succ, on_done);
  };
  for (const sched::Edge& edge : edges_into(schedule_, range)) {
    const auto [pred, succ] = tree_.lifted(edge.pred, edge.succ);
    join_awaited(pred, succ, tree_.is_region(pred) || edge.on == sched::On::kDone);
  }
  for (const auto& [pred, succ] : crossings) join_awaited(pred, succ, tree_.is_region(pred));
}

}  // namespace slackline::machine
