// SplitMix64's mixing of bits, and draws by it: pure functions of a seed and a place, the same
// everywhere.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace slackline::sched {

/// How far SplitMix64's state moves from draw to draw: 2^64 / golden ratio.
inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15u;

/// SplitMix64's finalizer: a bijection in which every bit of the result depends on every bit of
/// `x`.
constexpr std::uint64_t finalized(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// SplitMix64's draw from the state `x`.
constexpr std::uint64_t mixed(std::uint64_t x) { return finalized(x + kSplitMixStep); }

/// 64 bits for a seed and the numbers of a place.
constexpr std::uint64_t draw(std::uint64_t seed, std::initializer_list<std::uint64_t> place) {
  std::uint64_t bits = mixed(seed);
  for (const std::uint64_t part : place) bits = mixed(bits ^ mixed(part));
  return bits;
}

/// In 0 … bound − 1, for 64 good bits and 1 ≤ bound < 2^32; biased by less than 2^-32.
constexpr std::uint32_t below(std::uint64_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>(((bits >> 32) * bound) >> 32);
}

}  // namespace slackline::sched
