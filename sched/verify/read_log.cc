#include "sched/verify/read_log.h"

#include <bit>

namespace slackline::sched {

ReadLog::ReadLog(std::size_t segments)
    : leaves_(std::bit_ceil(static_cast<std::uint32_t>(segments == 0 ? 1 : segments))),
      entries_of_(2 * std::size_t{leaves_}, kEnd),
      newest_(2 * std::size_t{leaves_}, 0) {}

void ReadLog::add(SegmentRun run, std::uint32_t time) {
  if (run.first == run.last) return;
  const auto read = static_cast<std::uint32_t>(reads_.size());
  reads_.push_back({run, time});
  seen_.push_back(0);
  pending_.assign(1, {1, 0, leaves_});
  while (!pending_.empty()) {
    const Node node = pending_.back();
    pending_.pop_back();
    if (node.end <= run.first || node.begin >= run.last) continue;
    newest_[node.number] = time;
    if (run.first <= node.begin && node.end <= run.last) {
      entries_.push_back({read, entries_of_[node.number]});
      entries_of_[node.number] = static_cast<std::uint32_t>(entries_.size() - 1);
      continue;
    }
    pending_.push_back(left(node));
    pending_.push_back(right(node));
  }
}

}  // namespace slackline::sched
