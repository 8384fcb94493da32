// What a schedule does to bytes, without time: whatever may run next does so at once, chosen at
// random. Knows retries that are decided by their operations and hold no other region. Makes
// defects on demand.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sched/event_graph.h"
#include "sched/schedule.h"
#include "sched/trace.h"
#include "sched/value_bytes.h"

namespace slackline::testing {

struct Defects {
  int lost_put = -1;         // the n-th put of data, in the order they run, moves nothing
  int torn_put = -1;         // the n-th put of data moves its first word only
  bool lying_swaps = false;  // a compare_swap that fails says that it found what it expected
  int repeated_sum = -1;     // the n-th reduce runs twice
};

struct Interpreted {
  std::vector<std::vector<std::byte>> memory;  // by buffer
  sched::Trace trace;                          // times count operations
  int hits = 0;                                // how often a defect struck
};

class StructureInterpreter {
 public:
  StructureInterpreter(const sched::Schedule& schedule, std::uint64_t seed, const Defects& defects)
      : s_(schedule), random_(seed), defects_(defects) {
    for (const sched::Buffer& buffer : s_.buffers()) out_.memory.emplace_back(buffer.bytes);
    for (const sched::Fact& fact : s_.contract().pre) {
      sched::write_value(fact.value, fact.value_offset,
                         std::span(out_.memory[fact.slice.buffer.value])
                             .subspan(fact.slice.offset, fact.slice.bytes));
    }
    out_.trace.ops.resize(s_.op_count());
    out_.trace.results.resize(s_.op_count());
    for (sched::OpTimes& times : out_.trace.ops) times.attempts = 0;
    region_of_.assign(s_.op_count(), -1);
    for (std::size_t r = 0; r < s_.regions().size(); ++r) {
      const sched::Region& region = s_.regions()[r];
      for (std::uint32_t i = 0; i < region.count; ++i) {
        region_of_[region.entry.value + i] = static_cast<int>(r);
      }
    }
    nodes_.resize(s_.op_count() + s_.regions().size());
    for (const sched::Edge& edge : s_.edges()) arc(edge.pred.value, edge.succ.value);
    const sched::ChannelOrder order = sched::channel_order(s_);
    for (std::uint32_t i = 0; i < s_.op_count(); ++i) {
      if (order.next[i].valid()) arc(i, order.next[i].value);
      const sched::Op& op = s_.ops()[i];
      const bool lands = op.kind == sched::OpKind::kRecv || op.kind == sched::OpKind::kPoll;
      if (lands && op.match.valid()) arc(op.match.value, i);
    }
  }

