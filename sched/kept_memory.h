// Which memory a simulated run keeps: what atomics, tests and addresses found at run time depend
// on. All other bytes are known without a run, as the verifier shows, and are not moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

/// The buffers that hold real bytes, laid out one after another. Kept are those that atomics act
/// on, those that a get reads whose result is tested or is an operand, the targets and sources of
/// puts and gets whose address depends on the run, and whatever flows into one of these. So is
/// where a get of more than 8 bytes lands that is tested or whose address depends on the run.
class KeptMemory {
 public:
  /// Nothing is kept.
  KeptMemory() = default;
  explicit KeptMemory(const Schedule& schedule);

  bool empty() const { return bytes_ == 0; }
  /// Of all of them.
  std::uint64_t bytes() const { return bytes_; }
  bool keeps(BufferId buffer) const { return !begin_.empty() && begin_[buffer.value] != kNotKept; }
  /// Where a kept buffer's bytes begin among all of them.
  std::uint64_t begin_of(BufferId buffer) const { return begin_[buffer.value]; }
  /// A kept buffer's bytes in `memory`, which holds bytes().
  std::span<std::byte> of(BufferId buffer, std::span<std::byte> memory) const {
    return memory.subspan(begin_[buffer.value], size_[buffer.value]);
  }
  std::span<const std::byte> of(BufferId buffer, std::span<const std::byte> memory) const {
    return memory.subspan(begin_[buffer.value], size_[buffer.value]);
  }

 private:
  static constexpr std::uint64_t kNotKept = ~std::uint64_t{0};
  std::vector<std::uint64_t> begin_;  // by buffer; empty if none is kept
  std::vector<std::uint64_t> size_;
  std::uint64_t bytes_ = 0;
};

/// Writes what the contract's pre facts say; elsewhere it leaves `memory` as it is: zeros.
void write_given(const Schedule& schedule, const KeptMemory& kept, std::span<std::byte> memory);

}  // namespace slackline::sched
