#include "sched/pattern/collective_series.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sched/pass/lower_collective.h"
#include "sched/pattern/binomial_shares.h"
#include "sched/pattern/collective.h"
#include "sched/pattern/collective_algorithms.h"
#include "sched/pattern/hierarchical.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {
namespace {

struct CollectiveOptions {
  std::string by = "circulant";  // the multicast or the algorithm that they are made of
};

struct AdderOptions {
  std::uint32_t adders = 0;
};
// Those that no multicast makes name an algorithm.
struct ReduceScatterOptions {
  std::string by = "ring";
};
struct AlltoallOptions {
  std::string by = "pairwise";
};

const MulticastOptions& checked(const Spec& spec) {
  check(spec.multicast);
  return spec.multicast;
}

const std::string& by(const Spec& spec) { return spec.own<CollectiveOptions>().by; }

const CollectiveAlgorithm& reduce_scatter_algorithm(const Spec& spec) {
  return algorithm_named(reduce_scatter_algorithms(), spec.own<ReduceScatterOptions>().by);
}
const CollectiveAlgorithm& alltoall_algorithm(const Spec& spec) {
  return algorithm_named(alltoall_algorithms(), spec.own<AlltoallOptions>().by);
}

// Throws InputError for nodes of what has none.
const MulticastOptions& checked(const Spec& spec, const std::string& by) {
  const std::uint32_t per_node = spec.own<NodeOptions>().per_node;
  if (per_node != 0 && by != "hierarchical") {
    throw InputError(
        fmt::format("per-node: {}; expected none, as by={} knows no nodes", per_node, by));
  }
  return checked(spec);
}

Schedule lower(CollectivePlan plan, const Spec& spec) {
  plan.title = format_spec(spec);
  const CollectiveLowering lowering{spec.transfers.in_flight, spec.slots,
                                    spec.own<AdderOptions>().adders};
  return spec.credits.ready == Ready::kNone
             ? lower_collective(plan, lowering)
             : lower_credits(draft_collective(plan, lowering), spec.credits);
}

// With its two halves a message has those of its credit, and one join for all first ones.
std::uint64_t ops_of(const Spec& spec, std::uint64_t messages, std::uint64_t reduces) {
  const std::uint64_t per_message = spec.credits.ready == Ready::kNone ? 2 : 4;
  const std::uint64_t of_one =
      messages * per_message + reduces + 3 * std::uint64_t{spec.multicast.ranks};
  return of_one > kMaxOps ? of_one : of_one * spec.messages;
}
// More than any number of operations that is allowed is as good as any.
std::uint64_t tree_edges(const Spec& spec) {
  return std::min(std::uint64_t{spec.multicast.ranks - 1} * checked(spec).blocks(), kMaxOps);
}
std::uint64_t ops_of(const Spec& spec, const CollectiveAlgorithm& algorithm,
                     std::uint64_t of_buffer) {
  const std::uint64_t messages =
      std::min(algorithm.most_messages(spec.multicast.ranks, of_buffer), kMaxOps);
  return ops_of(spec, messages, messages);
}
// The messages of a buffer that is cut into shares: any two that follow one another are more than a
// block.
std::uint64_t of_sum(const Spec& spec) { return 2 * std::uint64_t{checked(spec).blocks()}; }
// Of a buffer of all shares.
std::uint64_t of_shares(const Spec& spec) {
  return std::uint64_t{spec.multicast.ranks} * checked(spec).blocks();
}

}  // namespace

Schedule reduce(const Spec& spec) { return lower(reduce_plan(checked(spec), by(spec)), spec); }

Schedule allreduce(const Spec& spec) {
  return lower(allreduce_plan(checked(spec, by(spec)), by(spec)), spec);
}

Schedule allgather(const Spec& spec) {
  return lower(allgather_plan(checked(spec, by(spec)), by(spec)), spec);
}

Schedule reduce_scatter(const Spec& spec) {
  return lower(
      reduce_scatter_algorithm(spec).plan(checked(spec, spec.own<ReduceScatterOptions>().by)),
      spec);
}

Schedule scatter(const Spec& spec) { return lower(binomial_scatter(checked(spec)), spec); }

