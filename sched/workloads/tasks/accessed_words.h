// The words that random accesses are to: where each is at home, and which one an access is to.
#pragma once

#include <cstdint>

#include "sched/workloads/tasks/access_stream.h"
#include "sched/workloads/tasks/global_address.h"

namespace slackline::sched {

class AccessedWords {
 public:
  /// `per_rank` · ranks words, fewer than 2^32, at linear addresses or at ranks' own. Accesses to
  /// `others` leave out the rank's own words; at least two ranks must have words then.
  AccessedWords(std::uint64_t seed, std::uint32_t ranks, std::uint64_t per_rank, bool linear,
                bool others)
      : seed_(seed), ranks_(ranks), per_rank_(per_rank), linear_(linear), others_(others) {}

  std::uint64_t count() const { return per_rank_ * ranks_; }
  std::uint64_t bytes_per_rank() const {
    return linear_ ? striped_share(count() * kWordBytes, ranks_) : per_rank_ * kWordBytes;
  }
  LocalPiece home(std::uint64_t word) const {
    const GlobalAddress address =
        linear_ ? GlobalAddress::linear(word * kWordBytes)
                : GlobalAddress::two_dimensional(static_cast<std::uint32_t>(word % ranks_),
                                                 word / ranks_ * kWordBytes);
    return address.delegated(kWordBytes, ranks_);
  }
  /// The k-th access of a rank: access_of(), drawn again as long as the word is its own and must
  /// not.
  WordAccess access(std::uint32_t rank, std::uint64_t k) const {
    WordAccess found = access_of(seed_, rank, k, count());
    for (std::uint64_t n = 0; others_ && home(found.word).rank == rank; ++n) {
      const std::uint64_t bits = draw(seed_, {kOtherWordDraw, rank, k, n});
      found.word = below(bits, static_cast<std::uint32_t>(count()));
    }
    return found;
  }

 private:
  static constexpr std::uint64_t kWordBytes = 8;
  static constexpr std::uint64_t kOtherWordDraw = 6;

  std::uint64_t seed_;
  std::uint32_t ranks_;
  std::uint64_t per_rank_;
  bool linear_;
  bool others_;
};

}  // namespace slackline::sched
