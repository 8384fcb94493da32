// Max-min fair rates: against their definition, and whatever the order in which they are asked for.
#include "analysis/engines/max_min.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/property/random_runs.h"

namespace slackline::analysis {
namespace {

using testing::Dice;

struct Passage {
  std::uint32_t link;
  std::uint32_t times;
};

struct Problem {
  std::vector<MaxMin::Rate> capacities;
  std::vector<MaxMin::Rate> bounds;          // of flows
  std::vector<std::vector<Passage>> passed;  // by each flow
};

// Few different ones, so that many levels are equal; some so small that rounding is large.
MaxMin::Rate random_rate(Dice& dice, bool small) {
  const MaxMin::Rate unit = small ? 1 : MaxMin::Rate{1'000'000'007} << 80;
  return unit * (dice.one_in(2) ? 1 + dice.below(4) : 1 + dice.below(100));
}

Problem random_problem(Dice& dice, bool twice, bool small) {
  Problem problem;
  for (std::uint32_t l = 1 + dice.below(8); l != 0; --l) {
    problem.capacities.push_back(20 * random_rate(dice, small));
  }
  for (std::uint32_t f = 1 + dice.below(12); f != 0; --f) {
    problem.bounds.push_back(random_rate(dice, small));
    std::vector<Passage> passed;
    for (std::uint32_t l = 0; l < problem.capacities.size(); ++l) {
      if (dice.one_in(3)) passed.push_back({l, twice && dice.one_in(4) ? 2u : 1u});
    }
    problem.passed.push_back(passed);
  }
  return problem;
}

// Links and flows are told in the order that `links` and `flows` number them in. Links of the bits
// in `unexpected` are not expected to fill.
std::vector<MaxMin::Rate> solved(MaxMin& filling, const Problem& problem,
                                 const std::vector<std::uint32_t>& links,
                                 const std::vector<std::uint32_t>& flows,
                                 std::uint32_t unexpected = 0) {
  filling.begin();
  std::vector<std::uint32_t> number(links.size());
  for (const std::uint32_t l : links) {
    number[l] = filling.add_link(problem.capacities[l], l, (unexpected >> l & 1) == 0);
  }
  for (const std::uint32_t f : flows) {
    filling.add_flow(problem.bounds[f], static_cast<std::uint32_t>(problem.passed[f].size()));
    for (const Passage& p : problem.passed[f]) filling.pass(number[p.link], p.times);
  }
  filling.solve();
  std::vector<MaxMin::Rate> rates(flows.size());
  for (std::uint32_t i = 0; i < flows.size(); ++i) rates[flows[i]] = filling.rate(i);
  return rates;
}

std::vector<std::uint32_t> first_numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

void shuffle(Dice& dice, std::vector<std::uint32_t>& numbers) {
  for (std::size_t i = numbers.size(); i > 1; --i) {
    std::swap(numbers[i - 1], numbers[dice.below(static_cast<std::uint32_t>(i))]);
  }
}

// Rates are max-min fair if and only if no link carries more than it can, and every flow has its
// bound or passes a full link on which nobody has more (Bertsekas and Gallager, section 6.5.2). In
// whole numbers a link is full if not each of those that have most there could have one more.
void expect_max_min(const Problem& problem, const std::vector<MaxMin::Rate>& rates,
                    const std::string& what) {
  std::vector<MaxMin::Rate> load(problem.capacities.size(), 0);
  std::vector<MaxMin::Rate> most(problem.capacities.size(), 0);
  std::vector<MaxMin::Rate> times(problem.capacities.size(), 0);  // of those that have most
  for (std::size_t f = 0; f < rates.size(); ++f) {
    for (const Passage& p : problem.passed[f]) {
      load[p.link] += p.times * rates[f];
      if (rates[f] > most[p.link]) times[p.link] = 0;
      most[p.link] = std::max(most[p.link], rates[f]);
      if (rates[f] == most[p.link]) times[p.link] += p.times;
    }
  }
  for (std::size_t l = 0; l < load.size(); ++l) {
    EXPECT_TRUE(load[l] <= problem.capacities[l]) << what << ", link " << l;
  }
  for (std::size_t f = 0; f < rates.size(); ++f) {
    EXPECT_TRUE(rates[f] > 0) << what << ", flow " << f;
    EXPECT_TRUE(rates[f] <= problem.bounds[f]) << what << ", flow " << f;
    bool held = rates[f] == problem.bounds[f];
    for (const Passage& p : problem.passed[f]) {
      held = held || (problem.capacities[p.link] - load[p.link] < times[p.link] &&
                      rates[f] == most[p.link]);
    }
    EXPECT_TRUE(held) << what << ", flow " << f;
  }
}

TEST(MaxMin, IsWhatItsDefinitionSays) {
  MaxMin filling;
  for (std::uint32_t seed = 0; seed < 6'000 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const Problem problem = random_problem(dice, seed % 2 == 0, seed % 3 == 0);
    const std::vector<MaxMin::Rate> rates =
        solved(filling, problem, first_numbers(problem.capacities.size()),
               first_numbers(problem.bounds.size()));
    expect_max_min(problem, rates, "seed " + std::to_string(seed));
  }
}

TEST(MaxMin, LeavesAFlowOneUnitWhereALinkHasNothing) {
  MaxMin filling;
  filling.begin();
  const std::uint32_t empty = filling.add_link(-3, 0);
  filling.add_flow(10, 1);
  filling.pass(empty, 1);
  filling.add_flow(10, 1);
  filling.pass(empty, 2);
  filling.solve();
  for (const std::uint32_t flow : {0u, 1u}) {
    EXPECT_TRUE(filling.rate(flow) == 1);
    EXPECT_EQ(filling.bottleneck(flow), empty);
  }
  EXPECT_TRUE(filling.left(empty) == -6);
  EXPECT_TRUE(filling.most(empty) == 1);
  EXPECT_EQ(filling.held(empty), 3u);
}

TEST(MaxMin, DoesNotDependOnTheOrderOfLinksAndFlows) {
  MaxMin filling;
  for (std::uint32_t seed = 0; seed < 3'000 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const Problem problem = random_problem(dice, seed % 2 == 0, seed % 3 == 0);
    std::vector<std::uint32_t> links = first_numbers(problem.capacities.size());
    std::vector<std::uint32_t> flows = first_numbers(problem.bounds.size());
    const std::vector<MaxMin::Rate> rates = solved(filling, problem, links, flows);
    for (int again = 0; again < 3; ++again) {
      shuffle(dice, links);
      shuffle(dice, flows);
      EXPECT_TRUE(solved(filling, problem, links, flows) == rates) << "seed " << seed;
    }
  }
}

// What fills is found out, bit by bit as if it had been known.
TEST(MaxMin, DoesNotDependOnWhatIsExpected) {
  MaxMin filling;
  for (std::uint32_t seed = 0; seed < 6'000 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const Problem problem = random_problem(dice, seed % 2 == 0, seed % 3 == 0);
    const std::vector<std::uint32_t> links = first_numbers(problem.capacities.size());
    const std::vector<std::uint32_t> flows = first_numbers(problem.bounds.size());
    ASSERT_LT(links.size(), 32u);
    const auto told = [&](std::uint32_t unexpected) {
      std::vector<MaxMin::Rate> all = solved(filling, problem, links, flows, unexpected);
      for (const std::uint32_t f : flows) all.emplace_back(filling.bottleneck(f));
      for (const std::uint32_t l : links) {
        all.push_back(filling.left(l));
        all.push_back(filling.most(l));
        all.emplace_back(filling.held(l));
      }
      return all;
    };
    const std::vector<MaxMin::Rate> expected = told(0);
    for (const std::uint32_t unexpected : {~0u, dice.below(~0u), dice.below(~0u)}) {
      EXPECT_TRUE(told(unexpected) == expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
