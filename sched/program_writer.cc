#include "sched/program_writer.h"

namespace slackline::sched {

ChannelId ProgramWriter::connect(RankId src, RankId dst) {
  Channel channel;
  channel.src = src;
  channel.dst = dst;
  return add_channel(channel);
}

ChannelId ProgramWriter::channel(RankId src, RankId dst, std::uint32_t number) {
  const auto [found, fresh] = channels_.try_emplace({src, dst, number});
  if (fresh) found->second = connect(src, dst);
  return found->second;
}

OpId ProgramWriter::timed(OpKind kind, const OpPlace& at, Time duration, After after) {
  OpArguments arguments;
  arguments.duration = duration;
  return add(op(kind, at), arguments, after);
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
