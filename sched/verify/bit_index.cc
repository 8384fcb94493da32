#include "sched/verify/bit_index.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace slackline::sched {

BitIndex::BitIndex(std::uint32_t size, bool full) : size_(size) {
  for (std::uint32_t bits = size;; bits = (bits + kWordBits - 1) / kWordBits) {
    std::vector<std::uint64_t>& level = levels_.emplace_back(bits / kWordBits + 1, 0);
    if (full) {
      std::fill(level.begin(), level.end() - 1, ~std::uint64_t{0});
      level.back() = (std::uint64_t{1} << (bits % kWordBits)) - 1;
    }
    if (level.size() == 1) return;
  }
}

void BitIndex::insert(std::uint32_t number) {
  for (std::vector<std::uint64_t>& level : levels_) {
    level[number / kWordBits] |= std::uint64_t{1} << (number % kWordBits);
    number /= kWordBits;
  }
}

void BitIndex::erase(std::uint32_t number) {
  for (std::vector<std::uint64_t>& level : levels_) {
    std::uint64_t& word = level[number / kWordBits];
    word &= ~(std::uint64_t{1} << (number % kWordBits));
    if (word != 0) return;
    number /= kWordBits;
  }
}

std::uint32_t BitIndex::next(std::uint32_t number) const {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const std::uint32_t at = number / kWordBits;
    if (at >= levels_[l].size()) return size_;
    const std::uint64_t rest = levels_[l][at] >> (number % kWordBits);
    if (rest != 0) {
      number += static_cast<std::uint32_t>(std::countr_zero(rest));
      while (l > 0) {
        --l;
        number =
            number * kWordBits + static_cast<std::uint32_t>(std::countr_zero(levels_[l][number]));
      }
      return number;
    }
    number = at + 1;
  }
  return size_;
}

std::uint32_t BitIndex::last(std::uint32_t number) const {
  for (std::size_t l = 0;; ++l) {
    const std::uint32_t at = number / kWordBits;
    const std::uint64_t rest = levels_[l][at] << (kWordBits - 1 - number % kWordBits);
    if (rest != 0) {
      number -= static_cast<std::uint32_t>(std::countl_zero(rest));
      while (l > 0) {
        --l;
        number = number * kWordBits + kWordBits - 1 -
                 static_cast<std::uint32_t>(std::countl_zero(levels_[l][number]));
      }
      return number;
    }
    number = at - 1;  // a member exists, so this is no word before the first
  }
}

}  // namespace slackline::sched
