#include "sched/pattern/chain.h"

#include <algorithm>

#include "sched/pattern/shared_options.h"

namespace slackline::sched {

Plan chain(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  if (plan.ranks == 1) return plan;
  const std::uint32_t hops = plan.ranks - 1;
  plan.steps = plan.blocks + hops - 1;
  plan.transfers.reserve(std::size_t{hops} * plan.blocks);
  for (std::uint32_t step = 0; step < plan.steps; ++step) {
    const std::uint32_t first = step < plan.blocks ? 0 : step - plan.blocks + 1;
    for (std::uint32_t src = first; src <= std::min(step, hops - 1); ++src) {
      plan.transfers.push_back({step, RankId(src), RankId(src + 1), step - src});
    }
  }
  return with_root(std::move(plan), options.root);
}

constinit const PatternEntry kChainPattern = {"chain", "each rank relays every block to the next",
                                              kMulticastOptions, chain};

}  // namespace slackline::sched
