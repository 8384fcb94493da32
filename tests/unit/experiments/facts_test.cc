#include "experiments/facts.h"

#include <gtest/gtest.h>

#include <limits>

namespace slackline::experiments {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Facts, EqualIsRelative) {
  Report report;
  Facts facts(report);
  EXPECT_TRUE(facts.equal("f", Source::kStated, 200, 201.9, 0.01).ok);
  EXPECT_FALSE(facts.equal("f", Source::kStated, 200, 202.1, 0.01).ok);
  EXPECT_TRUE(facts.equal("f", Source::kStated, -200, -198.1, 0.01).ok);
  EXPECT_TRUE(facts.equal("f", Source::kStated, 0, 0).ok);
  EXPECT_FALSE(facts.equal("f", Source::kStated, 0, 1e-9, 0.5).ok);
  EXPECT_FALSE(facts.equal("f", Source::kStated, 1, kNaN, 0.5).ok);
  EXPECT_EQ(report.facts[0].tolerance, "1 %");
  EXPECT_EQ(report.facts[3].tolerance, "rounding");
  EXPECT_EQ(report.facts.size(), 6u);
  EXPECT_FALSE(report.holds());
}

TEST(Facts, NearIsAbsolute) {
  Report report;
  Facts facts(report);
  EXPECT_TRUE(facts.near("f", Source::kDerived, 99, 98.5, 1).ok);
  EXPECT_FALSE(facts.near("f", Source::kDerived, 99, 97.5, 1).ok);
  EXPECT_FALSE(facts.near("f", Source::kDerived, 99, kNaN, 1).ok);
  EXPECT_EQ(report.facts[0].tolerance, "1");
}

TEST(Facts, Bounds) {
  Report report;
  Facts facts(report);
  EXPECT_TRUE(facts.at_most("f", Source::kOurs, 1.05, 1.05).ok);
  EXPECT_FALSE(facts.at_most("f", Source::kOurs, 1.05, 1.06).ok);
  EXPECT_FALSE(facts.at_most("f", Source::kOurs, 1.05, kNaN).ok);
  EXPECT_FALSE(facts.at_most("f", Source::kOurs, 1.05, -kInfinity).ok);
  EXPECT_TRUE(facts.at_least("f", Source::kOurs, 2, 2).ok);
  EXPECT_FALSE(facts.at_least("f", Source::kOurs, 2, kInfinity).ok);
  EXPECT_TRUE(facts.between("f", Source::kOurs, 5, 20, 5).ok);
  EXPECT_FALSE(facts.between("f", Source::kOurs, 5, 20, 20.1).ok);
  EXPECT_FALSE(facts.between("f", Source::kOurs, 5, 20, kNaN).ok);
  EXPECT_EQ(shown(report.facts[0].expected), "at most 1.05");
  EXPECT_EQ(shown(report.facts[4].expected), "at least 2");
  EXPECT_EQ(shown(report.facts[6].expected), "5 to 20");
}

TEST(Facts, AReportHoldsIfAllDo) {
  Report report;
  EXPECT_TRUE(report.holds());
  Facts facts(report);
  facts.that("f", Source::kOurs, "so", "so", true);
  EXPECT_TRUE(report.holds());
  facts.that("f", Source::kOurs, "so", "not so", false).known_gap = "known";
  EXPECT_FALSE(report.holds());
}

TEST(Shown, Values) {
  EXPECT_EQ(shown(259.0), "259");
  EXPECT_EQ(shown(62084.0), "62084");
  EXPECT_EQ(shown(268435456.0), "268435456");
  EXPECT_EQ(shown(-3.0), "-3");
  EXPECT_EQ(shown(85.5737704), "85.574");
  EXPECT_EQ(shown(1e300), "1e+300");
  EXPECT_EQ(shown(kNaN), "nan");
  EXPECT_EQ(shown(kInfinity), "inf");
  EXPECT_EQ(shown(std::string("a, b")), "a, b");
}

}  // namespace
}  // namespace slackline::experiments
