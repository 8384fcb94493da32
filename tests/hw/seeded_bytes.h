// Bytes that a number and their places say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mix.h"

namespace slackline::testing {

inline std::byte seeded_byte(std::uint64_t seed, std::uint64_t at) {
  return static_cast<std::byte>(sched::finalized(seed * 1'000'003 + at) >> 11);
}
inline void fill_seeded(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = seeded_byte(seed, i);
}
inline bool is_seeded(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != seeded_byte(seed, i)) return false;
  }
  return true;
}

}  // namespace slackline::testing
