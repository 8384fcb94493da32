// Random draws as pure functions of (seed, rank, site, attempt): no state, so that the same seed
// gives the same run whatever the order, the threads or the machine. The functions below use no
// mathematics library, whose last bits differ between machines.
#pragma once

#include <cstdint>

#include "sched/ids.h"

namespace slackline::machine {

/// Where a draw is made. `site` is what the caller numbers: an operation, an arrival, a choice.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint64_t site = 0;
  std::uint64_t attempt = 0;
};

/// 64 bits, each as good as any other.
std::uint64_t draw_bits(const DrawKey& key);

/// In [0, 1), a multiple of 2^-53.
double draw_uniform(const DrawKey& key);

/// In 0 … bound − 1, without bias worth mention (bound · 2^-64); bound ≥ 1.
std::uint64_t draw_below(const DrawKey& key, std::uint64_t bound);

/// The standard normal's quantile at `p`, in (0, 1), to a relative 1e-15.
double normal_quantile(double p);

/// log, of a positive finite number, and exp to a relative 1e-15; the same bits on every machine.
/// exp is infinite or 0 where std::exp is, and as coarse as doubles are where it is subnormal.
double portable_log(double x);
double portable_exp(double x);

// What draw_bits() is made of, open to loops over many seeds or attempts, which compute the stream
// once and the sum by additions.

/// The hash of the parts of a key that such a loop keeps.
std::uint64_t draw_stream(std::uint32_t rank, std::uint64_t site);

/// A bijection in which every bit of the result depends on every bit of `x` (Evensen's "moremur"
/// variant of MurmurHash3's finaliser).
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ x >> 27) * 0x3c79ac492ba7b653u;
  x = (x ^ x >> 33) * 0x1c69b3f74ac4ae35u;
  return x ^ x >> 27;
}

/// Odd factors without small multiples in common: two pairs (seed, attempt) of one sum differ by
/// 2^31 or more, in the seed or in the attempt.
inline constexpr std::uint64_t kSeedFactor = 0x9e3779b97f4a7c15u;     // 2^64 / golden ratio
inline constexpr std::uint64_t kAttemptFactor = 0xd1342543de82ef95u;  // a multiplier of Steele's

constexpr std::uint64_t draw_bits(std::uint64_t stream, std::uint64_t seed, std::uint64_t attempt) {
  return mix_bits(stream + seed * kSeedFactor + attempt * kAttemptFactor);
}

/// The top 53 of 64 bits, as draw_uniform() takes them.
constexpr double uniform_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace slackline::machine
