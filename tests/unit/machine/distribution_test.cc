#include "machine/distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::Time;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = Distribution::Kind;

constexpr Time kLongest{sched::kForever.count() - 1};

Distribution constant(Time value) {
  Distribution out;
  out.low = value;
  return out;
}
Distribution uniform(Time low, Time high) {
  Distribution out;
  out.kind = Kind::kUniform;
  out.low = low;
  out.high = high;
  return out;
}
Distribution exponential(Time mean) {
  Distribution out;
  out.kind = Kind::kExponential;
  out.mean = mean;
  return out;
}
Distribution lognormal(Time median, double sigma) {
  Distribution out;
  out.kind = Kind::kLognormal;
  out.median = median;
  out.sigma = sigma;
  return out;
}
Distribution trace(std::vector<Time> values) {
  Distribution out;
  out.kind = Kind::kTrace;
  out.values = std::move(values);
  return out;
}

std::vector<std::int64_t> first_draws(const Distribution& distribution, std::uint64_t count) {
  std::vector<std::int64_t> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(distribution.draw(42, 3, 1, i).count());
  return out;
}

// These must never change: every seeded run would.
TEST(Distribution, DrawsArePinned) {
  EXPECT_THAT(first_draws(constant(Time{17}), 3), ElementsAre(17, 17, 17));
  EXPECT_THAT(first_draws(uniform(Time{0}, Time{2'000'000}), 6),
              ElementsAre(64335, 330216, 1330465, 741607, 851170, 1875142));
  EXPECT_THAT(first_draws(exponential(Time{1'000'000}), 6),
              ElementsAre(32696, 180453, 1094318, 463312, 554404, 2773720));
  EXPECT_THAT(first_draws(lognormal(Time{1'000'000}, 0.5), 6),
              ElementsAre(396561, 614566, 1237871, 848010, 910453, 2154045));
  EXPECT_THAT(first_draws(trace({Time{1}, Time{2}, Time{3}, Time{4}, Time{5}}), 6),
              ElementsAre(1, 2, 3, 4, 5, 1));
}

struct Moments {
  double mean;
  double deviation;
};

Moments sampled(const Distribution& distribution) {
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double value = sched::seconds(distribution.draw(1, 2, 3, i));
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(std::max(0.0, squares / kDraws - mean * mean))};
}

TEST(Distribution, HasItsMeanAndDeviation) {
  const Time us{1'000'000};
  const struct {
    Distribution distribution;
    double mean_us;
    double deviation_us;
  } cases[] = {
      {constant(3 * us), 3, 0},
      {uniform(us, 4 * us), 2.5, std::sqrt(9.0 / 12)},
      {exponential(2 * us), 2, 2},
      {lognormal(us, 0.5), std::exp(0.125), std::sqrt((std::exp(0.25) - 1) * std::exp(0.25))},
      {lognormal(us, 0), 1, 0},
      {trace({us, 2 * us, 6 * us}), 3, std::sqrt(14.0 / 3)},
  };
  for (const auto& [distribution, mean_us, deviation_us] : cases) {
    const Moments got = sampled(distribution);
    EXPECT_NEAR(got.mean, mean_us * 1e-6, 0.01e-6 * (mean_us + deviation_us));
    EXPECT_NEAR(got.deviation, deviation_us * 1e-6, 0.02e-6 * (mean_us + deviation_us));
  }
}

// Kolmogorov and Smirnov's distance between the draws and the distribution function.
TEST(Distribution, FollowsItsDistributionFunction) {
  const Time us{1'000'000};
  constexpr int kDraws = 50'000;
  const struct {
    Distribution distribution;
    double (*below)(double x_us);
  } cases[] = {
      {uniform(us, 3 * us), [](double x) { return std::clamp((x - 1) / 2, 0.0, 1.0); }},
      {exponential(us), [](double x) { return 1 - std::exp(-x); }},
      {lognormal(us, 0.75),
       [](double x) { return std::erfc(-std::log(x) / 0.75 / std::sqrt(2.0)) / 2; }},
  };
  for (const auto& [distribution, below] : cases) {
    std::vector<double> draws_us;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      draws_us.push_back(sched::seconds(distribution.draw(i, 1, 1, 0)) * 1e6);
    }
    std::sort(draws_us.begin(), draws_us.end());
    double distance = 0;
    for (int i = 0; i < kDraws; ++i) {
      distance = std::max(distance, std::abs(below(draws_us[i]) - (i + 0.5) / kDraws));
    }
    // A distance above 2.5 / sqrt(n) has a chance below 10^-5.
    EXPECT_LT(distance, 2.5 / std::sqrt(kDraws));
  }
}

