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
  std::vector<double> capacities;
  std::vector<double> bounds;                // of flows
  std::vector<std::vector<Passage>> passed;  // by each flow
};

// Rates in whole bits per second, few different ones, so that many levels are equal.
double random_rate(Dice& dice) {
  return 1e9 * (dice.one_in(2) ? 1 + dice.below(4) : 1 + dice.below(100)) / 8;
}

Problem random_problem(Dice& dice, bool twice) {
  Problem problem;
  for (std::uint32_t l = 1 + dice.below(8); l != 0; --l) {
    problem.capacities.push_back(random_rate(dice));
  }
  for (std::uint32_t f = 1 + dice.below(12); f != 0; --f) {
    problem.bounds.push_back(random_rate(dice));
    std::vector<Passage> passed;
    for (std::uint32_t l = 0; l < problem.capacities.size(); ++l) {
      if (dice.one_in(3)) passed.push_back({l, twice && dice.one_in(4) ? 2u : 1u});
    }
    problem.passed.push_back(passed);
  }
  return problem;
}

// Links and flows are told in the order that `links` and `flows` number them in.
std::vector<double> solved(MaxMin& filling, const Problem& problem,
                           const std::vector<std::uint32_t>& links,
                           const std::vector<std::uint32_t>& flows) {
  filling.begin();
  std::vector<std::uint32_t> number(links.size());
  for (const std::uint32_t l : links) {
    number[l] = filling.add_link(problem.capacities[l], l);
    for (std::uint32_t i = 0; i < flows.size(); ++i) {
      for (const Passage& p : problem.passed[flows[i]]) {
        if (p.link == l) filling.carry(i);
      }
    }
  }
  for (const std::uint32_t f : flows) {
    filling.add_flow(problem.bounds[f]);
    for (const Passage& p : problem.passed[f]) filling.pass(number[p.link], p.times);
  }
  filling.solve();
  std::vector<double> rates(flows.size());
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
// bound or passes a full link on which nobody has more (Bertsekas and Gallager, section 6.5.2).
void expect_max_min(const Problem& problem, const std::vector<double>& rates,
                    const std::string& what) {
  constexpr double kNear = 1e-12;
  std::vector<double> load(problem.capacities.size(), 0);
  std::vector<double> most(problem.capacities.size(), 0);
  for (std::size_t f = 0; f < rates.size(); ++f) {
    for (const Passage& p : problem.passed[f]) {
      load[p.link] += p.times * rates[f];
      most[p.link] = std::max(most[p.link], rates[f]);
    }
  }
  for (std::size_t l = 0; l < load.size(); ++l) {
    EXPECT_LE(load[l], problem.capacities[l] * (1 + kNear)) << what << ", link " << l;
  }
  for (std::size_t f = 0; f < rates.size(); ++f) {
    EXPECT_GT(rates[f], 0) << what << ", flow " << f;
    EXPECT_LE(rates[f], problem.bounds[f]) << what << ", flow " << f;
    bool held = rates[f] == problem.bounds[f];
    for (const Passage& p : problem.passed[f]) {
      held = held || (load[p.link] >= problem.capacities[p.link] * (1 - kNear) &&
                      rates[f] >= most[p.link] * (1 - kNear));
    }
    EXPECT_TRUE(held) << what << ", flow " << f;
  }
}

TEST(MaxMin, IsWhatItsDefinitionSays) {
  MaxMin filling;
  for (std::uint32_t seed = 0; seed < 6'000 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const Problem problem = random_problem(dice, seed % 2 == 0);
    const std::vector<double> rates =
        solved(filling, problem, first_numbers(problem.capacities.size()),
               first_numbers(problem.bounds.size()));
    expect_max_min(problem, rates, "seed " + std::to_string(seed));
  }
}

TEST(MaxMin, DoesNotDependOnTheOrderOfLinksAndFlows) {
  MaxMin filling;
  for (std::uint32_t seed = 0; seed < 3'000 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const Problem problem = random_problem(dice, false);
    std::vector<std::uint32_t> links = first_numbers(problem.capacities.size());
    std::vector<std::uint32_t> flows = first_numbers(problem.bounds.size());
    const std::vector<double> rates = solved(filling, problem, links, flows);
    for (int again = 0; again < 3; ++again) {
      shuffle(dice, links);
      shuffle(dice, flows);
      EXPECT_EQ(solved(filling, problem, links, flows), rates) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
