// Searches among a study's points, held against answers that are known beforehand.
#include "sweep/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "sweep/results.h"
#include "sweep/study.h"
#include "tests/support/error_of.h"

namespace slackline::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Study study(const std::string& more) {
  return study_from_toml(R"(
    schedule = "chain:ranks={ranks},bytes={bytes}"
    engine = ["analytic", "flow", "simgrid"]
    )" + more,
                         "s.toml", "");
}

Row row_of_time(double time_s) {
  Row row;
  row.mean_s = row.least_s = row.median_s = row.most_s = time_s;
  return row;
}

// Answers whatever is asked until nothing is left; the rows, and how often something was asked.
struct Answered {
  std::map<std::size_t, Row> rows;
  SearchState state;
  std::size_t rounds = 0;
};
template <class Answer>
Answered answered(const Study& study, const Answer& answer) {
  Answered found;
  for (;; ++found.rounds) {
    found.state = search_state(study, *study.search, [&](std::size_t point) {
      const auto row = found.rows.find(point);
      return row == found.rows.end() ? nullptr : &row->second;
    });
    const std::size_t before = found.rows.size();
    for (const std::size_t point : found.state.asked) {
      if (!found.rows.contains(point)) found.rows.emplace(point, answer(study.points[point]));
    }
    if (found.rows.size() == before) return found;
    EXPECT_THAT(found.state.best, IsEmpty());
  }
}

double number(const Point& point, const std::string& name) {
  return std::stod(part_of(point, name));
}

const char* const kSixteen = R"(
    [optimise]
    keep = 0.25
    [values]
    ranks = { from = 2, to = 17 }
    bytes = 8
)";

TEST(Search, AsksEachEngineForWhatTheOneBeforeLetThrough) {
  const Study sixteen = study(kSixteen);
  // The cheap engine takes 5 ranks for the best; the dear ones, which see 3 … 6, the fewest.
  const Answered found = answered(sixteen, [](const Point& point) {
    const double ranks = number(point, "ranks");
    return row_of_time(point.engine == "analytic" ? std::abs(ranks - 4.6) : ranks);
  });
  EXPECT_EQ(found.rounds, 3u);
  std::map<std::string, std::set<double>> ranks;
  for (const std::size_t point : found.state.asked) {
    ranks[sixteen.points[point].engine].insert(number(sixteen.points[point], "ranks"));
  }
  EXPECT_EQ(ranks["analytic"].size(), 16u);
  EXPECT_THAT(ranks["flow"], ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(ranks["simgrid"], ElementsAre(3));
  ASSERT_EQ(found.state.best.size(), 1u);
  EXPECT_EQ(number(sixteen.points[found.state.best[0]], "ranks"), 3);
  EXPECT_EQ(sixteen.points[found.state.best[0]].engine, "simgrid");
}

TEST(Search, LetsNothingThroughThatFailed) {
  const Answered found = answered(study(kSixteen), [](const Point& point) {
    Row row = row_of_time(number(point, "ranks"));
    if (row.median_s < 9 || point.engine == "simgrid") row.error = "refused";
    return row;
  });
  // Ten are left of sixteen; the last engine fails, and the one before it has the last word.
  const Study sixteen = study(kSixteen);
  std::size_t by_flow = 0;
  for (const std::size_t point : found.state.asked) {
    by_flow += sixteen.points[point].engine == "flow";
  }
  EXPECT_EQ(by_flow, 3u);
  ASSERT_EQ(found.state.best.size(), 1u);
  EXPECT_EQ(sixteen.points[found.state.best[0]].engine, "flow");
  EXPECT_EQ(number(sixteen.points[found.state.best[0]], "ranks"), 9);
}

TEST(Search, LetsThroughWhatAnEngineDoesNotHave) {
  const Study skipping = study(std::string(kSixteen) + R"(
    [[skip]]
    engine = "analytic"
    ranks = { above = 15 }
  )");
  const Answered found =
      answered(skipping, [](const Point& point) { return row_of_time(number(point, "ranks")); });
  std::set<double> ranks;
  for (const std::size_t point : found.state.asked) {
    if (skipping.points[point].engine == "flow")
      ranks.insert(number(skipping.points[point], "ranks"));
  }
  EXPECT_THAT(ranks, ElementsAre(2, 3, 4, 5, 16, 17));
}

// By brute force: with nothing dropped the best is the least of all, of each combination.
TEST(Search, FindsTheLeastOfEachCombination) {
  std::mt19937 dice(7);
  for (int trial = 0; trial < 50; ++trial) {
    const Study whole = study(R"(
      [optimise]
      each = ["bytes"]
      keep = 1
      by = "most_s"
      [values]
      ranks = { from = 2, to = 9 }
      bytes = [1, 2, 3]
    )");
    std::map<std::string, double> least;
    const Answered found = answered(whole, [&](const Point& point) {
      const double time_s = 1 + static_cast<double>(dice() % 20);
      if (point.engine == "simgrid") {
        const auto [entry, is_new] = least.emplace(part_of(point, "bytes"), time_s);
        if (!is_new) entry->second = std::min(entry->second, time_s);
      }
      return row_of_time(time_s);
    });
    EXPECT_EQ(found.state.asked.size(), whole.points.size());
    ASSERT_EQ(found.state.best.size(), 3u);
    for (const std::size_t point : found.state.best) {
      EXPECT_EQ(found.rows.at(point).most_s, least.at(part_of(whole.points[point], "bytes")));
    }
  }
}

TEST(Search, KeepsAtLeastSoMany) {
  const Study two = study(R"(
    [optimise]
    keep = 0.01
    at_least = 2
    [values]
    ranks = { from = 2, to = 9 }
    bytes = 1
  )");
  const Answered found =
      answered(two, [](const Point& point) { return row_of_time(number(point, "ranks")); });
  EXPECT_EQ(found.state.asked.size(), 8u + 2u + 2u);
}

TEST(Search, RefusesWhatItCannotJudgeBy) {
  const auto error = [](const std::string& keys) {
    return testing::error_of(
        [&] { study("[optimise]\n" + keys + "\n[values]\nranks = [2, 4]\nbytes = 1\n"); });
  };
  EXPECT_THAT(error("by = \"fastest\""), HasSubstr("by 'fastest'; expected mean_s, least_s"));
  EXPECT_THAT(error("by = \"p90_s\""), HasSubstr("of 1 samples; expected 10 of them at least"));
  EXPECT_THAT(error("each = \"engine\""), HasSubstr("each 'engine'; expected a value"));
  EXPECT_THAT(error("each = \"size\""), HasSubstr("each 'size'; expected a value"));
  EXPECT_THAT(error("keep = 0"), HasSubstr("expected a share above 0"));
  EXPECT_THAT(error("keep = 1.5"), HasSubstr("expected a share above 0"));
  EXPECT_THAT(error("most = 3"), HasSubstr("most"));
}

}  // namespace
}  // namespace slackline::sweep
