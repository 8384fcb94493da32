// Sets of terms of partial sums, each known by a number.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace slackline::analysis {

/// Of so many terms. The same set has one number, 0 is the empty one.
class TermSets {
 public:
  explicit TermSets(std::uint32_t terms);

  static constexpr std::uint32_t kNone = 0;
  std::uint32_t of(std::uint32_t term);
  std::uint32_t all();
  std::uint32_t both(std::uint32_t a, std::uint32_t b) { return pair(a, b).both; }
  bool apart(std::uint32_t a, std::uint32_t b) { return pair(a, b).apart; }
  /// Whether every term of a is one of b.
  bool within(std::uint32_t a, std::uint32_t b) { return pair(a, b).both == b; }

 private:
  using Words = std::vector<std::uint64_t>;
  struct Pair {
    std::uint32_t both;
    bool apart;
  };
  std::uint32_t number_of(Words words);
  const Pair& pair(std::uint32_t a, std::uint32_t b);

  std::uint32_t terms_;
  std::vector<Words> sets_;
  std::map<Words, std::uint32_t> numbers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Pair> pairs_;
};

}  // namespace slackline::analysis
