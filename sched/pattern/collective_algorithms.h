// The algorithms that collectives are made of beside the multicasts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sched/pattern/collective_plan.h"

namespace slackline::sched {

struct CollectiveAlgorithm {
  std::string_view name;
  CollectivePlan (*plan)(const MulticastOptions&);
  /// No fewer than a rank sends in; and how often it sends the bytes of the buffer, at most.
  std::uint32_t (*steps)(std::uint32_t ranks);
  std::uint32_t (*buffers)(std::uint32_t ranks);
  /// Whether all of at least two ranks do the same, up to their names, with messages of the same
  /// sizes in the same order; null: never.
  bool (*alike)(const MulticastOptions& options) = nullptr;

  /// No fewer than it makes, up to 2^63, if the buffer alone makes so many.
  std::uint64_t most_messages(std::uint32_t ranks, std::uint64_t of_buffer) const;
};

using CollectiveAlgorithms = std::span<const CollectiveAlgorithm>;
CollectiveAlgorithms allreduce_algorithms();
CollectiveAlgorithms allgather_algorithms();
CollectiveAlgorithms reduce_scatter_algorithms();
CollectiveAlgorithms alltoall_algorithms();

/// Nothing if there is no such algorithm.
const CollectiveAlgorithm* find_algorithm(CollectiveAlgorithms among, std::string_view name);
/// Throws InputError, with what there is, if there is no such algorithm.
const CollectiveAlgorithm& algorithm_named(CollectiveAlgorithms among, std::string_view name);

}  // namespace slackline::sched
