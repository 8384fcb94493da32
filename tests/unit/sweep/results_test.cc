// What a row says of a point, and that files say the same again.
#include "sweep/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::sweep {
namespace {

using ::testing::HasSubstr;

constexpr double kNever = std::numeric_limits<double>::infinity();

Row row_with(std::vector<double> makespan_s) {
  PointOutcome outcome;
  outcome.makespan_s = std::move(makespan_s);
  return row_of(Point{}, outcome);
}

TEST(Row, SaysHowSamplesAreDistributed) {
  const Row one = row_with({2});
  EXPECT_EQ(one.mean_s, 2);
  EXPECT_EQ(one.median_s, 2);
  EXPECT_EQ(one.p90_s, std::nullopt);
  EXPECT_EQ(row_with({4, 1, 3, 2}).median_s, 2.5);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i) hundred.push_back(i);
  const Row many = row_with(hundred);
  EXPECT_EQ(many.least_s, 1);
  EXPECT_EQ(many.median_s, 50.5);
  EXPECT_EQ(many.p90_s, 90);
  EXPECT_EQ(many.p99_s, 99);
  EXPECT_EQ(many.most_s, 100);
  hundred.pop_back();
  EXPECT_EQ(row_with(hundred).p99_s, std::nullopt);
  const Row never = row_with({1, kNever, 1});
  EXPECT_EQ(never.median_s, 1);
  EXPECT_EQ(never.mean_s, kNever);
  EXPECT_EQ(never.most_s, kNever);
}

TEST(ResultsPart, GivesBackWhatItTook) {
  const testing::TempFolder folder;
  Row good = row_with({1.25, 2.5, kNever});
  good.schedule = "a 'schedule' with \"quotes\"";
  good.seed = std::numeric_limits<std::uint64_t>::max();
  good.samples = 3;
  Row bad;
  bad.error = "no, \n with a line";
  bad.exit_code = 2;
  Row absent;
  absent.error = "no SimGrid here";
  absent.exit_code = 3;
  {
    ResultsPart first = ResultsPart::free_one(folder.path().string());
    ResultsPart second = ResultsPart::of_shard(folder.path().string(), {1, 2});
    EXPECT_THAT(testing::error_of([&] {
                  ResultsPart::of_shard(folder.path().string(), {1, 2});
                }),
                HasSubstr("another process is writing it"));
    first.add({{"good", good}, {"absent", absent}}, 5);
    second.add({{"bad", bad}}, 7);
    const Underway now = underway(folder.path().string());
    EXPECT_EQ(now.sweeps, 2u);
    EXPECT_EQ(now.answered, 3u);
    EXPECT_EQ(now.left, 12u);
  }
  EXPECT_EQ(underway(folder.path().string()).sweeps, 0u);
  const std::map<std::string, Row> rows = rows_of_parts(folder.path().string());
  // What was wanting here may be there the next time.
  ASSERT_EQ(rows.size(), 2u);
  const Row& back = rows.at("good");
  EXPECT_EQ(back.schedule, good.schedule);
  EXPECT_EQ(back.seed, good.seed);
  EXPECT_EQ(back.samples, 3u);
  EXPECT_EQ(back.median_s, 2.5);
  EXPECT_EQ(back.mean_s, kNever);
  EXPECT_EQ(back.p90_s, std::nullopt);
  EXPECT_EQ(back.error, "");
  EXPECT_EQ(rows.at("bad").error, bad.error);
  EXPECT_EQ(rows.at("bad").exit_code, 2);
}

// Messages between racks meet on one uplink. An engine that leaves that out says
// so, and the folder keeps it.
TEST(PointRunner, SaysWhatItsEngineLeftOut) {
  Point point;
  point.schedule = "binomial-pipeline:ranks=8,bytes=1MiB,block=64KiB";
  point.platform = "two-level:racks=4,hosts=2,rate=8Gbps,oversubscription=16,placement=round-robin";
  PointRunner runner;
  std::vector<std::pair<std::string, Row>> rows;
  for (const char* engine : {"analytic", "event", "flow"}) {
    point.engine = engine;
    const PointOutcome outcome = runner.answer(point);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.contended, point.engine != "flow") << engine;
    rows.emplace_back(engine, row_of(point, outcome));
  }
  const testing::TempFolder folder;
  ResultsPart::free_one(folder.path().string()).add(rows, 0);
  const std::map<std::string, Row> back = rows_of_parts(folder.path().string());
  EXPECT_TRUE(back.at("analytic").contended);
  EXPECT_TRUE(back.at("event").contended);
  EXPECT_FALSE(back.at("flow").contended);
}

}  // namespace
}  // namespace slackline::sweep
