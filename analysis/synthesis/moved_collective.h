// A collective made of moves, as a schedule.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/synthesis/spreading.h"
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
};

/// A sum is made by reversed moves: `reducing` spreads the shares on the network backwards, and is
/// then run from its end to its beginning. `spreading` is carried out after that. Each is empty
/// where the collective does not have it.
struct CollectiveMoves {
  Moves reducing;
  Moves spreading;
};
bool has_reducing(Collective collective);
bool has_spreading(Collective collective);

/// What has to be spread, forwards or backwards. Throws InputError for too many units.
Spreading spreading_of(const CollectiveTask& task);
/// The same of these moves. Any rank may be the one at which a unit of an allreduce becomes whole,
/// and from which it spreads: it is the one that they have.
Spreading spreading_of(const CollectiveTask& task, const CollectiveMoves& moves);

/// How many moves each of its two halves has at most.
std::uint64_t most_moves(const Spreading& spreading);

/// The moves as a schedule, with credits, one message under way and one receive posted: as a named
/// pattern has them by default. A rank sends in the order of the moves, and receives in it. A step
/// is as early as it can be if a rank sends one message in it, and receives one. `moves` spread the
/// task.
sched::Schedule schedule_of(const CollectiveTask& task, const CollectiveMoves& moves,
                            const std::string& title);

/// Which move a send of schedule_of() carries out: moves of both halves are counted on, in the
/// order in which they are carried out. Of other operations none.
std::vector<std::uint32_t> moves_of_ops(const sched::Schedule& schedule, const CollectiveTask& task,
                                        const CollectiveMoves& moves);
inline constexpr std::uint32_t kNoMove = ~std::uint32_t{0};

}  // namespace slackline::analysis