TEST(Distribution, UniformReachesBothEnds) {
  std::set<std::int64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    seen.insert(uniform(Time{5}, Time{9}).draw(0, 0, 0, i).count());
  }
  EXPECT_THAT(seen, ElementsAre(5, 6, 7, 8, 9));
  EXPECT_EQ(uniform(Time{5}, Time{5}).draw(0, 0, 0, 0), Time{5});
}

TEST(Distribution, NeverLeavesTheTimesThereAre) {
  int refused = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (const Distribution& distribution :
         {constant(kLongest), uniform(Time{0}, kLongest), exponential(kLongest),
          exponential(Time{0}), lognormal(kLongest, 1e300), lognormal(Time{1}, 1e308),
          lognormal(Time{0}, 1e308), lognormal(Time{kLongest.count() / 2}, 0)}) {
      try {
        const Time time = distribution.draw(1, 1, 1, i);
        ASSERT_GE(time, Time{0});
        ASSERT_LE(time, kLongest);
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("expected a distribution whose draws stay below 106"));
        ++refused;
      }
    }
  }
  // Half of the two lognormal ones, and what an exponential one has above its mean: 1/e.
  EXPECT_NEAR(refused, 1000 * (0.5 + 0.5 + std::exp(-1.0)), 100);
  EXPECT_EQ(lognormal(Time{0}, 1e308).draw(1, 1, 1, 1), Time{0});
}

TEST(Distribution, ReplaysATraceFromAPlaceOfEachRank) {
  std::vector<Time> values;
  for (std::int64_t i = 0; i < 100; ++i) values.push_back(Time{i});
  const Distribution distribution = trace(values);
  std::set<std::int64_t> places;
  for (std::uint32_t rank = 0; rank < 50; ++rank) {
    const std::int64_t first = distribution.draw(5, rank, 2, 0).count();
    places.insert(first);
    for (std::uint64_t i = 0; i < 300; ++i) {
      ASSERT_EQ(distribution.draw(5, rank, 2, i).count(),
                (first + static_cast<std::int64_t>(i)) % 100);
    }
  }
  EXPECT_GT(places.size(), 25u);
  EXPECT_NO_THROW(distribution.draw(5, 0, 2, ~std::uint64_t{0}));
}

std::string error_of(const Distribution& distribution) {
  return testing::error_of([&] { validate(distribution, "here"); });
}

TEST(Distribution, RefusesWhatNoDistributionHas) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of(constant(Time{-1})), "here: a time of -1 ps; expected at least 0, and an end");
  EXPECT_NE(error_of(constant(sched::kForever)), "");
  EXPECT_EQ(error_of(uniform(Time{3000}, Time{2000})),
            "here: low is 3ns and high is 2ns; expected low at most high");
  EXPECT_EQ(error_of(uniform(Time{-3}, Time{2})),
            "here: a low of -3 ps; expected at least 0, and an end");
  EXPECT_NE(error_of(uniform(Time{0}, sched::kForever)), "");
  EXPECT_EQ(error_of(exponential(Time{-3})),
            "here: a mean of -3 ps; expected at least 0, and an end");
  EXPECT_EQ(error_of(lognormal(Time{-3}, 1)),
            "here: a median of -3 ps; expected at least 0, and an end");
  EXPECT_EQ(error_of(lognormal(Time{1}, -1)),
            "here: a sigma of -1; expected a finite number of at least 0");
  EXPECT_EQ(error_of(lognormal(Time{1}, std::nan(""))),
            "here: a sigma of nan; expected a finite number of at least 0");
  EXPECT_NE(error_of(lognormal(Time{1}, kInfinity)), "");
  EXPECT_EQ(error_of(trace({})), "here: a trace of 0 times; expected 1 to 524288");
  EXPECT_NE(error_of(trace(std::vector<Time>(kMaxTraceValues + 1))), "");
  EXPECT_EQ(error_of(trace({Time{1}, Time{-2}})),
            "here: a value of -2 ps; expected at least 0, and an end");
  for (const Distribution& fine : {constant(Time{0}), constant(kLongest), uniform(Time{0}, Time{0}),
                                   uniform(Time{0}, kLongest), exponential(Time{0}),
                                   lognormal(Time{0}, 0), trace({Time{0}})}) {
    EXPECT_EQ(error_of(fine), "");
  }
}

}  // namespace
}  // namespace slackline::machine
