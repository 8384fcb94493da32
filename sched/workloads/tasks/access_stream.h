// Uniform random access to the words of a global array (GUPS).
#pragma once

#include <cstdint>

#include "base/mix.h"

namespace slackline::sched {

struct WordAccess {
  std::uint64_t word = 0;   // of all words, 0 … words − 1
  std::uint64_t value = 0;  // what is added or written; 1 … 2^16
};

/// The k-th access of a rank; 1 ≤ words < 2^32.
inline WordAccess access_of(std::uint64_t seed, std::uint32_t rank, std::uint64_t k,
                            std::uint64_t words) {
  const std::uint64_t bits = draw(seed, {rank, k});
  return {below(bits, static_cast<std::uint32_t>(words)), 1 + (bits & 0xffff)};
}

}  // namespace slackline::sched
