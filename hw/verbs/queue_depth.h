// How many requests a queue pair has room for. Its entries are memory that the NIC reads, pinned
// for as long as the pair lives: with a channel between all pairs of many ranks, as many entries as
// a few channels may have would pin gigabytes.
#pragma once

#include <cstdint>

namespace slackline::hw {

/// What one request takes up at most, in bytes: an entry with its segments, and its completion.
std::uint64_t request_bytes(std::uint32_t segments);

/// The most that the queues of all ends together are to take; those with the least room for each
/// (kLeastDepth) may take more.
inline constexpr std::uint64_t kMostQueueBytes = std::uint64_t{64} << 20;
inline constexpr std::uint32_t kLeastDepth = 16;
inline constexpr std::uint32_t kMostSends = 256;     // under way at a time, where there is room
inline constexpr std::uint32_t kMostReceives = 512;  // posted at a time

/// Room for the requests of each of `ends` ends that are opened together, while queues take
/// `taken_bytes` already. More than that many are held back, so that less room costs time and
/// changes nothing.
std::uint32_t depth_bound(std::uint64_t ends, std::uint64_t taken_bytes, std::uint32_t segments);

/// The room of one of them: no more than `wanted` (0: not known), as a rule says how many it will
/// ever have under way.
std::uint32_t queue_depth(bool initiates, std::uint32_t wanted, std::uint32_t bound);

}  // namespace slackline::hw