Schedule gather(const Spec& spec) { return lower(binomial_gather(checked(spec)), spec); }

Schedule alltoall(const Spec& spec) {
  return lower(alltoall_algorithm(spec).plan(checked(spec, spec.own<AlltoallOptions>().by)), spec);
}

Schedule barrier(const Spec& spec) { return lower(barrier_plan(checked(spec), by(spec)), spec); }

namespace {

bool are_alike(const CollectiveAlgorithm* algorithm, const MulticastOptions& options) {
  return algorithm != nullptr && algorithm->alike != nullptr && algorithm->alike(options);
}

}  // namespace

bool ranks_are_alike(const Spec& spec) {
  MulticastOptions options = spec.multicast;
  const bool is_barrier = spec.pattern == "barrier";
  if (options.ranks == 1) return false;
  if (spec.pattern == "reduce-scatter") return are_alike(&reduce_scatter_algorithm(spec), options);
  if (spec.pattern == "alltoall") return are_alike(&alltoall_algorithm(spec), options);
  if (spec.pattern == "allgather" || is_barrier) {
    // In a step of the circulant all send as far, and single blocks in one message.
    if (by(spec) == "circulant") return options.bytes <= options.block_bytes;
    if (!is_barrier) return are_alike(find_algorithm(allgather_algorithms(), by(spec)), options);
    options.bytes = 0;
  } else if (spec.pattern != "allreduce") {
    return false;
  }
  return are_alike(find_algorithm(allreduce_algorithms(), by(spec)), options);
}

std::optional<Schedule> schedule_of_first(const Spec& spec) {
  if (!ranks_are_alike(spec)) return std::nullopt;
  Spec first = spec;
  first.edit_own<PlanPart>().first_alone = true;
  return pattern_named(spec.pattern).schedule(first);
}

std::uint64_t reduce_ops(const Spec& spec) {
  return ops_of(spec, tree_edges(spec), tree_edges(spec));
}

std::uint64_t allreduce_ops(const Spec& spec) {
  if (const auto* algorithm = find_algorithm(allreduce_algorithms(), by(spec))) {
    return ops_of(spec, *algorithm, of_sum(spec));
  }
  return ops_of(spec, 2 * tree_edges(spec), tree_edges(spec));
}

std::uint64_t allgather_ops(const Spec& spec) {
  if (const auto* algorithm = find_algorithm(allgather_algorithms(), by(spec))) {
    return ops_of(spec, *algorithm, of_shares(spec));
  }
  return ops_of(spec, spec.multicast.ranks * tree_edges(spec), 0);
}

std::uint64_t reduce_scatter_ops(const Spec& spec) {
  return ops_of(spec, reduce_scatter_algorithm(spec), of_sum(spec));
}

// A share crosses at most as many edges as there are levels.
std::uint64_t tree_shares_ops(const Spec& spec) {
  const std::uint64_t crossings = of_shares(spec) * (ceil_log2(spec.multicast.ranks) + 1);
  return ops_of(spec, std::min(2 * crossings, kMaxOps), 0);
}

std::uint64_t alltoall_ops(const Spec& spec) {
  return ops_of(spec, alltoall_algorithm(spec), of_shares(spec));
}

std::uint64_t barrier_ops(const Spec& spec) {
  if (const auto* algorithm = find_algorithm(allreduce_algorithms(), by(spec))) {
    return ops_of(spec, *algorithm, 1);
  }
  const std::uint64_t rounds = ceil_log2(spec.multicast.ranks);
  return ops_of(spec, spec.multicast.ranks * (rounds + 2), spec.multicast.ranks);
}

