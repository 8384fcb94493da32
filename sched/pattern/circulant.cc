#include "sched/pattern/circulant.h"

#include <algorithm>

#include "sched/pattern/circulant_schedule.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {

Plan circulant(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  if (plan.ranks > 1) {
    const CirculantSchedule schedule(plan.ranks);
    const std::uint32_t phase = schedule.rounds();
    const auto last = static_cast<std::int64_t>(plan.blocks) - 1;
    // The first phase starts late, so that the last one ends with the last block.
    const std::uint32_t late = (phase - (plan.blocks - 1) % phase) % phase;
    plan.steps = plan.blocks - 1 + phase;
    plan.transfers.reserve(std::size_t{plan.ranks - 1} * plan.blocks);
    for (std::uint32_t step = 0; step < plan.steps; ++step) {
      const std::uint32_t round = (step + late) % phase;
      const std::uint32_t skip = schedule.skip(round);
      const std::int64_t base = std::int64_t{step} - round;
      const auto send = [&](std::uint32_t src, std::uint32_t dst) {
        const std::int64_t block = base + schedule.receive(dst, round);
        if (block < 0) return;
        plan.transfers.push_back(
            {step, RankId(src), RankId(dst), static_cast<std::uint32_t>(std::min(block, last))});
      };
      // Nothing is sent to the root, which is where the targets wrap round.
      for (std::uint32_t src = 0; src < plan.ranks - skip; ++src) send(src, src + skip);
      for (std::uint32_t dst = 1; dst < skip; ++dst) send(plan.ranks - skip + dst, dst);
    }
  }
  return with_root(std::move(plan), options.root);
}

constinit const PatternEntry kCirculantPattern = {
    "circulant", "round-optimal for any number of ranks by one rule", kMulticastOptions, circulant};

}  // namespace slackline::sched
