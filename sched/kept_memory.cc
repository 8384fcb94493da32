#include "sched/kept_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sched/operands.h"
#include "sched/value_bytes.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

// Marks buffers, and then those that flow into marked ones.
class Marker {
 public:
  explicit Marker(const Schedule& schedule)
      : schedule_(schedule),
        marked_(schedule.buffers().size(), 0),
        wanted_(schedule.channels().size(), 0) {}

  const std::vector<char>& marked() {
    find_results();
    for (const Op& op : schedule_.ops()) mark_roots(op);
    if (!any_) return marked_;
    while (flow()) {
    }
    return marked_;
  }

 private:
  // The gets of which some operand is the result.
  void find_results() {
    for (const OpArguments& arguments : schedule_.argument_table()) {
      for (const Operand* operand : operands(arguments)) {
        if (operand->from != Operand::From::kResult) continue;
        const Op& op = schedule_.op(operand->op);
        if (op.kind == OpKind::kGet) mark(op.reads);
      }
    }
  }

  void mark_roots(const Op& op) {
    if (is_atomic(op.kind)) return mark_first(op.reads);
    if (op.arguments == kNoArguments) return;
    const OpArguments& arguments = schedule_.arguments(op);
    const bool moves = arguments.address_offset.is_dynamic();
    if (op.kind == OpKind::kGet && (moves || arguments.compare.from != Operand::From::kAbsent)) {
      mark(op.reads);
      // The trace's result has the first word only.
      if (schedule_.payload_bytes(op) > 8) mark(op.writes);
    }
    if (!moves) return;
    if (op.kind == OpKind::kPut) mark(op.writes);
  }

  // Whether anything was marked that was not.
  bool flow() {
    grew_ = false;
    const std::vector<char> wanted = wanted_;
    for (const Op& op : schedule_.ops()) {
      switch (op.kind) {
        case OpKind::kPut:
        case OpKind::kGet:
        case OpKind::kCopy:
        case OpKind::kReduce:
          if (touches(op.writes)) mark(op.reads);
          break;
        case OpKind::kRecv:  // of whichever send of its channel
          if (touches(op.writes)) wanted_[op.channel.value] = 1;
          break;
        case OpKind::kSend:
          if (wanted_[op.channel.value] != 0) mark(op.reads);
          break;
        default:
          break;
      }
    }
    return grew_ || wanted != wanted_;
  }

  bool touches(SliceRange range) const {
    const auto slices = schedule_.slices(range);
    return std::any_of(slices.begin(), slices.end(),
                       [this](const Slice& slice) { return marked_[slice.buffer.value] != 0; });
  }
  void mark_first(SliceRange range) { mark({range.first, std::min(range.count, 1u)}); }
  void mark(SliceRange range) {
    for (const Slice& slice : schedule_.slices(range)) {
      char& marked = marked_[slice.buffer.value];
      grew_ = grew_ || marked == 0;
      any_ = true;
      marked = 1;
    }
  }

  const Schedule& schedule_;
  std::vector<char> marked_;  // by buffer
  std::vector<char> wanted_;  // by channel: a receive of it has a marked target
  bool any_ = false;
  bool grew_ = false;
};

}  // namespace

KeptMemory::KeptMemory(const Schedule& schedule) {
  const std::vector<char> marked = Marker(schedule).marked();
  if (std::find(marked.begin(), marked.end(), 1) == marked.end()) return;
  begin_.assign(marked.size(), kNotKept);
  size_.assign(marked.size(), 0);
  for (std::size_t b = 0; b < marked.size(); ++b) {
    if (marked[b] == 0) continue;
    begin_[b] = bytes_;
    size_[b] = schedule.buffers()[b].bytes;
    // Buffers begin at words, as they do in real runs.
    if (size_[b] > kMostBytes || bytes_ > kMostBytes - size_[b]) {
      throw InputError(fmt::format(
          "buffer {}: a simulated run keeps the bytes that its atomics, tests and addresses depend "
          "on, here more than 1 TiB",
          b));
    }
    bytes_ += (size_[b] + 7) / 8 * 8;
  }
}

void write_given(const Schedule& schedule, const KeptMemory& kept, std::span<std::byte> memory) {
  for (const Fact& fact : schedule.contract().pre) {
    if (!kept.keeps(fact.slice.buffer)) continue;
    write_value(fact.value, fact.value_offset,
                kept.of(fact.slice.buffer, memory).subspan(fact.slice.offset, fact.slice.bytes));
  }
}

}  // namespace slackline::sched
