// Schedules of single puts, each as soon as the run begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sched/builder.h"
#include "sched/schedule.h"

namespace slackline::testing {

struct Put {
  std::uint32_t src;
  std::uint32_t dst;
  std::uint64_t bytes;
  bool same_channel = false;  // as the put before it
};

/// The k-th put is operation k. They stand in the order of their ranks.
inline sched::Schedule schedule_of_puts(std::uint32_t ranks, const std::vector<Put>& all) {
  sched::ScheduleBuilder builder(ranks);
  std::uint64_t most = 1;
  for (const Put& put : all) most = std::max(most, put.bytes);
  for (std::uint32_t r = 0; r < 2 * ranks; ++r) builder.add_buffer(sched::RankId(r % ranks), most);
  sched::ChannelId last = sched::ChannelId::none();
  for (const Put& put : all) {
    if (!put.same_channel) {
      sched::Channel channel;
      channel.src = sched::RankId(put.src);
      channel.dst = sched::RankId(put.dst);
      last = builder.add_channel(channel);
    }
    sched::Op op;
    op.kind = sched::OpKind::kPut;
    op.rank = sched::RankId(put.src);
    op.channel = last;
    op.reads = builder.add_slice({sched::BufferId(put.src), 0, put.bytes});
    op.writes = builder.add_slice({sched::BufferId(ranks + put.dst), 0, put.bytes});
    builder.add(op);
  }
  return builder.build();
}

}  // namespace slackline::testing
