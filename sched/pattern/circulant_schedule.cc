#include "sched/pattern/circulant_schedule.h"

#include "sched/pattern/pattern.h"

namespace slackline::sched {
namespace {

// Finds one rank's receive schedule: a search over the paths of skips, longest first, that lead
// from the root to the rank's predecessor in each round.
class ReceiveSearch {
 public:
  ReceiveSearch(const std::array<std::uint32_t, 33>& skips, std::uint32_t rounds)
      : skips_(skips), rounds_(static_cast<int>(rounds)) {}

  // Fills found(0 … q − 1) with indices of skips, q among them.
  void run(std::uint32_t rank, int base_block) {
    for (int e = 0; e <= rounds_; ++e) {
      next_[at(e)] = e - 1;
      previous_[at(e)] = e + 1;
    }
    unlink(base_block);
    target_ = std::int64_t{rank} + skip(rounds_);
    search(0, 2 * skip(rounds_), base_block == rounds_ ? rounds_ - 1 : rounds_, 0);
  }
  int found(std::uint32_t k) const { return found_[k]; }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  std::int64_t skip(int index) const { return skips_[at(index)]; }

  // Removed entries keep their own links: a search that stands on one goes on from it.
  void unlink(int e) {
    if (next_[at(e)] >= 0) previous_[at(next_[at(e)])] = previous_[at(e)];
    if (previous_[at(e)] <= rounds_) next_[at(previous_[at(e)])] = next_[at(e)];
  }

  // `reached`: where the path so far leads; `bound`: paths of later rounds stay below it.
  int search(std::int64_t reached, std::int64_t bound, int e, int k) {
    for (; e >= 0 && k < rounds_; e = next_[at(e)]) {
      const std::int64_t further = reached + skip(e);
      if (further > target_ - skip(k) || further >= bound) continue;
      if (further <= target_ - skip(k + 1)) {
        k = search(further, bound, e, k);
        if (k == rounds_) return k;
      }
      if (reached > target_ - skip(k + 1)) return k;
      bound = further;
      found_[at(k++)] = e;
      unlink(e);
    }
    return k;
  }

  const std::array<std::uint32_t, 33>& skips_;
  int rounds_;
  std::int64_t target_ = 0;
  std::array<int, 33> next_{};
  std::array<int, 33> previous_{};
  std::array<int, 33> found_{};
};

}  // namespace

CirculantSchedule::CirculantSchedule(std::uint32_t ranks) : rounds_(ceil_log2(ranks)) {
  skips_[rounds_] = ranks;
  for (std::uint32_t k = rounds_; k-- > 0;) skips_[k] = skips_[k + 1] / 2 + skips_[k + 1] % 2;
  receives_.resize(std::size_t{ranks} * rounds_);
  ReceiveSearch search(skips_, rounds_);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const int phase = static_cast<int>(rounds_);
    const int base = static_cast<int>(base_block(rank));
    search.run(rank, base);
    for (std::uint32_t k = 0; k < rounds_; ++k) {
      const int e = search.found(k);
      receives_[std::size_t{k} * ranks + rank] =
          static_cast<std::int8_t>(e == phase ? base : e - phase);
    }
  }
}

std::uint32_t CirculantSchedule::base_block(std::uint32_t rank) const {
  std::uint32_t last = rounds_;
  for (std::uint32_t k = rounds_; rank != 0 && k-- > 0;) {
    if (skips_[k] > rank) continue;
    rank -= skips_[k];
    last = k;
  }
  return last;
}

}  // namespace slackline::sched
