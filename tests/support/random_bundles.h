// Dice schedules whose channels gather messages into bundles.
#pragma once

#include <vector>

#include "tests/property/random_runs.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

inline void gather_randomly(Dice& dice, sched::Channel& channel, bool ends_by_itself) {
  channel.bundle = dice.pick({sched::Bundle::kNone, sched::Bundle::kTraditional,
                              sched::Bundle::kTraditional, sched::Bundle::kOverflow});
  channel.bundle_bytes = dice.pick<std::uint64_t>({0, 100, 500, 4'000, 1'000'000});
  channel.window = dice.below(4);
  if (ends_by_itself || dice.one_in(3)) {
    channel.bundle_delay = sched::Time{dice.pick({0, 300, 2'000, 9'000}) * 1'000};
  }
}

/// Two or three ranks; receives and polls come first. Some deadlock: where something waits for what
/// no flush sends.
inline sched::Schedule random_bundles(Dice& dice, bool ends_by_itself) {
  const std::uint32_t ranks = 2 + dice.below(2);
  Program p(ranks);
  std::vector<ChannelId> channels;
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = 0; b < ranks; ++b) {
      channels.push_back(p.channel(a, b));
      gather_randomly(dice, p.builder().channel(channels.back()), ends_by_itself);
    }
  }
  struct Plan {
    ChannelId channel;
    std::uint32_t what;
    std::uint64_t bytes;
  };
  std::vector<std::vector<Plan>> plans(ranks);
  const std::uint32_t messages = 3 + dice.below(20);
  for (std::uint32_t m = 0; m < messages; ++m) {
    const ChannelId c = channels[dice.below(static_cast<std::uint32_t>(channels.size()))];
    const std::uint32_t burst = 1 + dice.below(5);
    for (std::uint32_t i = 0; i < burst; ++i) {
      plans[p.builder().channel(c).src.value].push_back(
          {c, dice.below(9), dice.pick<std::uint64_t>({0, 8, 60, 100, 130, 700, 3'000})});
    }
  }
  std::vector<std::vector<OpId>> polls;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (const Plan& plan : plans[from]) {
        if (p.builder().channel(plan.channel).dst.value != r) continue;
        if (plan.what <= 2) p.recv(plan.channel, plan.bytes);
      }
    }
    std::vector<OpId> before;
    const auto tie = [&](OpId op) {
      if (!before.empty() && dice.one_in(3)) {
        const OpId pred =
            before[before.size() - 1 -
                   dice.below(static_cast<std::uint32_t>(std::min<std::size_t>(6, before.size())))];
        p.after({pred}, op, dice.one_in(3) ? sched::On::kDone : sched::On::kIssued);
      }
      before.push_back(op);
    };
    for (const Plan& plan : plans[r]) {
      if (plan.what <= 1) tie(p.send(plan.channel, plan.bytes));
      if (plan.what == 2) tie(p.put(plan.channel, plan.bytes, sched::Notify::kImm));
      if (plan.what >= 3 && plan.what <= 6) tie(p.put(plan.channel, plan.bytes));
      if (plan.what == 7) tie(p.get(plan.channel, plan.bytes));
      if (plan.what == 8) tie(p.calc(r, sched::Time{dice.pick({0, 100, 1'000}) * 1'000}));
      if (dice.one_in(6)) tie(p.flush(plan.channel));
    }
    for (const ChannelId c : channels) {
      if (p.builder().channel(c).src.value == r && !dice.one_in(12)) tie(p.flush(c));
    }
  }
  return p.build();
}

}  // namespace slackline::testing
