#include "analysis/engines/end_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace slackline::analysis {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The same of a plain map.
class PlainTimes {
 public:
  void set(std::uint32_t slot, double time_s) { times_s_[slot] = time_s; }
  double least_s() const {
    double least = kNever;
    for (const auto& [slot, time_s] : times_s_) least = std::min(least, time_s);
    return least;
  }
  std::vector<std::pair<std::uint32_t, double>> take(double until_s, bool with_equal) {
    std::vector<std::pair<std::uint32_t, double>> taken;
    for (auto& [slot, time_s] : times_s_) {
      if (!(time_s < until_s || (with_equal && time_s == until_s))) continue;
      taken.emplace_back(slot, time_s);
      time_s = kNever;
    }
    return taken;
  }

 private:
  std::map<std::uint32_t, double> times_s_;
};

// Few and many are set between two questions, so that either way of carrying them up is taken.
TEST(EndTimes, AgreeWithAPlainMap) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::size_t taken = 0;
  for (int trial = 0; trial < 200; ++trial) {
    EndTimes times;
    PlainTimes plain;
    const std::uint32_t slots = 1 + below(trial % 2 == 0 ? 8 : 300);
    for (int round = 0; round < 30; ++round) {
      for (std::uint32_t n = below(round % 3 == 0 ? slots + 1 : 3); n != 0; --n) {
        const std::uint32_t slot = below(slots);
        const double time_s = below(10) == 0 ? kNever : below(50);
        times.set(slot, time_s);
        plain.set(slot, time_s);
      }
      ASSERT_EQ(times.least_s(), plain.least_s()) << "trial " << trial;
      const double until_s = below(30);
      const bool with_equal = below(2) == 0;
      std::vector<std::pair<std::uint32_t, double>> got;
      times.take(until_s, with_equal,
                 [&](std::uint32_t slot, double time_s) { got.emplace_back(slot, time_s); });
      ASSERT_EQ(got, plain.take(until_s, with_equal)) << "trial " << trial;
      ASSERT_EQ(times.least_s(), plain.least_s()) << "trial " << trial;
      taken += got.size();
    }
  }
  EXPECT_GT(taken, 10'000u);
}

}  // namespace
}  // namespace slackline::analysis
