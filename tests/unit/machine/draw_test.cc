#include "machine/draw.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace slackline::machine {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

double relative_error(double got, long double truth) {
  return static_cast<double>(std::fabs((static_cast<long double>(got) - truth) / truth));
}

// In [low, high), the same on every run.
double between(double low, double high, std::uint64_t attempt) {
  return low + (high - low) * draw_uniform({2024, 0, 0, attempt});
}

// These must never change: every seeded run would.
TEST(Draw, BitsArePinned) {
  EXPECT_EQ(draw_bits({0, 0, 0, 0}), 0x78a1b47ef3d232f0u);
  EXPECT_EQ(draw_bits({1, 0, 0, 0}), 0xaa409a19f4b9dcd9u);
  EXPECT_EQ(draw_bits({0, 1, 0, 0}), 0xe03e98dde85f4d3fu);
  EXPECT_EQ(draw_bits({0, 0, 1, 0}), 0x297ba8e22e51e0a5u);
  EXPECT_EQ(draw_bits({0, 0, 0, 1}), 0xb06bbde3c5a9a5fdu);
  EXPECT_EQ(draw_bits({42, 7, 1234567890123, 99}), 0xa1b9cdeec259f651u);
  EXPECT_EQ(draw_bits({kAll, ~0u, kAll, kAll}), 0x142367b7a1cca7f0u);
}

// A change of any one bit of the key changes each bit of the draw half of the time.
TEST(Draw, EveryBitDependsOnEveryBitOfTheKey) {
  constexpr int kKeys = 2000;
  const std::array<int, 4> bits_of_part = {64, 32, 64, 64};
  for (std::size_t part = 0; part < bits_of_part.size(); ++part) {
    for (int bit = 0; bit < bits_of_part[part]; ++bit) {
      std::array<int, 64> flips{};
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        const auto small = [&](std::uint64_t k) { return draw_bits({7, 0, k, i}) % 1000; };
        const DrawKey key{small(0), static_cast<std::uint32_t>(small(1)), small(2), small(3)};
        DrawKey other = key;
        const std::uint64_t mask = std::uint64_t{1} << bit;
        if (part == 0) other.seed ^= mask;
        if (part == 1) other.rank ^= static_cast<std::uint32_t>(mask);
        if (part == 2) other.site ^= mask;
        if (part == 3) other.attempt ^= mask;
        const std::uint64_t changed = draw_bits(key) ^ draw_bits(other);
        for (int b = 0; b < 64; ++b) flips[b] += static_cast<int>(changed >> b & 1);
      }
      // Six standard deviations of a fair coin's 2000 throws are 134.
      for (int b = 0; b < 64; ++b) {
        EXPECT_NEAR(flips[b], kKeys / 2, 134) << "part " << part << ", bit " << bit << " on " << b;
      }
    }
  }
}

TEST(Draw, NearbyKeysNeverMeet) {
  std::set<std::uint64_t> seen;
  std::size_t count = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      for (std::uint64_t site = 0; site < 16; ++site) {
        for (std::uint64_t attempt = 0; attempt < 32; ++attempt, ++count) {
          seen.insert(draw_bits({seed, rank, site, attempt}));
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), count);
}

// Pearson's chi-square over 256 cells: 255 ± 23, so 400 is beyond six deviations.
double chi_square(const std::vector<std::uint64_t>& draws) {
  std::array<double, 256> cells{};
  for (const std::uint64_t bits : draws) ++cells[bits >> 56];
  const double expected = static_cast<double>(draws.size()) / 256;
  double sum = 0;
  for (const double cell : cells) sum += (cell - expected) * (cell - expected) / expected;
  return sum;
}

TEST(Draw, IsEvenAlongEachPartAndInPairs) {
  constexpr std::uint64_t kDraws = 100'000;
  std::array<std::vector<std::uint64_t>, 8> draws;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    draws[0].push_back(draw_bits({i, 3, 5, 7}));
    draws[1].push_back(draw_bits({1, static_cast<std::uint32_t>(i), 5, 7}));
    draws[2].push_back(draw_bits({1, 3, i, 7}));
    draws[3].push_back(draw_bits({1, 3, 5, i}));
    // Differences of neighbours: even if the two do not depend on each other.
    for (int part = 0; i > 0 && part < 4; ++part) {
      draws[4 + part].push_back(draws[part][i] - draws[part][i - 1]);
    }
  }
  for (const std::vector<std::uint64_t>& some : draws) EXPECT_LT(chi_square(some), 400);
}

TEST(Draw, StreamsGiveTheSameBits) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto rank = static_cast<std::uint32_t>(i * i);
    EXPECT_EQ(draw_bits({i, rank, 3 * i, 5 * i}), draw_bits(draw_stream(rank, 3 * i), i, 5 * i));
  }
}

