// Which ranks of a mesh are connected from the beginning. Few ranks are all connected with each
// other. Beyond that, each is connected with rank 0 and with the ranks whose distance round the
// circle of ranks is a power of two: n ranks have at most n (log2 n + 1) connections. What every
// rank passes on once reaches all, by so many ways that losses of single ranks do not cut it off,
// and all that ranks gather travels over these connections alone (hw/mesh/gathering.h). Other pairs
// connect when they first have something to tell each other.
#pragma once

#include <cstdint>

namespace slackline::hw {

/// Up to so many ranks, all are connected with each other.
inline constexpr std::uint32_t kFullMeshRanks = 64;

/// Whether two ranks, of which there are `ranks`, are connected from the beginning. The same for
/// both. `full_up_to`: as kFullMeshRanks.
bool are_neighbours(std::uint32_t one, std::uint32_t other, std::uint32_t ranks,
                    std::uint32_t full_up_to = kFullMeshRanks);

/// How many neighbours a rank other than 0 has at the most; all others are rank 0's.
std::uint32_t neighbours_of_rank(std::uint32_t ranks, std::uint32_t full_up_to = kFullMeshRanks);

}  // namespace slackline::hw
