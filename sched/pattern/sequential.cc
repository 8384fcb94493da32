#include "sched/pattern/sequential.h"

#include "sched/pattern/shared_options.h"

namespace slackline::sched {

Plan sequential(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  plan.steps = plan.blocks * (plan.ranks - 1);
  plan.transfers.reserve(plan.steps);
  std::uint32_t step = 0;
  for (std::uint32_t dst = 1; dst < plan.ranks; ++dst) {
    for (std::uint32_t block = 0; block < plan.blocks; ++block) {
      plan.transfers.push_back({step++, RankId(0), RankId(dst), block});
    }
  }
  return with_root(std::move(plan), options.root);
}

constinit const PatternEntry kSequentialPattern = {
    "sequential", "the root sends the message to one rank after the other", kMulticastOptions,
    sequential};

}  // namespace slackline::sched
