// Studies: which points a file says, in which order, and what is refused.
#include "sweep/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/error_of.h"

namespace slackline::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> schedules_of(const Study& study) {
  std::vector<std::string> texts;
  for (const Point& point : study.points) texts.push_back(point.schedule);
  return texts;
}

Study study(const std::string& text) { return study_from_toml(text, "s.toml", "folder"); }

TEST(Study, HasEachTextWithEachOfItsValues) {
  const Study found = study(R"(
    schedule = ["chain:ranks={ranks},bytes={bytes}", "sequential:ranks=2,bytes={bytes}"]
    platform = ["fractus", "star:rate={rate}"]
    engine = ["analytic", "flow"]
    seed = [1, 2]
    [values]
    ranks = { from = 2, to = 8, times = 2 }
    bytes = ["1KiB", "2KiB"]
    rate = ["10Gbps", "20Gbps", "30Gbps"]
  )");
  EXPECT_THAT(found.values, ElementsAre("ranks", "bytes", "rate"));
  // 3 x 2 chains and 2 sequentials, on a platform and one of three rates, by two engines, twice.
  ASSERT_EQ(found.points.size(), (6u + 2u) * (1u + 3u) * 2u * 2u);
  EXPECT_EQ(found.points[0].schedule, "chain:ranks=2,bytes=1KiB");
  EXPECT_EQ(found.points[0].platform, "fractus");
  EXPECT_EQ(part_of(found.points[0], "bytes"), "1KiB");
  EXPECT_EQ(part_of(found.points[0], "rate"), "");
  EXPECT_EQ(found.points[1].seed, 2u);
  EXPECT_EQ(found.points[4].platform, "star:rate=10Gbps");
  EXPECT_EQ(part_of(found.points[4], "rate"), "10Gbps");
}

TEST(Study, TakesSeedsToTheLastBit) {
  const Study found = study(R"(
    schedule = "chain:ranks=2,bytes=1KiB"
    seed = [9007199254740993, "18446744073709551615"]
  )");
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_EQ(found.points[0].seed, 9007199254740993u);
  EXPECT_EQ(found.points[1].seed, UINT64_MAX);
}

TEST(Study, CountsAValueOfTwoTextsOnce) {
  const Study found = study(R"(
    schedule = ["chain:ranks={ranks},bytes=1KiB"]
    platform = ["two-level:racks={ranks},hosts=1"]
    [values]
    ranks = { from = 2, to = 6, step = 2 }
  )");
  ASSERT_EQ(found.points.size(), 3u);
  for (const Point& point : found.points) {
    EXPECT_EQ(point.platform, "two-level:racks=" + part_of(point, "ranks") + ",hosts=1");
  }
}

TEST(Study, LeavesOutWhatIsSkipped) {
  const Study found = study(R"(
    schedule = ["chain:ranks={ranks},bytes=1KiB", "sequential:ranks={ranks},bytes=1KiB"]
    [values]
    ranks = [2, 4, 8]
    [[skip]]
    schedule = "sequential"
    ranks = { above = 2 }
    [[skip]]
    ranks = 4
  )");
  EXPECT_THAT(schedules_of(found),
              ElementsAre("chain:ranks=2,bytes=1KiB", "chain:ranks=8,bytes=1KiB",
                          "sequential:ranks=2,bytes=1KiB"));
}

TEST(Study, HoldsBoundsAgainstWhateverUnitAValueIsIn) {
  const auto left = [](const std::string& bounds) {
    return schedules_of(
        study("schedule = \"chain:ranks=2,bytes={bytes}\"\n[values]\n"
              "bytes = [\"1MiB\", \"4MiB\", 8]\n[[skip]]\nbytes = " +
              bounds));
  };
  const std::string small = "chain:ranks=2,bytes=8", middle = "chain:ranks=2,bytes=1MiB",
                    large = "chain:ranks=2,bytes=4MiB";
  EXPECT_THAT(left("{ above = 2000000 }"), ElementsAre(middle, small));
  EXPECT_THAT(left("{ above = \"1MiB\" }"), ElementsAre(middle, small));
  EXPECT_THAT(left("{ above = 8, below = \"2MB\" }"), ElementsAre(large, small));
}

