#include "analysis/group/victim_ops.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slackline::analysis {

using sched::OpId;

bool VictimOps::is_issued(OpId op) const { return std::isfinite(trace_.ops[op.value].issued_s); }

std::uint64_t VictimOps::newly_issued(std::size_t message) {
  watch_more(message);
  return std::erase_if(watched_, [this](OpId op) { return is_issued(op); });
}

// The next message, if it is one of these. Answers whether it is.
bool VictimOps::watch(std::size_t& next, bool small) {
  const bool belongs = (messages_.messages[next] == nullptr) == small;
  const GroupMessageOps& ops = messages_.ops(next++, victim_);
  for (OpId id = ops.own; belongs && id < ops.end; ++id.value) watched_.push_back(id);
  return belongs;
}

// What may be issued in an instant: of the message, of the next one, which may begin in the instant
// that ends it, and of the next in blocks, of which some is posted ahead, whether it comes or not.
void VictimOps::watch_more(std::size_t message) {
  const std::size_t all = messages_.messages.size();
  const std::size_t end = std::min(message + 2, all);
  while (next_small_ < end) watch(next_small_, true);
  bool is_watched = next_blocks_ > end;
  while (next_blocks_ < all && (next_blocks_ < end || !is_watched)) {
    is_watched = watch(next_blocks_, false) && next_blocks_ > end;
  }
  if (next_blocks_ == all && !messages_.ahead.empty() && !std::exchange(has_ahead_, true)) {
    const GroupMessageOps& ops = messages_.ahead[victim_];
    for (OpId id = ops.own; id < ops.end; ++id.value) watched_.push_back(id);
  }
  const std::vector<OpId>& counts = messages_.counts[victim_];
  const auto small = static_cast<std::uint64_t>(std::ranges::lower_bound(messages_.small, end) -
                                                messages_.small.begin());
  const std::size_t due = std::min<std::size_t>(counts.size(), small / small_.messages_per_count());
  for (; next_count_ < due; ++next_count_) watched_.push_back(counts[next_count_]);
}

void VictimOps::note(GroupCut& cut) const {
  for (std::size_t j = 0; victim_ == 0 && j < messages_.small.size(); ++j) {
    const OpId into = messages_.ops(messages_.small[j], 0).own;
    for (std::uint32_t m = 1; m < messages_.counts.size(); ++m) {
      if (is_issued(OpId(into.value + m))) cut.small[m] = j + 1;
    }
  }
  for (const OpId count : messages_.counts[victim_]) {
    if (is_issued(count)) cut.counted += small_.messages_per_count();
  }
}

}  // namespace slackline::analysis