  Interpreted run() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const bool inside = n < s_.op_count() && region_of_[n] >= 0;
      if (!inside && nodes_[n].waits == 0) release(n);
    }
    while (!ready_.empty()) {
      std::swap(ready_[random_() % ready_.size()], ready_.back());
      const std::uint32_t op = ready_.back();
      ready_.pop_back();
      carry_out(op);
    }
    for (const sched::OpTimes& times : out_.trace.ops) {
      if (times.attempts == 0) throw InternalError("an operation never ran");
    }
    return std::move(out_);
  }

 private:
  struct Node {
    std::uint32_t waits = 0;  // inside a region: for what stands in it, at an attempt's beginning
    std::uint32_t left = 0;   // of those, or a region's operations
    std::uint32_t attempts = 0;
    bool failed = false;
    std::vector<std::uint32_t> next;
  };

  std::uint32_t node_of_region(int r) const {
    return s_.op_count() + static_cast<std::uint32_t>(r);
  }
  void arc(std::uint32_t a, std::uint32_t b) {
    if (region_of_[a] != region_of_[b]) {
      if (region_of_[a] >= 0) a = node_of_region(region_of_[a]);
      if (region_of_[b] >= 0) b = node_of_region(region_of_[b]);
    }
    nodes_[a].next.push_back(b);
    ++nodes_[b].waits;
  }

  void release(std::uint32_t n) {
    if (n < s_.op_count()) return ready_.push_back(n);
    begin_attempt(n);
  }
  void begin_attempt(std::uint32_t n) {
    const sched::Region& region = s_.regions()[n - s_.op_count()];
    nodes_[n].left = region.count;
    nodes_[n].failed = false;
    if (++nodes_[n].attempts > region.max_attempts) throw InputError("attempts exhausted");
    for (std::uint32_t i = region.entry.value; i < region.entry.value + region.count; ++i) {
      nodes_[i].left = nodes_[i].waits;
      if (nodes_[i].waits == 0) ready_.push_back(i);
    }
  }
  void finish(std::uint32_t n) {
    for (const std::uint32_t next : nodes_[n].next) {
      const bool inside = next < s_.op_count() && region_of_[next] >= 0;
      std::uint32_t& waits = inside ? nodes_[next].left : nodes_[next].waits;
      if (--waits == 0) release(next);
    }
    if (n >= s_.op_count() || region_of_[n] < 0) return;
    const std::uint32_t around = node_of_region(region_of_[n]);
    if (--nodes_[around].left != 0) return;
    nodes_[around].failed ? begin_attempt(around) : finish(around);
  }

  std::uint64_t value(std::uint32_t self, const sched::Operand& operand) const {
    if (operand.from == sched::Operand::From::kAbsent) return 0;
    if (operand.from == sched::Operand::From::kLiteral) return operand.value;
    std::uint64_t x = out_.trace.results[operand.op.value];
    if (operand.from == sched::Operand::From::kAttempt) {
      x = out_.trace.ops[operand.op.value].attempts - (operand.op.value == self ? 0 : 1);
    }
    return operand.of(x);
  }

  std::vector<std::byte> gather(sched::SliceRange range, std::uint64_t moved) const {
    std::vector<std::byte> bytes;
    for (const sched::Slice& slice : s_.slices(range)) {
      const auto& from = out_.memory[slice.buffer.value];
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(slice.offset + moved);
      bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(slice.bytes));
    }
    return bytes;
  }
  void scatter(sched::SliceRange range, std::uint64_t moved, std::span<const std::byte> bytes) {
    for (const sched::Slice& slice : s_.slices(range)) {
      std::memcpy(out_.memory[slice.buffer.value].data() + slice.offset + moved, bytes.data(),
                  slice.bytes);
      bytes = bytes.subspan(slice.bytes);
    }
  }

  void carry_out(std::uint32_t id) {
    using sched::OpKind;
    const sched::Op& op = s_.ops()[id];
    const sched::OpArguments& arguments = s_.arguments(op);
    const std::uint64_t moved = value(id, arguments.address_offset);
    const std::uint64_t compare = value(id, arguments.compare);
    bool failed = false;
    if (op.kind == OpKind::kPut) {
      const int nth = op.notify == sched::Notify::kNone ? puts_++ : -2;
      const bool lost = nth == defects_.lost_put;
      std::vector<std::byte> bytes = gather(op.reads, 0);
      const bool torn = nth == defects_.torn_put && bytes.size() > 8;
      if (lost || torn) ++out_.hits;
      if (torn) std::fill(bytes.begin() + 8, bytes.end(), std::byte{0});
      if (!lost) scatter(op.writes, moved, bytes);
    } else if (op.kind == OpKind::kGet) {
      const std::vector<std::byte> bytes = gather(op.reads, moved);
      scatter(op.writes, 0, bytes);
      std::memcpy(&out_.trace.results[id], bytes.data(), std::min<std::size_t>(8, bytes.size()));
      failed = fails(id, arguments, compare);
    } else if (sched::is_atomic(op.kind)) {
      failed = act(id, moved, compare, value(id, arguments.operand));
    } else if (op.kind == OpKind::kCopy) {
      scatter(op.writes, 0, gather(op.reads, 0));
    } else if (op.kind == OpKind::kReduce) {
      add_up(op);
      if (sums_++ == defects_.repeated_sum) {
        ++out_.hits;
        ++out_.trace.ops[id].attempts;
        add_up(op);
      }
    } else if (op.kind == OpKind::kRecv && op.match.valid()) {
      scatter(op.writes, 0, gather(s_.ops()[op.match.value].reads, 0));
    }
    sched::OpTimes& times = out_.trace.ops[id];
    ++times.attempts;
    times.issued_s = now_;
    times.done_s = now_ += 1;
    if (failed) nodes_[node_of_region(region_of_[id])].failed = true;
    finish(id);
  }

  bool fails(std::uint32_t id, const sched::OpArguments& arguments, std::uint64_t compare) const {
    if (arguments.compare.from == sched::Operand::From::kAbsent) return false;
    const std::uint64_t difference = (out_.trace.results[id] ^ compare) & arguments.compare_mask;
    return (difference == 0) != (arguments.expect == sched::Expect::kEqual);
  }

  bool act(std::uint32_t id, std::uint64_t moved, std::uint64_t compare, std::uint64_t operand) {
    using sched::OpKind;
    const sched::Op& op = s_.ops()[id];
    const sched::Slice& slice = s_.slices(op.reads).front();
    std::byte* const at = out_.memory[slice.buffer.value].data() + slice.offset + moved;
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    std::uint64_t& result = out_.trace.results[id];
    result = word;
    switch (op.kind) {
      case OpKind::kFetchAdd:
        word += operand;
        break;
      case OpKind::kFetchAnd:
        word &= operand;
        break;
      case OpKind::kFetchOr:
        word |= operand;
        break;
      case OpKind::kFetchXor:
        word ^= operand;
        break;
      default:
        if (word == compare) {
          word = operand;
        } else if (defects_.lying_swaps) {
          ++out_.hits;
          result = compare;
        }
        std::memcpy(at, &word, 8);
        return result != compare;
    }
    std::memcpy(at, &word, 8);
    return fails(id, s_.arguments(op), compare);
  }

  void add_up(const sched::Op& op) {
    const sched::Slice& to = s_.slices(op.writes).front();
    std::vector<std::byte> sum(to.bytes);
    for (const sched::Slice& slice : s_.slices(op.reads)) {
      const std::byte* const from = out_.memory[slice.buffer.value].data() + slice.offset;
      for (std::uint64_t i = 0; i < to.bytes; ++i) {
        sum[i] =
            static_cast<std::byte>(static_cast<unsigned>(sum[i]) + static_cast<unsigned>(from[i]));
      }
    }
    std::memcpy(out_.memory[to.buffer.value].data() + to.offset, sum.data(), to.bytes);
  }

  const sched::Schedule& s_;
  std::mt19937_64 random_;
  const Defects defects_;
  Interpreted out_;
  std::vector<int> region_of_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> ready_;
  double now_ = 0;
  int puts_ = 0;
  int sums_ = 0;
};

inline Interpreted interpret(const sched::Schedule& schedule, std::uint64_t seed,
                             const Defects& defects = {}) {
  return StructureInterpreter(schedule, seed, defects).run();
}

}  // namespace slackline::testing
