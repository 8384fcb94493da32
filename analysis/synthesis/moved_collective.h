// A collective made of moves, as a schedule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/synthesis/spreading.h"
#include "analysis/synthesis/summing.h"
#include "sched/schedule.h"

namespace slackline::analysis {

enum class Collective : std::uint8_t { kMulticast, kAllgather, kReduceScatter, kAllreduce };

/// "multicast", "allgather", "reduce-scatter", "allreduce": in the order of Collective.
std::string_view name_of(Collective collective);
/// Throws InputError, with those that there are, for another name.
Collective collective_named(std::string_view name);

struct CollectiveTask {
  Collective collective = Collective::kMulticast;
  std::uint32_t ranks = 1;
  /// Of a multicast, the message of rank 0; of an allgather, a rank's share; else what is summed.
  std::uint64_t bytes = 0;
  std::uint64_t block_bytes = 1;  // a unit has no more; ≥ 1
  /// The shares that the message of an allreduce is cut into, and these into units; 0: one for each
  /// rank. Others have the shares that they are about.
  std::uint32_t shares = 0;
};

/// A sum is made by reversed moves: `reducing` spreads the shares on the network backwards, and is
/// then run from its end to its beginning. `spreading` is carried out after that. Each is empty
/// where the collective does not have it.
///
/// What has no such halves is said by `summing`, and both are empty then: all is carried out as it
/// stands there, from its beginning on. Any collective can be said so.
struct CollectiveMoves {
  Moves reducing;
  Moves spreading;
  SumMoves summing = {};

  std::size_t count() const { return reducing.size() + spreading.size() + summing.size(); }
};
bool has_reducing(Collective collective);
bool has_spreading(Collective collective);

/// All of them as `summing` says it, in the order in which they are carried out.
SumMoves as_sums(const CollectiveMoves& moves);

/// Whether the moves make what the collective promises.
bool carries_out(const CollectiveTask& task, const CollectiveMoves& moves);

/// What is to be summed, and what stands where. Throws InputError for too many units.
Summing summing_of(const CollectiveTask& task);

/// What has to be spread, forwards or backwards. Throws InputError for too many units.
Spreading spreading_of(const CollectiveTask& task);
/// The same of these moves. Any rank may be the one at which a unit of an allreduce becomes whole,
/// and from which it spreads: it is the one that they have.
Spreading spreading_of(const CollectiveTask& task, const CollectiveMoves& moves);

/// How many moves each of its two halves has at most.
std::uint64_t most_moves(const Spreading& spreading);

/// The moves as a schedule, with credits, one message under way and one receive posted: as a named
/// pattern has them by default. A rank sends in the order of the moves, and receives in it. Steps
/// are those of sum_steps.h. `moves` carry out the task.
sched::Schedule schedule_of(const CollectiveTask& task, const CollectiveMoves& moves,
                            const std::string& title);

/// Which move a send of schedule_of() carries out: they are counted as as_sums() has them. Of other
/// operations none.
std::vector<std::uint32_t> moves_of_ops(const sched::Schedule& schedule, const CollectiveTask& task,
                                        const CollectiveMoves& moves);
inline constexpr std::uint32_t kNoMove = ~std::uint32_t{0};

}  // namespace slackline::analysis
