// Points: what they come to is pinned, and what has the same answer has the same key.
#include "sweep/point.h"

#include <gtest/gtest.h>

#include <string>

#include "sweep/outcome.h"
#include "tests/support/temp_folder.h"

namespace slackline::sweep {
namespace {

std::string key_of(const Point& point) { return Keys().of(point); }

Point point(const std::string& schedule, const std::string& platform, const std::string& engine) {
  Point made;
  made.schedule = schedule;
  made.platform = platform;
  made.engine = engine;
  return made;
}

// If one of these changes, results of older versions are none any more: raise kModelVersion, so
// that points have other keys.
TEST(Point, ComesToWhatItDidInThisVersionOfTheModel) {
  ASSERT_EQ(kModelVersion, 1u);
  struct Case {
    const char* schedule;
    const char* platform;
    const char* engine;
    double makespan_s;
  };
  const char* const kRacks =
      "two-level:racks=2,hosts=4,oversubscription=4,rate=40Gbps,o_post=100ns";
  const Case cases[] = {
      {"chain:ranks=4,bytes=1MiB", "fractus", "analytic", 0.00025645824},
      {"binomial-pipeline:ranks=8,bytes=1MiB,block=128KiB", kRacks, "flow", 0.0005196736},
      {"double-tree:ranks=8,bytes=1MiB,block=128KiB", kRacks, "flow", 0.000417016},
      {"allreduce:ranks=4,bytes=64KiB", "fractus", "event", 6.013952e-05},
      {"ring-buffer:ranks=4,bytes=64KiB", "fractus", "flow", 2.492256e-05},
  };
  PointRunner runner;
  for (const Case& c : cases) {
    const PointOutcome outcome = runner.answer(point(c.schedule, c.platform, c.engine));
    ASSERT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.makespan_s.size(), 1u);
    EXPECT_NEAR(outcome.makespan_s[0], c.makespan_s, 1e-12 * c.makespan_s)
        << c.schedule << " on " << c.platform << " by " << c.engine;
  }
}

TEST(Point, HasAKeyOfWhatItMeans) {
  const Point one = point("chain:ranks=4,bytes=1MiB", "fractus", "flow");
  EXPECT_EQ(key_of(one).size(), 32u);
  Point same = one;
  same.schedule = "chain:bytes=1024KiB,ranks=4";
  same.values = {{"bytes", "1024KiB"}};
  EXPECT_EQ(key_of(same), key_of(one));
  const auto differs = [&](const auto& change) {
    Point other = one;
    change(other);
    return key_of(other) != key_of(one);
  };
  EXPECT_TRUE(differs([](Point& p) { p.schedule = "chain:ranks=5,bytes=1MiB"; }));
  EXPECT_TRUE(differs([](Point& p) { p.platform = "star:rate=1Gbps"; }));
  EXPECT_TRUE(differs([](Point& p) { p.engine = "simgrid"; }));
  EXPECT_TRUE(differs([](Point& p) { p.seed = 1; }));
  EXPECT_TRUE(differs([](Point& p) { p.samples = 2; }));
  EXPECT_TRUE(differs([](Point& p) { p.with_slack = true; }));
  EXPECT_TRUE(differs([](Point& p) { p.delays = "none.toml"; }));
  EXPECT_TRUE(differs([](Point& p) { p.schedule = "no schedule"; }));
}

TEST(Point, HasAKeyOfWhatItsFilesHold) {
  const testing::TempFolder folder;
  const std::string first = folder.write("first.toml", "schema = 1\nseed = 0\n");
  const std::string same = folder.write("same.toml", "seed = 0\nschema = 1\n");
  const std::string other =
      folder.write("other.toml", "schema = 1\n[[op]]\nop = 1\nby = \"1us\"\n");
  const auto with = [](const std::string& file) {
    Point made = point("chain:ranks=4,bytes=1MiB", "fractus", "flow");
    made.delays = file;
    return key_of(made);
  };
  EXPECT_EQ(with(first), with(same));
  EXPECT_NE(with(first), with(other));
}

TEST(Point, HasAnotherKeyWhenItsSizesAreOthers) {
  const testing::TempFolder folder;
  const auto with = [&](const std::string& sizes) {
    const std::string file = folder.write("sizes.txt", sizes);
    return key_of(point("scatterv:ranks=2,sizes=" + file, "fractus", "analytic"));
  };
  const std::string small = with("4\n4\n");
  EXPECT_NE(with("4000000\n4000000\n"), small);
  EXPECT_EQ(with("4\n4\n"), small);
}

TEST(PointRunner, SaysWhatIsWrongWithOneAndGoesOn) {
  PointRunner runner;
  const PointOutcome bad = runner.answer(point("chain:ranks=0,bytes=1MiB", "fractus", "flow"));
  EXPECT_TRUE(bad.makespan_s.empty());
  EXPECT_NE(bad.error, "");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(runner.answer(point("chain:ranks=4,bytes=1MiB", "nowhere", "flow")).error, "");
  EXPECT_NE(runner.answer(point("chain:ranks=4,bytes=1MiB", "fractus", "oracle")).error, "");
  EXPECT_EQ(runner.answer(point("chain:ranks=4,bytes=1MiB", "fractus", "flow")).error, "");
}

TEST(PointRunner, RefusesSamplesThatWouldAllBeTheSame) {
  const testing::TempFolder folder;
  Point many = point("chain:ranks=4,bytes=1MiB", "fractus", "flow");
  many.samples = 10;
  PointRunner runner;
  const PointOutcome same = runner.answer(many);
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_NE(same.error.find("nothing in this run is drawn"), std::string::npos) << same.error;
  many.delays = folder.write("noise.toml",
                             "schema = 1\n[[noise]]\ndistribution = \"exponential\"\n"
                             "mean = \"1us\"\n");
  const PointOutcome drawn = runner.answer(many);
  EXPECT_EQ(drawn.error, "");
  ASSERT_EQ(drawn.makespan_s.size(), 10u);
  EXPECT_NE(drawn.makespan_s[0], drawn.makespan_s[1]);
}

TEST(PointRunner, KeepsNothingThatTheNextPointDiffersIn) {
  const Point points[] = {point("chain:ranks=4,bytes=1MiB", "fractus", "flow"),
                          point("chain:ranks=8,bytes=1MiB", "fractus", "flow"),
                          point("chain:ranks=8,bytes=1MiB", "star:rate=10Gbps", "flow"),
                          point("chain:ranks=8,bytes=1MiB", "star:rate=10Gbps", "analytic"),
                          point("chain:ranks=4,bytes=1MiB", "fractus", "flow")};
  PointRunner runner;
  for (const Point& each : points) {
    PointRunner fresh;
    EXPECT_EQ(runner.answer(each), fresh.answer(each)) << each.schedule << " on " << each.platform;
  }
}

}  // namespace
}  // namespace slackline::sweep
