// A set of small numbers in which the next and the last before a place are found in a few steps,
// however sparse it is.
#pragma once

#include <cstdint>
#include <vector>

namespace slackline::sched {

class BitIndex {
 public:
  /// For numbers below `size`: all of them at first, or none.
  BitIndex(std::uint32_t size, bool full);

  bool contains(std::uint32_t number) const {
    return (levels_.front()[number / kWordBits] >> (number % kWordBits) & 1u) != 0;
  }
  void insert(std::uint32_t number);
  void erase(std::uint32_t number);

  /// The least member that is at least `number`; the size if there is none.
  std::uint32_t next(std::uint32_t number) const;
  /// The greatest member that is at most `number`, which must exist.
  std::uint32_t last(std::uint32_t number) const;

 private:
  static constexpr std::uint32_t kWordBits = 64;

  std::uint32_t size_;
  // The bits; and above each level, whether its words have any.
  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace slackline::sched
