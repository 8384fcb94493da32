// Straight lines and the highest of several, by hand and against a look at every line.
#include "analysis/slack/line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace slackline::analysis {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// 5, then 1 + x from 4 on, then 3x - 9 from 5 on.
PiecewiseLinear bent(double lo = 0, double hi = kInfinite) {
  const Line lines[] = {{5, 0}, {1, 1}, {-9, 3}};
  return PiecewiseLinear(lines, lo, hi);
}

TEST(PiecewiseLinear, HasItsPiecesInOrder) {
  const PiecewiseLinear f = bent();
  ASSERT_EQ(f.pieces().size(), 3u);
  EXPECT_EQ(f.pieces()[0].from, 0);
  EXPECT_EQ(f.pieces()[1].from, 4);
  EXPECT_EQ(f.pieces()[2].from, 5);
  EXPECT_EQ(f.at(0), 5);
  EXPECT_EQ(f.at(4), 5);
  EXPECT_EQ(f.at(4.5), 5.5);
  EXPECT_EQ(f.at(5), 6);
  EXPECT_EQ(f.at(7), 12);
  EXPECT_EQ(PiecewiseLinear().at(3), 0);
  EXPECT_EQ(PiecewiseLinear().lo(), 0);
}

TEST(PiecewiseLinear, EndsWhereItEnds) {
  EXPECT_EQ(bent(0, 4).pieces().size(), 1u);
  EXPECT_EQ(bent(0, 4.5).pieces().size(), 2u);
  EXPECT_EQ(bent(0, 5).pieces().size(), 2u);
  EXPECT_EQ(bent(4, 9).pieces().size(), 2u);
  EXPECT_EQ(bent(4, 9).pieces()[0].from, 4);
  EXPECT_EQ(bent(5, 9).pieces().size(), 1u);
  EXPECT_EQ(bent(5, 9).lo(), 5);
  EXPECT_EQ(bent(5, 9).hi(), 9);
}

TEST(PiecewiseLinear, SlopesDifferWhereItBends) {
  const PiecewiseLinear f = bent();
  const auto slopes = [&](double x) {
    return std::pair(f.slopes_at(x).before, f.slopes_at(x).after);
  };
  EXPECT_EQ(slopes(1), std::pair(0.0, 0.0));
  EXPECT_EQ(slopes(4), std::pair(0.0, 1.0));
  EXPECT_EQ(slopes(4.5), std::pair(1.0, 1.0));
  EXPECT_EQ(slopes(5), std::pair(1.0, 3.0));
  EXPECT_EQ(slopes(6), std::pair(3.0, 3.0));
  EXPECT_EQ(slopes(4 + 1e-13), std::pair(0.0, 1.0));
}

TEST(PiecewiseLinear, StaysBelowUntilItPasses) {
  const PiecewiseLinear f = bent(0, 10);
  EXPECT_EQ(f.stays_below_until(4.9), 0);
  EXPECT_EQ(f.stays_below_until(5), 4);
  EXPECT_EQ(f.stays_below_until(5.25), 4.25);
  EXPECT_EQ(f.stays_below_until(6), 5);
  EXPECT_EQ(f.stays_below_until(9), 6);
  EXPECT_EQ(f.stays_below_until(21), 10);
  EXPECT_EQ(f.stays_below_until(99), 10);
  EXPECT_EQ(PiecewiseLinear().stays_below_until(0), kInfinite);
  EXPECT_EQ(PiecewiseLinear().stays_below_until(-1), 0);
}

// Of equal slopes the higher one; a line that another pair covers is none.
TEST(PiecewiseLinear, LeavesOutWhatIsNowhereTheHighest) {
  const auto pieces = [](std::vector<Line> lines) {
    return PiecewiseLinear(lines, 0, kInfinite).pieces().size();
  };
  EXPECT_EQ(pieces({{5, 0}, {6, 0}}), 1u);
  EXPECT_EQ(pieces({{6, 0}, {5, 0}}), 1u);
  const Line rising[] = {{6, 1}, {5, 1}};
  EXPECT_EQ(PiecewiseLinear(rising, 0, kInfinite).at(0), 6);
  EXPECT_EQ(pieces({{5, 0}, {5, 1}}), 1u);           // from 0 on
  EXPECT_EQ(pieces({{5, 0}, {-9, 1}, {1, 2}}), 2u);  // the first and the last meet at 2
  EXPECT_EQ(pieces({{5, 0}, {3, 1}, {1, 2}}), 2u);   // all three meet there
  EXPECT_EQ(pieces({{5, 0}, {4, 1}, {1, 2}}), 3u);
}

struct Asked {
  PiecewiseLinear found;
  int times = 0;
};
Asked ask(const std::vector<Line>& lines, double lo, double hi) {
  Asked asked;
  const auto highest = [&](double x) {
    ++asked.times;
    return *std::max_element(lines.begin(), lines.end(), [&](Line a, Line b) {
      return std::pair(a.at(x), a.slope) < std::pair(b.at(x), b.slope);
    });
  };
  const Line at_lo = highest(lo), at_hi = highest(hi);
  asked.times = 0;
  asked.found = highest_lines(highest, at_lo, at_hi, lo, hi);
  return asked;
}

// Every line is found, and none is asked for more often than it need be.
TEST(HighestLines, AreThoseOfTheFamily) {
  std::mt19937 random(5);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Line> lines;
    for (std::uint32_t i = 1 + below(12); i > 0; --i) {
      lines.push_back({1.0 * below(40), 1.0 * below(12)});
    }
    const double hi = 1 + below(20);
    const Asked asked = ask(lines, 0, hi);
    for (double x = 0; x <= hi; x += 0.25) {
      double expected = -kInfinite;
      for (const Line line : lines) expected = std::max(expected, line.at(x));
      ASSERT_NEAR(asked.found.at(x), expected, 1e-9) << trial << " at " << x;
    }
    const auto pieces = asked.found.pieces();
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      ASSERT_LT(pieces[i - 1].from, pieces[i].from) << trial;
      ASSERT_LT(pieces[i - 1].line.slope, pieces[i].line.slope) << trial;
    }
  }
  // One between: asked where the ends meet, and twice where it meets them.
  EXPECT_EQ(ask({{5, 0}, {1, 1}, {-9, 3}}, 0, 10).times, 3);
  EXPECT_EQ(ask({{5, 0}, {-9, 3}}, 0, 10).times, 1);
  EXPECT_EQ(ask({{5, 0}}, 0, 10).times, 0);
}

TEST(Line, MeetsAndAdds) {
  EXPECT_EQ(meet({5, 0}, {1, 1}), 4);
  EXPECT_EQ((Line{1, 2} + Line{3, 4}), (Line{4, 6}));
  EXPECT_EQ((Line{1, 2}).at(3), 7);
  EXPECT_GT((Line{1, -2}).rounding_at(-3), 0);
  EXPECT_DOUBLE_EQ((Line{-1, 2}).rounding_at(-3), 16 * 7 * 2.220446049250313e-16);
}

}  // namespace
}  // namespace slackline::analysis
