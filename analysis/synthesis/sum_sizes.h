// What the numbers of terms alone say of an allreduce of one unit: which of its steps cannot be.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace slackline::analysis {

/// A rank, by how many terms its sum has, and what it may tell.
struct SumSize {
  std::uint32_t has = 0;
  std::uint64_t tells = 0;  // bit k: a sum of k terms

  friend auto operator<=>(const SumSize&, const SumSize&) = default;
};

/// Whether a rank with `has` terms of `ranks` may have all in `left` steps, where the largest sum
/// has `largest`: sums at most double, and its own grows by one of them in each step, or one takes
/// its place.
bool may_have_all(std::uint32_t ranks, std::uint32_t has, std::uint32_t largest,
                  std::uint32_t left);

/// Looks at all that ranks may tell each other if any two sums whose terms are no more than there
/// are could be added, links carried everything, and a rank that had a sum could always tell it.
/// Real moves can do no more, so where these do not give every rank all terms, none do: seven ranks
/// in three steps, say, of which each would have to end with three terms and four, so that as many
/// would have three before as four. Remembers what it has looked at.
class SumSizes {
 public:
  /// Of so many ranks, 63 at most.
  explicit SumSizes(std::uint32_t ranks) : ranks_(ranks) {}

  /// False only where no moves give every rank all terms in so many steps.
  bool may_end(std::vector<SumSize> ranks, std::uint32_t steps);

 private:
  using State = std::vector<SumSize>;  // ascending: ranks of one size are alike
  struct Step {
    const State& before;
    State after;
    const std::uint32_t left;          // with it
    std::vector<std::uint32_t> told;   // by rank: how many terms; 0: nothing
    std::vector<std::uint32_t> tells;  // by rank: whom; kNobody
  };

  bool choose(Step& step, std::uint32_t receiver);
  bool becomes(Step& step, std::uint32_t receiver, std::uint32_t has);
  static bool find_sender(Step& step, std::uint32_t receiver, std::uint64_t& tried);

  const std::uint32_t ranks_;
  std::map<std::pair<State, std::uint32_t>, bool> known_;
};

}  // namespace slackline::analysis