TEST(Study, AnswersWithSharingWhereMessagesMayShareLinks) {
  const auto engines_on = [](const std::string& platforms) {
    return study("schedule = \"chain:ranks=4,bytes=1KiB\"\nplatform = " + platforms +
                 "\n[values]\nracks = [2, 4]\n")
        .engines;
  };
  const std::string racks = "\"two-level:racks={racks},hosts=2\"";
  EXPECT_THAT(engines_on("[\"fractus\", " + racks + "]"), ElementsAre("flow"));
  EXPECT_THAT(engines_on("[\"fractus\", \"star:rate={racks}Gbps,latency=1us\"]"),
              ElementsAre("analytic"));
  EXPECT_THAT(engines_on("\"star:nic=fair,rate={racks}Gbps,latency=1us\""), ElementsAre("flow"));
  EXPECT_THAT(engines_on("\"nowhere-{racks}.toml\""), ElementsAre("analytic"));
  EXPECT_THAT(engines_on(racks + "\nengine = \"analytic\""), ElementsAre("analytic"));
}

TEST(Study, LooksForDelayPlansBesideItself) {
  const Study found = study("schedule = \"chain:ranks=2,bytes=1\"\ndelays = [\"\", \"late.toml\"]");
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_EQ(found.points[0].delays, "");
  EXPECT_EQ(found.points[1].delays, "folder/late.toml");
}

TEST(Study, RefusesWhatIsNone) {
  const std::string good = "schedule = [\"chain:ranks={n},bytes=1\"]\n[values]\n";
  const std::pair<std::string, const char*> bad[] = {
      {"", "schedule: none"},
      {"schedule = []", "an empty list"},
      {"schedule = [\"chain:ranks={n}\"]", "no value is called 'n'"},
      {good + "n = 2\nm = 3", "values.m: it is in no text"},
      {good + "n = { from = 4, to = 2 }", "not a range"},
      {good + "n = { from = 0, to = 9, times = 2 }", "not a range"},
      {good + "n = { from = 1, to = 9, step = 0 }", "not a range"},
      {good + "n = { from = 1, to = 9, step = 1, times = 2 }", "not a range"},
      {good + "n = { from = 1, to = 99999999 }", "more than"},
      {good + "n = 2\nengine = 3", "points have that themselves"},
      {good + "n = 2\nerror = 3", "points have that themselves"},
      {good + "n = 2\nops = 3", "points have that themselves"},
      {good + "n = 2\nfrozen_only = 3", "points have that themselves"},
      {good + "n = 2\n\"a,b\" = 3", "expected small letters"},
      {good + "n = true", "neither a text nor a number"},
      {good + "n = 2\n[[skip]]\nplace = 3", "no such part of a point"},
      {good + "n = 2\n[[skip]]\nn = { over = 3 }", "over"},
      {good + "n = 2\n[[skip]]\nn = {}", "expected above, below or both"},
      {good + "n = 2\n[[skip]]\nn = { above = \"much\" }", "expected a number, a size, a time"},
      {good + "n = \"2us\"\n[[skip]]\nn = { above = \"1KiB\" }", "bounds in B, and '2us' is in s"},
      {"schedule = \"x\"\nseed = -1", "seed"},
      {"schedule = \"x\"\nseed = 1.5", "seed"},
      {"schedule = \"x\"\nseed = \"18446744073709551616\"", "seed"},
      {"schedule = \"x\"\nsamples = 0", "samples"},
      {"schedule = \"x\"\nscedule = \"y\"", "scedule"},
      {"schema = 2\nschedule = \"x\"", "schema"},
      {"schedule = [", "s.toml"}};
  for (const auto& [text, said] : bad) {
    EXPECT_THAT(testing::error_of([&] { study(text); }), HasSubstr(said)) << text;
  }
}

TEST(Study, EndsWhereItWouldHaveTooManyPoints) {
  const std::string text =
      "schedule = [\"chain:ranks={a},bytes={b},block={c}\"]\n[values]\n"
      "a = { from = 1, to = 1000 }\nb = { from = 1, to = 1000 }\nc = { from = 1, to = 1000 }\n";
  EXPECT_THAT(testing::error_of([&] { study(text); }), HasSubstr("more than 1000000 points"));
}

}  // namespace
}  // namespace slackline::sweep
