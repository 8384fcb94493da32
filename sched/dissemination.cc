#include "sched/dissemination.h"

namespace slackline::sched {

ChannelId MessageBarrier::channel(RankId src, std::uint32_t round) {
  ChannelId& id = channels_[std::size_t{src.value} * rounds() + round];
  if (!id.valid()) {
    id = out_.connect(src, way_.target(src, round));
    out_.channel(id).credit_on = id;
  }
  return id;
}

std::vector<OpId> MessageBarrier::post(const OpPlace& at) {
  std::vector<OpId> receives;
  for (std::uint32_t t = 0; t < rounds(); ++t) {
    receives.push_back(out_.receive(at, channel(way_.source(at.rank, t), t), {}));
  }
  return receives;
}

MessageBarrier::Ends MessageBarrier::pass(const OpPlace& at, std::span<const OpId> receives) {
  const OpId enter = out_.join(at);
  OpId arrived = enter;
  OpId sent;
  for (std::uint32_t t = 0; t < rounds(); ++t) {
    const OpId send = out_.send(at, channel(at.rank, t), {}, {arrived});
    out_.after(sent, send, On::kIssued);
    sent = send;
    arrived = receives[t];
  }
  const OpId exit = out_.join(at, {arrived});
  out_.after(sent, exit, On::kIssued);
  return {enter, exit};
}

}  // namespace slackline::sched
