#include "hw/mesh/neighbours.h"

#include <algorithm>
#include <bit>

namespace slackline::hw {

bool are_neighbours(std::uint32_t one, std::uint32_t other, std::uint32_t ranks,
                    std::uint32_t full_up_to) {
  if (one == other) return false;
  if (ranks <= full_up_to || one == 0 || other == 0) return true;
  const std::uint32_t apart = one > other ? one - other : other - one;
  return std::has_single_bit(apart) || std::has_single_bit(ranks - apart);
}

std::uint32_t neighbours_of_rank(std::uint32_t ranks, std::uint32_t full_up_to) {
  if (ranks <= std::max(full_up_to, 1u)) return ranks - 1;
  const auto distances = static_cast<std::uint32_t>(std::bit_width(ranks - 1));
  return std::min(ranks - 1, 2 * distances + 1);
}

}  // namespace slackline::hw
