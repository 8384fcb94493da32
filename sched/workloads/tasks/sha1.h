// SHA-1 (FIPS 180-4), of which the unbalanced trees are drawn. Not for secrets.
#pragma once

#include <array>
#include <cstdint>

namespace slackline::sched {

/// A digest as five words; its bytes are theirs, the most significant first.
using Sha1 = std::array<std::uint32_t, 5>;
using Sha1Block = std::array<std::uint32_t, 16>;

inline constexpr Sha1 kSha1Start = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                                    0xc3d2e1f0u};

/// The state after one more block of 64 bytes, given as words, the most significant byte first.
Sha1 sha1_compress(const Sha1& state, const Sha1Block& block);

}  // namespace slackline::sched