namespace {

constexpr Option kByOption = text_option<&CollectiveOptions::by>(
    "by", "a pattern or algorithm", "collectives: the multicast or algorithm they are made of");
// No `start`: the receives of operands wait for slots, and those of sums for what stood there, so
// that a rank cannot post the first of every channel at once.
constexpr Option kAddersOption = count_option<&AdderOptions::adders>(
    "adders", "0 to 1024", "sums: CPU lanes that add, 0: the one that posts", 0, 1024);
constexpr Option kPerNodeOption =
    count_option<&NodeOptions::per_node>("per-node", "a divisor of ranks",
                                         "by=hierarchical: ranks of a node, in order")
        .or_else("near the root of ranks");
constexpr auto kReduceOptions =
    option_list(kPlanOptions, kInFlightOption, kReadyOption, kWindowOption, kMessagesOption,
                kSlotsOption, kByOption, kAddersOption, kStripesOption);
constexpr auto kAllreduceOptions = option_list(kReduceOptions, kPerNodeOption);
constexpr auto kAllgatherOptions = option_list(
    kRanksOption, kBytesOption, kBlockOption, kInFlightOption, kReadyOption, kStartOption,
    kWindowOption, kMessagesOption, kByOption, kStripesOption, kPerNodeOption);
// Receives of what comes on the way wait for what was there to be copied out.
constexpr auto kAlltoallOptions =
    option_list(kRanksOption, kBytesOption, kBlockOption, kInFlightOption, kReadyOption,
                kWindowOption, kMessagesOption,
                text_option<&AlltoallOptions::by>("by", "pairwise|bruck|hierarchical",
                                                  "alltoall: the algorithm"),
                kStripesOption, kPerNodeOption);
constexpr auto kReduceScatterOptions =
    option_list(kRanksOption, kBytesOption, kBlockOption, kInFlightOption, kReadyOption,
                kWindowOption, kMessagesOption, kSlotsOption,
                text_option<&ReduceScatterOptions::by>("by", "ring|recursive-halving|hierarchical",
                                                       "reduce-scatter: the algorithm"),
                kAddersOption, kStripesOption, kPerNodeOption);
constexpr auto kTreeSharesOptions =
    option_list(kPlanOptions, kInFlightOption, kReadyOption, kStartOption, kWindowOption,
                kMessagesOption, kStripesOption);
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
    .op_memory = 340,
    .one_message = true,
    .bus = BusUse::kOnce};

constinit const PatternEntry kAllreducePattern = {
    .name = "allreduce",
    .summary = "the sum of all ranks' values at every rank",
    .options = kAllreduceOptions,
    .schedule = allreduce,
    .op_count = allreduce_ops,
    .one_message = true,
    .bus = BusUse::kThereAndBack};

constinit const PatternEntry kAllgatherPattern = {.name = "allgather",
                                                  .summary = "every rank's bytes at every rank",
                                                  .options = kAllgatherOptions,
                                                  .schedule = allgather,
                                                  .op_count = allgather_ops,
                                                  .one_message = true,
                                                  .bus = BusUse::kAllToAll};

constinit const PatternEntry kReduceScatterPattern = {
    .name = "reduce-scatter",
    .summary = "the sum of all ranks' values, a share of it at each rank",
    .options = kReduceScatterOptions,
    .schedule = reduce_scatter,
    .op_count = reduce_scatter_ops,
    .op_memory = 320,
    .one_message = true,
    .bus = BusUse::kAllToAll};

constinit const PatternEntry kScatterPattern = {
    .name = "scatter",
    .summary = "a share of the root's bytes to each rank, down a binomial tree",
    .options = kTreeSharesOptions,
    .schedule = scatter,
    .op_count = tree_shares_ops,
    .one_message = true,
    .bus = BusUse::kAllToAll};

constinit const PatternEntry kGatherPattern = {
    .name = "gather",
    .summary = "every rank's bytes to the root, up a binomial tree",
    .options = kTreeSharesOptions,
    .schedule = gather,
    .op_count = tree_shares_ops,
    .one_message = true,
    .bus = BusUse::kAllToAll};

constinit const PatternEntry kAlltoallPattern = {
    .name = "alltoall",
    .summary = "every rank's piece for every rank, in pairs, by Bruck or by nodes",
    .options = kAlltoallOptions,
    .schedule = alltoall,
    .op_count = alltoall_ops,
    .one_message = true,
    .bus = BusUse::kAllToAll};

constinit const PatternEntry kBarrierPattern = {
    .name = "barrier",
    .summary = "no rank leaves before every rank has come",
    .options = kBarrierOptions,
    .schedule = barrier,
    .op_count = barrier_ops,
    .op_memory = 400,
    .one_message = true};

}  // namespace slackline::sched
