#include <fmt/format.h>

#include <vector>

#include "sched/verify/checks.h"

namespace slackline::sched {
namespace {

std::string unproven(OrderProver::Answer answer, const OrderProver& prover) {
  return answer == OrderProver::Answer::kUndecided
             ? fmt::format("not proven within {} steps", prover.max_steps())
             : "no path of arcs orders them";
}

bool promises(const Channel& channel) {
  return channel.window > 0 || channel.service == Service::kDatagram;
}

}  // namespace

void check_windows(const Schedule& schedule, OrderProver& prover, Findings& findings) {
  using Answer = OrderProver::Answer;
  const std::size_t channels = schedule.channels().size();
  // The receives of each channel in order, those of channel c from begin[c] on.
  std::vector<std::uint32_t> begin(channels + 1, 0);
  for (const Op& op : schedule.ops()) {
    if (op.kind == OpKind::kRecv && promises(schedule.channel(op.channel))) {
      ++begin[op.channel.value + 1];
    }
  }
  for (std::size_t c = 0; c < channels; ++c) begin[c + 1] += begin[c];
  if (begin.back() == 0) return;
  std::vector<OpId> receives(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (op.kind == OpKind::kRecv && promises(schedule.channel(op.channel))) {
      receives[next[op.channel.value]++] = OpId(i);
    }
  }
  std::vector<std::uint32_t> sent(channels, 0);
  for (std::uint32_t i = 0; i < schedule.op_count() && !findings.full(); ++i) {
    const Op& op = schedule.ops()[i];
    if (!is_fifo_source(op) || !promises(schedule.channel(op.channel))) continue;
    const Channel& channel = schedule.channel(op.channel);
    const OpId id(i);
    const std::uint32_t k = sent[op.channel.value]++;
    if (const Answer answer = prover.before(EventId::issued(op.match), id);
        answer != Answer::kProven) {
      findings.error(Code::kWindow, id,
                     fmt::format("{} may send message {} of channel {} before {} is posted: {}",
                                 describe(schedule, id), k, op.channel.value,
                                 describe(schedule, op.match), unproven(answer, prover)));
    }
    if (channel.window == 0 || k < channel.window) continue;
    const OpId earlier = receives[begin[op.channel.value] + k - channel.window];
    if (const Answer answer = prover.before(EventId::done(earlier), id);
        answer != Answer::kProven) {
      findings.error(
          Code::kWindow, id,
          fmt::format("{} may send message {} of channel {} before {} is done, beyond the "
                      "channel's window of {}: {}",
                      describe(schedule, id), k, op.channel.value, describe(schedule, earlier),
                      channel.window, unproven(answer, prover)));
    }
  }
}

}  // namespace slackline::sched
