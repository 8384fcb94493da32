#include "sched/workloads/tasks/sha1.h"

#include <bit>

namespace slackline::sched {

Sha1 sha1_compress(const Sha1& state, const Sha1Block& block) {
  std::array<std::uint32_t, 80> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = block[t];
  for (std::size_t t = 16; t < 80; ++t) {
    w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  }
  std::uint32_t a = state[0];
  std::uint32_t b = state[1];
  std::uint32_t c = state[2];
  std::uint32_t d = state[3];
  std::uint32_t e = state[4];
  const auto rounds = [&](std::size_t from, std::uint32_t k, auto&& f) {
    for (std::size_t t = from; t < from + 20; ++t) {
      const std::uint32_t next = std::rotl(a, 5) + f(b, c, d) + e + k + w[t];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
  };
  using Word = std::uint32_t;
  const auto parity = [](Word x, Word y, Word z) { return x ^ y ^ z; };
  rounds(0, 0x5a827999u, [](Word x, Word y, Word z) { return (x & y) | (~x & z); });
  rounds(20, 0x6ed9eba1u, parity);
  rounds(40, 0x8f1bbcdcu, [](Word x, Word y, Word z) { return (x & y) | (x & z) | (y & z); });
  rounds(60, 0xca62c1d6u, parity);
  return {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace slackline::sched
