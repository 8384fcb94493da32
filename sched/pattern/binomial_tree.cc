#include "sched/pattern/binomial_tree.h"

#include <algorithm>

#include "sched/pattern/shared_options.h"

namespace slackline::sched {

Plan binomial_tree(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  plan.relay_whole_message = true;
  plan.steps = plan.blocks * ceil_log2(plan.ranks);
  plan.transfers.reserve(std::size_t{plan.ranks - 1} * plan.blocks);
  std::uint32_t step = 0;
  for (std::uint32_t holders = 1; holders < plan.ranks; holders *= 2) {
    const std::uint32_t senders = std::min(holders, plan.ranks - holders);
    for (std::uint32_t block = 0; block < plan.blocks; ++block, ++step) {
      for (std::uint32_t src = 0; src < senders; ++src) {
        plan.transfers.push_back({step, RankId(src), RankId(src + holders), block});
      }
    }
  }
  return with_root(std::move(plan), options.root);
}

constinit const PatternEntry kBinomialTreePattern = {
    "binomial-tree", "whole messages along a binomial tree", kMulticastOptions, binomial_tree};

}  // namespace slackline::sched
