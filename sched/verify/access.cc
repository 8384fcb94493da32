#include "sched/verify/access.h"

#include <fmt/format.h>

namespace slackline::sched {

std::string describe(const Schedule& schedule, const Slice& slice) {
  return fmt::format("bytes [{}, {}) of buffer {} on rank {}", slice.offset,
                     slice.offset + slice.bytes, slice.buffer.value,
                     schedule.buffers()[slice.buffer.value].rank.value);
}

}  // namespace slackline::sched
