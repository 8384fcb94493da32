// The values of a delay plan as users write them.
#include "machine/delay_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::Time;
using slackline::testing::error_of;
using ::testing::ElementsAre;
using Kind = Distribution::Kind;

TEST(DelayValues, ASlowdownIsAFiniteNumberFromOneOn) {
  EXPECT_EQ(parse_slowdown("1", "x"), 1);
  EXPECT_EQ(parse_slowdown("2.5", "x"), 2.5);
  EXPECT_EQ(parse_slowdown("1e300", "x"), 1e300);
  for (const char* bad : {"", "0.999", "-2", "inf", "nan", "1e999", "2x", " 2", "two"}) {
    EXPECT_EQ(error_of([&] { parse_slowdown(bad, "x"); }),
              std::string("x: '") + bad + "' is no slowdown; expected a number of at least 1");
  }
}

TEST(DelayValues, AChanceIsANumberOrAPercentage) {
  const auto parts = [](const char* text) { return parse_chance(text, "x").value; };
  EXPECT_EQ(parts("0"), 0u);
  EXPECT_EQ(parts("1"), 1'000'000u);
  EXPECT_EQ(parts("100%"), 1'000'000u);
  EXPECT_EQ(parts("2%"), 20'000u);
  EXPECT_EQ(parts("0.0000014"), 1u);
  EXPECT_EQ(parts("0.0000016"), 2u);
  EXPECT_EQ(parts("0.0000006"), 1u);
  for (const char* bad : {"", "%", "1.01", "101%", "-1", "nan", "1%%", "a"}) {
    EXPECT_EQ(error_of([&] { parse_chance(bad, "x"); }),
              std::string("x: '") + bad +
                  "' is no chance; expected a number from 0 to 1, or a percentage such as 1%");
  }
  EXPECT_EQ(error_of([&] { parse_chance("0.0000004", "x"); }),
            "x: '0.0000004' is too small a chance; expected 0, or one in a million");
}

TEST(DelayValues, AWholeLaneOrAnOperation) {
  EXPECT_TRUE(parse_whole_lane("lane", "x"));
  EXPECT_FALSE(parse_whole_lane("op", "x"));
  EXPECT_EQ(error_of([] { parse_whole_lane("ops", "x"); }),
            "x: 'ops' can not be delayed; expected op or lane");
}

TEST(DelayValues, ATimeHasAnEnd) {
  EXPECT_EQ(parse_finite_time("9223372036854775806ps", "x"), Time{9223372036854775806});
  EXPECT_NE(error_of([] { parse_finite_time("9223372036854775807ps", "x"); }), "");
}

TEST(DelayValues, ADistributionHasItsNameAndParameters) {
  const std::vector<std::pair<Kind, std::string>> kinds = {
      {Kind::kConstant, "constant:by"},
      {Kind::kUniform, "uniform:low,high"},
      {Kind::kExponential, "exponential:mean"},
      {Kind::kLognormal, "lognormal:median,sigma"},
      {Kind::kTrace, "trace:"}};
  for (const auto& [kind, expected] : kinds) {
    EXPECT_EQ(parse_distribution_kind(name(kind), "x"), kind);
    std::string text = std::string(name(kind)) + ":";
    for (const DistributionParameter& parameter : parameters(kind)) {
      text += (text.back() == ':' ? "" : ",") + std::string(parameter.key);
      EXPECT_EQ(parameter.number, parameter.key == "sigma");
      Distribution distribution;
      const std::string value = parameter.number ? "0.75" : "30us";
      parameter.set(distribution, value, "x");
      EXPECT_EQ(parameter.get(distribution), value);
      EXPECT_NE(error_of([&] { parameter.set(distribution, "much", "x"); }), "");
    }
    EXPECT_EQ(text, expected);
  }
  EXPECT_EQ(
      error_of([] { parse_distribution_kind("normal", "x"); }),
      "x: 'normal' is no distribution: did you mean 'lognormal'?; expected constant, uniform, "
      "exponential, lognormal or trace");
}

TEST(DelayValues, ASigmaIsAFiniteNumberFromZeroOn) {
  const DistributionParameter& sigma = parameters(Kind::kLognormal)[1];
  Distribution distribution;
  for (const char* good : {"0", "0.5", "12"}) {
    sigma.set(distribution, good, "x");
    EXPECT_EQ(sigma.get(distribution), good);
  }
  sigma.set(distribution, "-0", "x");
  EXPECT_EQ(sigma.get(distribution), "0");
  for (const char* bad : {"-0.1", "inf", "nan", "", "1s"}) {
    EXPECT_EQ(error_of([&] { sigma.set(distribution, bad, "x"); }),
              std::string("x: '") + bad + "' is no sigma; expected a number of at least 0");
  }
}

TEST(DelayValues, TimesStandOneALine) {
  EXPECT_THAT(parse_times("1us\n\n  2ns\t # two\r\n#3ns\n \n4ps#", "t"),
              ElementsAre(Time{1'000'000}, Time{2'000}, Time{4}));
  EXPECT_THAT(parse_times("", "t"), ElementsAre());
  EXPECT_THAT(error_of([] { parse_times("1us\n# two\n3 parsecs\n", "t"); }),
              ::testing::StartsWith("t:3: "));
  EXPECT_THAT(error_of([] { parse_times("1us\n2u\x01s\n", "t"); }),
              ::testing::HasSubstr("t:2: '2u\\x01s' has a control character"));
  const std::string longest = std::string(61, '0') + "1us";
  EXPECT_THAT(parse_times(longest, "t"), ElementsAre(Time{1'000'000}));
  EXPECT_THAT(error_of([&] { parse_times("0" + longest, "t"); }),
              ::testing::HasSubstr("is not a time"));
}

}  // namespace
}  // namespace slackline::machine
