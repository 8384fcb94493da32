#include "sched/program_writer.h"

#include <algorithm>

namespace slackline::sched {

void ProgramWriter::expect(std::uint64_t ops, std::uint64_t arguments) {
  // More would be asked of the system at once than it may have, for what may not be used.
  constexpr std::uint64_t kMost = 1u << 24;
  const std::size_t count = std::min(ops, kMost);
  reserve(count, 2 * count, 2 * count);
  reserve_arguments(std::min(arguments, kMost));
}

ChannelId ProgramWriter::connect(RankId src, RankId dst) {
  Channel channel;
  channel.src = src;
  channel.dst = dst;
  return add_channel(channel);
}

ChannelId ProgramWriter::channel(RankId src, RankId dst, std::uint32_t number) {
  const auto found = channels_.find_or_add({src, dst, number});
  if (found.fresh) found.number = connect(src, dst).value;
  return ChannelId(found.number);
}

OpId ProgramWriter::timed(OpKind kind, const OpPlace& at, Time duration, After after) {
  return behind(add_timed(op(kind, at), duration), after);
}

void ProgramWriter::retry(OpId entry, std::uint32_t count, std::uint32_t attempts) {
  Region region;
  region.kind = RegionKind::kRetry;
  region.entry = entry;
  region.count = count;
  region.max_attempts = attempts;
  region.outcome = RegionOutcome::kActual;
  add_region(region);
}

}  // namespace slackline::sched
