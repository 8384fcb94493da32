// The part of the executor that looks at flags, and lowers those that are used again.
#include <algorithm>

#include "hw/executor.h"
#include "hw/executor/local_work.h"

namespace slackline::hw {

bool Executor::see_flags() {
  bool moved = false;
  for (std::size_t p = 0; p < polls_.size();) {
    const std::uint32_t op = polls_[p];
    if (!is_flag_up(program_, memory_, op)) {
      ++p;
      continue;
    }
    polls_[p] = polls_.back();
    polls_.pop_back();
    moved = see_flag(op);
  }
  return moved;
}

bool Executor::see_flag(std::uint32_t op) {
  if (!is_flag_up(program_, memory_, op)) return false;
  if (program_.clears_flag(op)) {
    if (core_.has_regions()) keep_flag(op);
    lower_flag(program_, memory_, op);
  }
  event();
  done(op);
  return true;
}

void Executor::keep_flag(std::uint32_t poll) {
  std::erase_if(seen_flags_, [&](const SeenFlag& seen) { return seen.poll == poll; });
  seen_flags_.push_back({poll, {}});
  for (const sched::Slice& slice : schedule_.slices(program_.op(poll).reads)) {
    const auto bytes = memory_.at(slice);
    seen_flags_.back().bytes.insert(seen_flags_.back().bytes.end(), bytes.begin(), bytes.end());
  }
}

// Nobody polls any more: flags are what was put there last.
void Executor::restore_flags() {
  if (core_.left() != 0) return;
  for (auto seen = seen_flags_.rbegin(); seen != seen_flags_.rend(); ++seen) {
    const auto slices = schedule_.slices(program_.op(seen->poll).reads);
    const bool lowered = std::all_of(slices.begin(), slices.end(), [&](const sched::Slice& slice) {
      return std::ranges::all_of(memory_.at(slice), [](std::byte b) { return b == std::byte{0}; });
    });
    if (!lowered) continue;
    auto from = seen->bytes.begin();
    for (const sched::Slice& slice : slices) {
      const auto bytes = memory_.at(slice);
      std::copy_n(from, bytes.size(), bytes.begin());
      from += static_cast<std::ptrdiff_t>(bytes.size());
    }
  }
  seen_flags_.clear();
}

}  // namespace slackline::hw
