#include "sched/workloads/calls/call_memory.h"

#include <algorithm>

namespace slackline::sched {

CallMemory::CallMemory(const Spec& spec, CallShape shape, ProgramWriter& out)
    : spec_(spec),
      bytes_(spec.multicast.bytes),
      root_(spec.multicast.root),
      options_(spec.own<CallOptions>()),
      shape_(shape),
      one_sided_(options_.via == CallVia::kWrite),
      in_record_(shape.carries == Carries::kInRecord || shape.carries == Carries::kReturned),
      record_(kCallWord + (in_record_ ? spec.multicast.bytes : 0)),
      read_(options_.reads == CallReads::kAll ? record_ : kCallWord),
      stride_(record_ + (one_sided_ ? kCallWord : 0)),
      chunks_(spec, stride_),
      notifies_(options_.notify == CallNotify::kConsume && shape.carries != Carries::kReturned),
      out_(out),
      nodes_(spec.multicast.ranks) {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) add_node(i);
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) add_channels(nodes_[i]);
  add_facts();
}

RankId CallMemory::rank_of(std::uint32_t index) const {
  if (index == 0) return root_;
  return index == root_.value ? RankId(0) : RankId(index);
}

void CallMemory::add_node(std::uint32_t i) {
  CallNode& node = nodes_[i];
  node.rank = rank_of(i);
  node.mark = out_.add_buffer(node.rank, kCallWord);
  if (i == 0) {
    node.records = out_.add_buffer(node.rank, calls() * record_);
    if (options_.serialize == CallSerialize::kCopy) {
      node.captured = out_.add_buffer(node.rank, calls() * record_);
    }
  } else {
    node.parent = shape_.tree ? i - (1u << floor_log2(i)) : 0;
    nodes_[node.parent].children.push_back(i);
    const std::uint64_t slots = std::min(spec_.slots, calls());
    node.records = out_.add_buffer(node.rank, one_sided_ ? chunks_.bytes() : slots * stride_);
  }
  if (!in_record_) node.buffers = out_.add_buffer(node.rank, calls() * bytes_);
  if (runs_calls(node)) node.state = out_.add_buffer(node.rank, read_);
  if (i == 0) return;
  const RankId parent = nodes_[node.parent].rank;
  if (shape_.carries == Carries::kReturned) {
    node.results = out_.add_buffer(node.rank, calls() * bytes_);
    node.words = out_.add_buffer(root_, calls() * (bytes_ + kCallWord));
  } else if (notifies_) {
    node.words = out_.add_buffer(root_, calls() * kCallWord);
  }
  if (!one_sided_) return;
  node.asked = out_.add_buffer(node.rank, chunks_.services() * kCallWord);
  node.handles = out_.add_buffer(parent, chunks_.services() * kCallWord);
  if (chunks_.pushes() != 0) {
    node.consumed = out_.add_buffer(parent, chunks_.pushes() * kCallWord);
  }
}

void CallMemory::add_channels(CallNode& node) {
  const RankId parent = nodes_[node.parent].rank;
  const bool pushes = one_sided_ && chunks_.pushes() != 0;
  node.calls = out_.connect(parent, node.rank);
  node.writes = node.calls;
  if (options_.aggregation != Bundle::kNone) {
    Channel& calls = out_.channel(node.calls);
    calls.bundle = options_.aggregation;
    calls.bundle_bytes = options_.flush_bytes;
    if (calls.bundle == Bundle::kOverflow) calls.window = std::max(options_.signal, 1u);
    if (shape_.carries == Carries::kWritten) node.writes = out_.connect(parent, node.rank);
  }
  if (pushes || shape_.carries == Carries::kReturned || shape_.carries == Carries::kRead) {
    node.back = out_.connect(node.rank, parent);
  }
  if (notifies_) node.sync = out_.connect(node.rank, root_);
  if (one_sided_) {
    node.asks = out_.connect(parent, node.rank);
    node.answers = out_.connect(node.rank, parent);
  }
}

void CallMemory::add_facts() {
  const CallNode& root = nodes_.front();
  for (std::uint32_t m = 0; m < calls(); ++m) {
    const BufferId made = root.captured.valid() ? root.captured : root.records;
    out_.add_pre({{made, m * record_, record_}, ValueId(m), 0});
    if (!in_record_) out_.add_pre({buffer(root, m), ValueId(calls() + m), 0});
  }
  for (const CallNode& node : nodes_) {
    out_.add_pre({mark_of(node), ValueId(2 * calls()), 0});
    if (runs_calls(node)) out_.add_post({{node.state, 0, read_}, ValueId(0), 0, calls()});
    for (std::uint32_t m = 0; m < calls(); ++m) {
      if (!in_record_) out_.add_post({buffer(node, m), ValueId(calls() + m), 0});
      if (shape_.carries != Carries::kReturned || is_root(node)) continue;
      const Slice landed{node.words, m * (bytes_ + kCallWord), bytes_};
      out_.add_post({landed, ValueId(0), kCallWord, m + 1});
    }
  }
}

Slice CallMemory::buffer(const CallNode& node, std::uint32_t m) const {
  return {node.buffers, m * bytes_, bytes_};
}
Slice CallMemory::record(const CallNode& node, std::uint32_t m) const {
  if (is_root(node)) return {node.records, m * record_, record_};
  const std::uint64_t offset =
      one_sided_ ? chunks_.offset(m) : m % std::min(spec_.slots, calls()) * stride_;
  return {node.records, offset, record_};
}

Slice CallMemory::landed_record(const CallNode& node, std::uint32_t m) const {
  Slice landed = record(node, m);
  landed.bytes += kCallWord;
  return landed;
}

Slice CallMemory::landed_result(const CallNode& node, std::uint32_t m) const {
  const std::uint64_t stride = bytes_ + kCallWord;
  return {node.words, m * stride, stride};
}

}  // namespace slackline::sched
