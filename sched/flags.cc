#include "sched/flags.h"

#include <fmt/format.h>

#include "sched/verify/access.h"

namespace slackline::sched {

std::optional<std::string> flag_fault(const Schedule& schedule, OpId poll) {
  const Op& op = schedule.op(poll);
  const auto reads = schedule.slices(op.reads);
  if (reads.size() != 1 || reads.front().bytes == 0) {
    return fmt::format("{} looks at {} slices of {} bytes; expected one of at least 1 byte",
                       describe(schedule, poll), reads.size(), schedule.bytes(op.reads));
  }
  if (!op.match.valid()) return std::nullopt;
  const Op& put = schedule.op(op.match);
  if (schedule.arguments(put).address_offset.is_dynamic()) {
    return fmt::format("{} polls for {}, whose address is found in the run; expected a fixed one",
                       describe(schedule, poll), describe(schedule, op.match));
  }
  const Slice& flag = reads.front();
  Slice last;
  for_each_write(schedule, put, [&](const Slice& slice) {
    if (slice.bytes != 0) last = slice;
  });
  const bool inside = last.bytes >= flag.bytes && flag.buffer == last.buffer;
  if (inside && flag.offset == last.offset + (last.bytes - flag.bytes)) return std::nullopt;
  if (last.bytes == 0) {
    return fmt::format("{} polls {}, but {} writes no bytes", describe(schedule, poll),
                       describe(schedule, flag), describe(schedule, op.match));
  }
  return fmt::format("{} polls {}; expected the end of {}, which {} writes last",
                     describe(schedule, poll), describe(schedule, flag), describe(schedule, last),
                     describe(schedule, op.match));
}

std::optional<std::string> overlap_fault(const Schedule& schedule, OpId before, OpId poll) {
  const Slice& first = schedule.slices(schedule.op(before).reads).front();
  const Slice& second = schedule.slices(schedule.op(poll).reads).front();
  if (first == second) return std::nullopt;
  return fmt::format("{} polls {}, and {} polls {}; expected the same bytes or none of them",
                     describe(schedule, poll), describe(schedule, second),
                     describe(schedule, before), describe(schedule, first));
}

}  // namespace slackline::sched
