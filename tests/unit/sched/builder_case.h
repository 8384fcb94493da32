// What the builder's unit tests share.
#pragma once

#include <string>

#include "base/error.h"
#include "sched/builder.h"
#include "tests/support/error_of.h"

namespace slackline::sched {

inline Op op_of(OpKind kind, std::uint32_t rank, ChannelId channel = {}) {
  Op op;
  op.kind = kind;
  op.rank = RankId(rank);
  op.channel = channel;
  return op;
}

inline Channel joining(std::uint32_t src, std::uint32_t dst) {
  Channel channel;
  channel.src = RankId(src);
  channel.dst = RankId(dst);
  return channel;
}

/// The message with which building fails; empty if it does not.
inline std::string refusal(ScheduleBuilder& builder) {
  return testing::error_of([&] { builder.build(); });
}

}  // namespace slackline::sched
