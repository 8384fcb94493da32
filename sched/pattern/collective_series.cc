#include "sched/pattern/collective_series.h"

#include "sched/pass/lower_collective.h"
#include "sched/pattern/collective.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {
namespace {

struct CollectiveOptions {
  std::string by = "circulant";  // the multicast that they are made of
};

const MulticastOptions& checked(const Spec& spec) {
  check(spec.multicast);
  return spec.multicast;
}

const std::string& by(const Spec& spec) { return spec.own<CollectiveOptions>().by; }

Schedule lower(CollectivePlan plan, const Spec& spec) {
  plan.title = format_spec(spec);
  const CollectiveLowering lowering{spec.transfers.in_flight, spec.slots};
  return spec.credits.ready == Ready::kNone
             ? lower_collective(plan, lowering)
             : lower_credits(draft_collective(plan, lowering), spec.credits);
}

// With its two halves a message has those of its credit, and one join for all first ones.
std::uint64_t ops_of(const Spec& spec, std::uint64_t messages, std::uint64_t reduces) {
  const std::uint64_t per_message = spec.credits.ready == Ready::kNone ? 2 : 4;
  return (messages * per_message + reduces + 3 * std::uint64_t{spec.multicast.ranks}) *
         spec.messages;
}
std::uint64_t tree_edges(const Spec& spec) {
  return std::uint64_t{spec.multicast.ranks - 1} * checked(spec).blocks();
}

}  // namespace

Schedule reduce(const Spec& spec) { return lower(reduce_plan(checked(spec), by(spec)), spec); }

Schedule allreduce(const Spec& spec) {
  return lower(allreduce_plan(checked(spec), by(spec)), spec);
}

Schedule allgather(const Spec& spec) {
  return lower(allgather_plan(checked(spec), by(spec)), spec);
}

Schedule barrier(const Spec& spec) { return lower(barrier_plan(checked(spec), by(spec)), spec); }

std::uint64_t reduce_ops(const Spec& spec) {
  return ops_of(spec, tree_edges(spec), tree_edges(spec));
}

std::uint64_t allreduce_ops(const Spec& spec) {
  return ops_of(spec, 2 * tree_edges(spec), tree_edges(spec));
}

std::uint64_t allgather_ops(const Spec& spec) {
  return ops_of(spec, spec.multicast.ranks * tree_edges(spec), 0);
}

std::uint64_t barrier_ops(const Spec& spec) {
  const std::uint64_t rounds = ceil_log2(spec.multicast.ranks);
  return ops_of(spec, spec.multicast.ranks * (rounds + 2), spec.multicast.ranks);
}

namespace {

constexpr Option kByOption = text_option<&CollectiveOptions::by>(
    "by", "a pattern", "collectives: the multicast they are made of");
// No `start`: the receives of operands wait for slots, and those of sums for what stood there, so
// that a rank cannot post the first of every channel at once.
constexpr auto kReduceOptions =
    option_list(kPlanOptions, kInFlightOption, kReadyOption, kWindowOption, kMessagesOption,
                kSlotsOption, kByOption);
constexpr auto kAllgatherOptions =
    option_list(kRanksOption, kBytesOption, kBlockOption, kInFlightOption, kReadyOption,
                kStartOption, kWindowOption, kMessagesOption, kByOption);
constexpr auto kBarrierOptions =
    option_list(kRanksOption, kInFlightOption, kReadyOption, kStartOption, kWindowOption,
                kMessagesOption, kByOption);

}  // namespace

constinit const PatternEntry kReducePattern = {
    .name = "reduce",
    .summary = "a multicast backwards: the sum of all ranks' values at the root",
    .options = kReduceOptions,
    .schedule = reduce,
    .op_count = reduce_ops,
    .one_message = true,
    .bus = BusUse::kOnce};

constinit const PatternEntry kAllreducePattern = {
    .name = "allreduce",
    .summary = "a reduce, then the multicast of its sum",
    .options = kReduceOptions,
    .schedule = allreduce,
    .op_count = allreduce_ops,
    .one_message = true,
    .bus = BusUse::kThereAndBack};

constinit const PatternEntry kAllgatherPattern = {
    .name = "allgather",
    .summary = "every rank's bytes to all, as multicasts from all ranks at once",
    .options = kAllgatherOptions,
    .schedule = allgather,
    .op_count = allgather_ops,
    .one_message = true,
    .bus = BusUse::kAllToAll};

constinit const PatternEntry kBarrierPattern = {
    .name = "barrier",
    .summary = "no rank leaves before every rank has come",
    .options = kBarrierOptions,
    .schedule = barrier,
    .op_count = barrier_ops,
    .one_message = true};

}  // namespace slackline::sched