TEST(Draw, UniformIsInRangeWithTheRightMoments) {
  double sum = 0;
  double squares = 0;
  constexpr std::uint64_t kDraws = 200'000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double u = draw_uniform({9, 1, 2, i});
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ASSERT_EQ(u, std::floor(u * 0x1p53) * 0x1p-53);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 1.0 / 2, 0.004);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.004);
  EXPECT_LT(uniform_of(kAll), 1.0);
  EXPECT_EQ(uniform_of(0), 0.0);
}

TEST(Draw, BelowIsInRangeAndEven) {
  for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 10u, 100u}) {
    std::vector<int> count(bound, 0);
    constexpr int kPerValue = 4000;
    const std::uint64_t draws = bound * kPerValue;
    for (std::uint64_t i = 0; i < draws; ++i) {
      const std::uint64_t value = draw_below({3, 0, bound, i}, bound);
      ASSERT_LT(value, bound);
      ++count[value];
    }
    for (const int times : count) EXPECT_NEAR(times, kPerValue, 6 * std::sqrt(kPerValue)) << bound;
  }
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_LT(draw_below({3, 1, 0, i}, kAll), kAll);
}

TEST(Draw, LogAgreesWithTheLibrary) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    // All exponents; then close to one, where the logarithm is close to zero.
    const double wide = std::ldexp(between(1, 2, i), static_cast<int>(i % 2045) - 1022);
    const double near = 1 + std::ldexp(between(-1, 1, i), -1 - static_cast<int>(i % 50));
    ASSERT_LT(relative_error(portable_log(wide), std::log(static_cast<long double>(wide))), 1e-15)
        << wide;
    if (near == 1) continue;
    ASSERT_LT(relative_error(portable_log(near), std::log(static_cast<long double>(near))), 1e-15)
        << near;
  }
  EXPECT_EQ(portable_log(1), 0.0);
  EXPECT_EQ(portable_log(0x1.8p-1), -0x1.269621134db92p-2);
  EXPECT_EQ(portable_log(2), 0x1.62e42fefa39efp-1);
  EXPECT_EQ(portable_log(1e300), 0x1.5963447f87fb5p+9);
}

TEST(Draw, ExpAgreesWithTheLibrary) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double wide = between(-708, 709, i);
    const double near = std::ldexp(between(-1, 1, i), -static_cast<int>(i % 60));
    for (const double x : {wide, near}) {
      ASSERT_LT(relative_error(portable_exp(x), std::exp(static_cast<long double>(x))), 1e-15) << x;
    }
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable_exp(0), 1.0);
  EXPECT_EQ(portable_exp(-1), 0x1.78b56362cef38p-2);
  EXPECT_EQ(portable_exp(10), 0x1.5829dcf95056p+14);
  EXPECT_EQ(portable_exp(700), 0x1.d945df4f8ec8ep+1009);
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_EQ(portable_exp(709.79), kInfinity);
  EXPECT_EQ(portable_exp(-745), std::exp(-745.0));
  EXPECT_EQ(portable_exp(-746), 0.0);
  EXPECT_EQ(portable_exp(-kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(portable_exp(std::nan(""))));
}

// One Newton step from `x` in long double, which doubles its correct digits.
long double refined_quantile(double p, double x) {
  const long double root_half = std::sqrt(0.5L);
  const long double z = x;
  const long double density = std::exp(-z * z / 2) * 0.398942280401432677939946L;
  const long double probability = p;
  if (p > 0.25 && p < 0.75) {
    return z - (std::erf(z * root_half) / 2 - (probability - 0.5L)) / density;
  }
  return p < 0.5 ? z - (std::erfc(-z * root_half) / 2 - probability) / density
                 : z + (std::erfc(z * root_half) / 2 - (1 - probability)) / density;
}

TEST(Draw, NormalQuantileInvertsTheDistribution) {
  std::vector<double> ps;
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    ps.push_back(between(1e-6, 1 - 1e-6, i));
    ps.push_back(std::ldexp(between(0.5, 1, i), -static_cast<int>(i % 1000)));
    ps.push_back(1 - std::ldexp(between(0.5, 1, i), -static_cast<int>(i % 52)));
    ps.push_back(0.5 + std::ldexp(between(-0.5, 0.5, i), -static_cast<int>(i % 50)));
  }
  for (const double p : ps) {
    if (p <= 0 || p >= 1 || p == 0.5) continue;
    const double x = normal_quantile(p);
    ASSERT_LT(relative_error(x, refined_quantile(p, x)), 1e-15) << p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_EQ(normal_quantile(1e-300), -0x1.286074064c26ep+5);
  EXPECT_EQ(normal_quantile(1e-12), -0x1.c234fba57a32ap+2);
  EXPECT_EQ(normal_quantile(0.01), -0x1.29c5c4630ff0ep+1);
  EXPECT_EQ(normal_quantile(0.3), -0x1.0c7e39582c5fap-1);
  EXPECT_EQ(normal_quantile(0.999), 0x1.8b8cbb720447p+1);
}

}  // namespace
}  // namespace slackline::machine
