// Points answered by several processes: every one once, also when a process is killed at it.
#include "sweep/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
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

std::map<std::size_t, PointOutcome> answers_of(const std::vector<Point>& points,
                                               std::uint32_t jobs) {
  std::map<std::size_t, PointOutcome> answers;
  answer_all(
      points, jobs,
      [&](std::size_t index, const PointOutcome& outcome) {
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

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    // "12 (name) S 7 …", of which the name may have anything in it.
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    char state = 0;
    pid_t parent = 0;
    if (rest >> state >> parent && parent == getpid() && state != 'Z') {
      found.push_back(std::stoi(entry.path().filename()));
    }
  }
  return found;
}

TEST(Workers, BlameNoPointForAProcessThatWasKilledAtSeveral) {
  const std::vector<Point> points = points_of(400);
  std::map<std::size_t, PointOutcome> answers;
  int kills = 0;
  answer_all(
      points, 3,
      [&](std::size_t index, const PointOutcome& outcome) {
        EXPECT_TRUE(answers.emplace(index, outcome).second) << index;
      },
      [&] {
        const std::vector<pid_t> alive = children();
        if (kills == 10 || alive.empty()) return;
        ++kills;
        ASSERT_EQ(kill(alive.back(), SIGKILL), 0);
      });
  EXPECT_EQ(kills, 10);
  ASSERT_EQ(answers.size(), points.size());
  PointRunner runner;
  int failed = 0;
  for (const auto& [index, outcome] : answers) {
    if (outcome.error.empty()) {
      EXPECT_EQ(outcome, runner.answer(points[index])) << index;
      continue;
    }
    // One that was alone with its point then: that may come out another time.
    ++failed;
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.error, ::testing::HasSubstr("signal 9"));
  }
  EXPECT_LE(failed, kills);
}

}  // namespace
}  // namespace slackline::sweep
