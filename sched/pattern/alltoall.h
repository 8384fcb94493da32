// Every rank has a piece for every rank.
#pragma once

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

/// The memory of n ranks: n pieces to send, by the rank that they go to, then n pieces that come,
/// by the rank they are from; behind them what an algorithm needs. A share is a piece.
struct AlltoallMemory {
  std::uint32_t n = 1;

  std::uint32_t to(std::uint32_t rank) const { return rank; }
  std::uint32_t from(std::uint32_t rank) const { return n + rank; }
  std::uint32_t shares() const { return 2 * n; }

  /// With `more` shares of memory. Throws InputError as ShareWriter does.
  ShareWriter writer(const MulticastOptions& options, std::uint32_t more) const;
  /// Each rank's piece for itself is copied, in the first step.
  void keep_own(ShareWriter& out) const;
  /// The contract: piece j of rank i comes to rank j as piece i.
  void promise(ShareWriter& out) const;
};

/// Pairwise exchange: in step s = 1 … n − 1 rank r sends rank r xor s its piece, or rank r + s
/// where n is no power of two. `bytes` are a piece's; `root` has no meaning.
CollectivePlan pairwise_alltoall(const MulticastOptions& options);

}  // namespace slackline::sched
