// What the numbers of terms rule out: held against a search of all that ranks may tell.
#include "analysis/synthesis/sum_sizes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace slackline::analysis {
namespace {

using State = std::vector<SumSize>;

// Every rank in turn is told nothing, or any sum that another may tell and has not told yet.
class EverySum {
 public:
  explicit EverySum(std::uint32_t ranks) : ranks_(ranks) {}

  bool ends(const State& state, std::uint32_t steps) const {
    bool done = true;
    for (const SumSize& rank : state) done = done && rank.has == ranks_;
    return done || (steps != 0 && tell(state, state, 0, 0, steps));
  }

 private:
  bool tell(const State& before, const State& after, std::uint32_t receiver, std::uint64_t told,
            std::uint32_t steps) const {
    if (receiver == before.size()) return ends(after, steps - 1);
    if (tell(before, after, receiver + 1, told, steps)) return true;
    for (std::uint32_t s = 0; s < before.size(); ++s) {
      if (s == receiver || (told >> s & 1) != 0) continue;
      for (std::uint32_t terms = 1; terms <= ranks_; ++terms) {
        if ((before[s].tells >> terms & 1) == 0) continue;
        for (const std::uint32_t has : {before[receiver].has + terms, terms}) {
          if (has > ranks_ || has <= before[receiver].has) continue;
          State next = after;
          next[receiver].has = has;
          next[receiver].tells |= std::uint64_t{1} << has;
          if (tell(before, next, receiver + 1, told | std::uint64_t{1} << s, steps)) return true;
        }
      }
    }
    return false;
  }

  std::uint32_t ranks_;
};

State beginning(std::uint32_t ranks) { return State(ranks, SumSize{1, 2}); }

TEST(SumSizes, AreWhatASearchOfEverySumFinds) {
  std::mt19937_64 random(7);
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    SumSizes sizes(ranks);
    const EverySum every(ranks);
    for (int i = 0; i < 100; ++i) {
      State state = beginning(ranks);
      for (SumSize& rank : state) {
        rank.tells = random() % (std::uint64_t{1} << ranks) << 1 | 2;
        rank.has = static_cast<std::uint32_t>(std::bit_width(rank.tells)) - 1;
        if (rank.has == ranks && random() % 2 == 0) rank = {1, 2};
      }
      for (std::uint32_t steps = 0; steps <= (ranks < 4 ? 3 : 6 - ranks); ++steps) {
        EXPECT_EQ(sizes.may_end(state, steps), every.ends(state, steps))
            << ranks << " ranks, state " << i << ", " << steps << " steps";
      }
    }
  }
}

// Of 2^k ranks k steps; of others what the sums' sizes allow.
TEST(SumSizes, OfSevenRanksThreeStepsAreTooFew) {
  for (std::uint32_t ranks = 2; ranks <= 8; ++ranks) {
    SumSizes sizes(ranks);
    const std::uint32_t steps =
        ranks == 7 ? 4 : static_cast<std::uint32_t>(std::bit_width(ranks - 1));
    EXPECT_FALSE(sizes.may_end(beginning(ranks), steps - 1)) << ranks;
    EXPECT_TRUE(sizes.may_end(beginning(ranks), steps)) << ranks;
  }
}

}  // namespace
}  // namespace slackline::analysis
