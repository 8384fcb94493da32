#include "experiments/facts.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace slackline::experiments {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Form form_of(Form::Kind kind, double expected, double tolerance = 0, double high = 0) {
  Form form;
  form.kind = kind;
  form.expected = expected;
  form.tolerance = tolerance;
  form.high = high;
  return form;
}

TEST(Forms, EqualIsRelative) {
  const Form form = form_of(Form::Kind::kEqual, 200, 0.01);
  EXPECT_TRUE(form.holds(201.9));
  EXPECT_FALSE(form.holds(202.1));
  EXPECT_FALSE(form.holds(kNaN));
  EXPECT_TRUE(form_of(Form::Kind::kEqual, -200, 0.01).holds(-198.1));
  EXPECT_TRUE(form_of(Form::Kind::kEqual, 0).holds(0));
  EXPECT_FALSE(form_of(Form::Kind::kEqual, 0, 0.5).holds(1e-9));
  EXPECT_EQ(form.text(), "200 ± 1 %");
  EXPECT_EQ(form_of(Form::Kind::kEqual, 200, 1e-9).text(), "200 ± rounding");
  EXPECT_EQ(form_of(Form::Kind::kEqual, 200).text(), "exactly 200");
}

TEST(Forms, NearIsAbsolute) {
  const Form form = form_of(Form::Kind::kNear, 99, 1);
  EXPECT_TRUE(form.holds(98.5));
  EXPECT_FALSE(form.holds(97.5));
  EXPECT_FALSE(form.holds(kNaN));
  EXPECT_EQ(form.text(), "99 ± 1");
}

TEST(Forms, Bounds) {
  const Form at_most = form_of(Form::Kind::kAtMost, 1.05);
  EXPECT_TRUE(at_most.holds(1.05));
  EXPECT_FALSE(at_most.holds(1.06));
  EXPECT_FALSE(at_most.holds(kNaN));
  EXPECT_FALSE(at_most.holds(-kInfinity));
  EXPECT_EQ(at_most.text(), "at most 1.05");
  const Form at_least = form_of(Form::Kind::kAtLeast, 2);
  EXPECT_TRUE(at_least.holds(2));
  EXPECT_FALSE(at_least.holds(kInfinity));
  EXPECT_EQ(at_least.text(), "at least 2");
  const Form between = form_of(Form::Kind::kBetween, 5, 0, 20);
  EXPECT_TRUE(between.holds(5));
  EXPECT_FALSE(between.holds(20.1));
  EXPECT_FALSE(between.holds(kNaN));
  EXPECT_EQ(between.text(), "5 to 20");
}

TEST(Facts, AreJudgedAsTheFileOfTheirExperimentSays) {
  ExperimentReport report;
  EXPECT_TRUE(report.holds());
  Facts facts(report, "seriema-table2");
  facts.judge("writes-range", 4.5, "64 B");
  EXPECT_TRUE(report.holds());
  facts.judge("writes-range", 4.84, "8 B");
  facts.judge("writes-by-row", 4.84, "8 B");
  EXPECT_FALSE(report.holds());
  ASSERT_EQ(report.facts.size(), 3u);
  EXPECT_TRUE(report.facts[0].ok);
  const JudgedFact& range = report.facts[1];
  EXPECT_EQ(range.id, "writes-range[8 B]");
  EXPECT_EQ(range.fact, "8 B: million writes a second");
  EXPECT_EQ(range.expected, "4.4 to 4.8");
  EXPECT_EQ(range.source, Source::kDerived);
  EXPECT_FALSE(range.ok);
  EXPECT_FALSE(range.known_gap.empty());
  EXPECT_FALSE(range.history.empty());
  EXPECT_TRUE(report.facts[2].ok);
}

TEST(Facts, WordsAreNoNumbers) {
  ExperimentReport report;
  Facts facts(report, "rdmc-fig7");
  facts.judge_words("never-rises", false, "it rises");
  EXPECT_FALSE(report.holds());
  EXPECT_EQ(report.facts[0].expected, "never rises");
  EXPECT_EQ(shown(report.facts[0].got), "it rises");
  EXPECT_THROW(facts.judge("never-rises", 1), InternalError);
  EXPECT_THROW(facts.judge_words("doubling", true, "so"), InternalError);
  EXPECT_THROW(facts.judge("no-such", 1), InternalError);
  EXPECT_THROW(facts.judge("doubling", 1, "no such case"), InternalError);
  EXPECT_THROW(Facts(report, "no-such"), InternalError);
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
