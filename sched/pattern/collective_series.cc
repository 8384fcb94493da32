#include "sched/pattern/collective_series.h"

#include "sched/pass/lower_collective.h"
#include "sched/pattern/collective.h"

namespace slackline::sched {
namespace {

MulticastOptions multicast_options(const SeriesOptions& options) {
  MulticastOptions out;
  out.ranks = options.ranks;
  out.bytes = options.bytes;
  out.block_bytes = options.collective.block_bytes;
  out.root = options.root;
  check(out);
  return out;
}

Schedule lower(CollectivePlan plan, const SeriesOptions& options) {
  plan.title = options.title;
  const CollectiveLowering lowering{options.collective.in_flight, options.slots};
  return options.collective.credits.ready == Ready::kNone
             ? lower_collective(plan, lowering)
             : lower_credits(draft_collective(plan, lowering), options.collective.credits);
}

// With its two halves a message has those of its credit, and one join for all first ones.
std::uint64_t ops_of(const SeriesOptions& options, std::uint64_t messages, std::uint64_t reduces) {
  const std::uint64_t per_message = options.collective.credits.ready == Ready::kNone ? 2 : 4;
  return (messages * per_message + reduces + 3 * std::uint64_t{options.ranks}) * options.messages;
}
std::uint64_t tree_edges(const SeriesOptions& options) {
  return std::uint64_t{options.ranks - 1} * multicast_options(options).blocks();
}

}  // namespace

Schedule reduce(const SeriesOptions& options) {
  return lower(reduce_plan(multicast_options(options), options.collective.by), options);
}

Schedule allreduce(const SeriesOptions& options) {
  return lower(allreduce_plan(multicast_options(options), options.collective.by), options);
}

Schedule allgather(const SeriesOptions& options) {
  return lower(allgather_plan(multicast_options(options), options.collective.by), options);
}

Schedule barrier(const SeriesOptions& options) {
  return lower(barrier_plan(multicast_options(options), options.collective.by), options);
}

std::uint64_t reduce_ops(const SeriesOptions& options) {
  return ops_of(options, tree_edges(options), tree_edges(options));
}

std::uint64_t allreduce_ops(const SeriesOptions& options) {
  return ops_of(options, 2 * tree_edges(options), tree_edges(options));
}

std::uint64_t allgather_ops(const SeriesOptions& options) {
  return ops_of(options, options.ranks * tree_edges(options), 0);
}

std::uint64_t barrier_ops(const SeriesOptions& options) {
  const std::uint64_t rounds = ceil_log2(options.ranks);
  return ops_of(options, options.ranks * (rounds + 2), options.ranks);
}

}  // namespace slackline::sched
