// What share of a collective's bytes crosses the busiest link whatever the algorithm, so that
// different numbers of ranks, and different collectives, can be held against one line rate.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slackline::analysis {

/// The bus bandwidth over the algorithm bandwidth (the bytes of the message over the makespan), as
/// nccl-tests define them (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md), for n ranks:
///
///   multicasts, reduce   1
///   allreduce            2 (n − 1) / n
///   allgather            (n − 1) / n; its message is what a rank has in the end, n times its own
///   reduce-scatter, scatter, gather, alltoall
///                        (n − 1) / n; the message is what is summed, or all shares together
///
/// Nothing for patterns without such a factor, and names that are none. ranks ≥ 1. One rank alone
/// has no bus: 0 where the factor says so.
std::optional<double> bus_factor(std::string_view pattern, std::uint32_t ranks);

}  // namespace slackline::analysis
