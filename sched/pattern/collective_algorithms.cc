#include "sched/pattern/collective_algorithms.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"
#include "sched/pattern/alltoall.h"
#include "sched/pattern/bruck.h"
#include "sched/pattern/bruck_allreduce.h"
#include "sched/pattern/halving_doubling.h"
#include "sched/pattern/hierarchical.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/ring.h"

namespace slackline::sched {
namespace {

std::uint32_t once(std::uint32_t) { return 1; }
std::uint32_t twice(std::uint32_t) { return 2; }
std::uint32_t round(std::uint32_t ranks) { return ranks - 1; }
std::uint32_t two_rounds(std::uint32_t ranks) { return 2 * (ranks - 1); }
// One way over all levels, or there and back, with what is folded.
std::uint32_t levels(std::uint32_t ranks) { return floor_log2(ranks) + 2; }
std::uint32_t two_ways(std::uint32_t ranks) { return 2 * floor_log2(ranks) + 3; }
// Half of the buffer each in the first two steps, the buffer in the last.
std::uint32_t two_ways_folded(std::uint32_t) { return 4; }
// Where what a rank sends another in a step is not one run: by shares.
std::uint32_t by_shares(std::uint32_t ranks) { return ranks; }
// Half of the pieces on each level.
std::uint32_t half_levels(std::uint32_t ranks) { return levels(ranks) / 2; }

// With two sums for what a rank is told.
std::uint32_t two_level_sums(std::uint32_t ranks) { return 2 * levels(ranks); }

bool always(const MulticastOptions&) { return true; }
// Shares of one size.
bool even(const MulticastOptions& options) { return options.bytes % options.ranks == 0; }
// None is folded.
bool in_pairs(const MulticastOptions& options) { return std::has_single_bit(options.ranks); }
// And what a rank sends in a step, half of the buffer at most, is one message: of several each
// would send the first ones, or the last, of those that it got in the step before.
bool halves(const MulticastOptions& options) {
  return in_pairs(options) && even(options) && options.bytes / 2 <= options.block_bytes;
}
bool gathered_halves(const MulticastOptions& options) {
  return in_pairs(options) && options.bytes <= options.block_bytes / (options.ranks / 2);
}

constexpr CollectiveAlgorithm kAllreduce[] = {
    {"ring", ring_allreduce, two_rounds, twice, even},
    {"recursive-doubling", recursive_doubling_allreduce, levels, levels, in_pairs},
    {"rabenseifner", rabenseifner_allreduce, two_ways, two_ways_folded, halves},
    {"bruck", bruck_allreduce, levels, two_level_sums, always},
    {"hierarchical", hierarchical_allreduce, two_rounds, twice},
};
constexpr CollectiveAlgorithm kAllgather[] = {
    {"ring", ring_allgather, round, once, always},
    {"recursive-doubling", recursive_doubling_allgather, levels, twice, gathered_halves},
    {"bruck", bruck_allgather, levels, once, always},
    {"hierarchical", hierarchical_allgather, by_shares, once},
};
constexpr CollectiveAlgorithm kReduceScatter[] = {
    {"ring", ring_reduce_scatter, round, once, even},
    {"recursive-halving", recursive_halving_reduce_scatter, levels, twice, halves},
    {"hierarchical", hierarchical_reduce_scatter, by_shares, once},
};
constexpr CollectiveAlgorithm kAlltoall[] = {
    {"pairwise", pairwise_alltoall, round, once, always},
    {"bruck", bruck_alltoall, levels, half_levels, always},
    {"hierarchical", hierarchical_alltoall, by_shares, twice},
};

}  // namespace

std::uint64_t CollectiveAlgorithm::most_messages(std::uint32_t ranks,
                                                 std::uint64_t of_buffer) const {
  const unsigned __int128 most =
      static_cast<unsigned __int128>(of_buffer) * buffers(ranks) + steps(ranks);
  return static_cast<std::uint64_t>(std::min<unsigned __int128>(most * ranks, 1ull << 63));
}

CollectiveAlgorithms allreduce_algorithms() { return kAllreduce; }
CollectiveAlgorithms allgather_algorithms() { return kAllgather; }
CollectiveAlgorithms reduce_scatter_algorithms() { return kReduceScatter; }
CollectiveAlgorithms alltoall_algorithms() { return kAlltoall; }

const CollectiveAlgorithm* find_algorithm(CollectiveAlgorithms among, std::string_view name) {
  return base::find_named(among, name);
}

const CollectiveAlgorithm& algorithm_named(CollectiveAlgorithms among, std::string_view name) {
  if (const CollectiveAlgorithm* const found = find_algorithm(among, name)) return *found;
  throw InputError("by: " + unknown_name("algorithm", name, base::names_of(among)));
}

}  // namespace slackline::sched
