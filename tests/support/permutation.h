// Pairs of ranks of which the first puts one message to the second, all at once.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sched/text.h"

namespace slackline::testing {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Each of the pairs has a channel of its own, in their order.
inline sched::Schedule permutation(std::uint32_t ranks, const Pairs& pairs, std::uint64_t bytes) {
  std::string head = fmt::format("slackline schedule 1\ntitle \"permutation\"\nranks {}\n", ranks);
  std::string channels;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [src, dst] = pairs[i];
    head += fmt::format("buffer {} rank {} bytes {}\nbuffer {} rank {} bytes {}\n", 2 * i, src,
                        bytes, 2 * i + 1, dst, bytes);
    channels += fmt::format("channel {} from {} to {}\n", i, src, dst);
  }
  std::string text = head + channels;
  std::size_t op = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::string program;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].first != rank) continue;
      program += fmt::format("  {} put on {} reads {}[0+{}] writes {}[0+{}]\n", op++, i, 2 * i,
                             bytes, 2 * i + 1, bytes);
    }
    if (!program.empty()) text += fmt::format("rank {}\n{}", rank, program);
  }
  return sched::read_text(text);
}

}  // namespace slackline::testing
