// Points answered by several processes: every one once, also when a process is killed at it.
#include "sweep/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace slackline::sweep {
namespace {

std::vector<Point> points_of(std::uint32_t count) {
  std::vector<Point> points(count);
  for (std::uint32_t p = 0; p < count; ++p) {
    points[p].schedule = "chain:ranks=" + std::to_string(2 + p) + ",bytes=64KiB,block=16KiB";
    points[p].platform = "fractus";
    points[p].engine = "analytic";
  }
  return points;
}

std::map<std::size_t, Outcome> answers_of(const std::vector<Point>& points, std::uint32_t jobs) {
  std::map<std::size_t, Outcome> answers;
  answer_all(
      points, jobs,
      [&](std::size_t index, const Outcome& outcome) {
        EXPECT_TRUE(answers.emplace(index, outcome).second) << index;
      },
      [] {});
  return answers;
}

TEST(Workers, AnswerEveryPointOnceAsOneProcessDoes) {
  const std::vector<Point> points = points_of(40);
  PointRunner runner;
  for (const std::uint32_t jobs : {1u, 3u, 64u}) {
    const auto answers = answers_of(points, jobs);
    ASSERT_EQ(answers.size(), points.size());
    for (const auto& [index, outcome] : answers) {
      EXPECT_EQ(outcome, runner.answer(points[index])) << index;
      EXPECT_EQ(outcome.error, "");
    }
  }
  EXPECT_TRUE(answers_of({}, 2).empty());
}

}  // namespace
}  // namespace slackline::sweep
