// The packed graph against every path of it, one by one, and lines against what is plain to see.
#include "analysis/slack/path_tape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace slackline::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Graph {
  std::vector<Line> source;
  std::vector<std::vector<PathTape::Edge>> in;
  std::vector<std::pair<std::uint32_t, Line>> ends;
};

// Small whole numbers, so that many paths tie; nothing rounds.
Graph random_graph(std::mt19937& dice) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(dice() % n); };
  const auto line = [&] {
    return Line{static_cast<double>(below(6)), static_cast<double>(below(3) * below(2))};
  };
  Graph graph;
  const std::uint32_t nodes = 1 + below(12);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    graph.source.push_back(below(3) == 0 ? line() : Line{});
    graph.in.emplace_back();
    for (std::uint32_t e = n == 0 ? 0 : below(4); e > 0; --e) {
      graph.in.back().push_back({below(n), line()});
    }
  }
  for (std::uint32_t e = below(4); e > 0; --e) graph.ends.push_back({below(nodes), line()});
  return graph;
}

std::vector<Line> every_path(const Graph& graph) {
  std::vector<std::vector<Line>> to(graph.in.size());
  for (std::uint32_t n = 0; n < graph.in.size(); ++n) {
    to[n].push_back(graph.source[n]);
    for (const PathTape::Edge& edge : graph.in[n]) {
      for (const Line line : to[edge.tail]) to[n].push_back(line + edge.weight);
    }
  }
  std::vector<Line> paths;
  for (const auto& [node, more] : graph.ends) {
    for (const Line line : to[node]) paths.push_back(line + more);
  }
  return paths;
}

PathTape packed(const Graph& graph) {
  PathTape::Builder builder(static_cast<std::uint32_t>(graph.in.size()), 0);
  for (std::uint32_t n = 0; n < graph.in.size(); ++n) {
    builder.node(n, graph.source[n], graph.in[n]);
  }
  for (const auto& [node, more] : graph.ends) builder.end(node, more);
  return builder.build();
}

double highest(const std::vector<Line>& lines, double x) {
  double value = 0;
  for (const Line line : lines) value = std::max(value, line.at(x));
  return value;
}

TEST(PathTape, FindsTheLongestOfAllPaths) {
  std::mt19937 dice(7);
  for (int round = 0; round < 5'000; ++round) {
    const Graph graph = random_graph(dice);
    const std::vector<Line> paths = every_path(graph);
    PathTape tape = packed(graph);
    for (const double x : {0.0, 0.25, 1.0, 3.0, 7.5, 1000.0}) {
      const Line found = tape.longest(x);
      ASSERT_EQ(found.at(x), highest(paths, x)) << round;
      ASSERT_TRUE(paths.empty() || std::find(paths.begin(), paths.end(), found) != paths.end());
    }
    ASSERT_EQ(tape.longest_in_the_end().at(1e6), highest(paths, 1e6)) << round;
  }
}

TEST(PathTape, AndItsFunctionHasEveryBreakpointOnce) {
  std::mt19937 dice(11);
  std::size_t pieces = 0;
  for (int round = 0; round < 5'000; ++round) {
    const Graph graph = random_graph(dice);
    const std::vector<Line> paths = every_path(graph);
    PathTape tape = packed(graph);
    std::size_t asked = 0;
    const auto longest = [&](double x) {
      ++asked;
      return tape.longest(x);
    };
    const PiecewiseLinear found =
        highest_lines(longest, tape.longest(0), tape.longest_in_the_end(), 0, kInfinity);
    pieces += found.pieces().size();
    for (std::size_t i = 0; i < found.pieces().size(); ++i) {
      const auto& [from, line] = found.pieces()[i];
      ASSERT_NEAR(line.at(from), highest(paths, from), 1e-12);
      const double to = i + 1 < found.pieces().size() ? found.pieces()[i + 1].from : from + 1e3;
      ASSERT_GT(to, from);
      ASSERT_NEAR(line.at((from + to) / 2), highest(paths, (from + to) / 2), 1e-9);
      ASSERT_TRUE(i == 0 || line.slope > found.pieces()[i - 1].line.slope);
    }
    // The whole numbers meet three or more at a point now and then, which costs two questions more.
    ASSERT_LE(asked, 4 * found.pieces().size() + 2);
  }
  EXPECT_GT(pieces, 6'000u);
}

TEST(PathTape, OfNothingIsZero) {
  PathTape tape = PathTape::Builder(0, 0).build();
  EXPECT_EQ(tape.longest(3), Line{});
  EXPECT_EQ(tape.longest_in_the_end(), Line{});
}

TEST(PathTape, PacksAChainIntoOneEdge) {
  PathTape::Builder builder(1'000, 0);
  builder.node(0, {2, 0}, {});
  for (std::uint32_t n = 1; n < 1'000; ++n) {
    const PathTape::Edge edge{n - 1, {1, 0.5}};
    builder.node(n, {}, std::span(&edge, 1));
  }
  builder.end(999, {});
  PathTape tape = builder.build();
  EXPECT_EQ(tape.node_count(), 2u);
  EXPECT_EQ(tape.edge_count(), 1u);
  EXPECT_EQ(tape.longest(2).at(2), 2 + 999 * 2.0);
}

TEST(PiecewiseLinear, ReadsItsPieces) {
  const Line lines[] = {{10, 0}, {8, 1}, {0, 3}};
  const PiecewiseLinear f(lines, -5, kInfinity);
  ASSERT_EQ(f.pieces().size(), 3u);
  EXPECT_EQ(f.pieces()[1].from, 2);
  EXPECT_EQ(f.pieces()[2].from, 4);
  EXPECT_EQ(f.at(-5), 10);
  EXPECT_EQ(f.at(3), 11);
  EXPECT_EQ(f.at(100), 300);
  EXPECT_EQ(f.slopes_at(0).after, 0);
  EXPECT_EQ(f.slopes_at(2).before, 0);
  EXPECT_EQ(f.slopes_at(2).after, 1);
  EXPECT_EQ(f.stays_below_until(9), -5);
  EXPECT_EQ(f.stays_below_until(10), 2);
  EXPECT_EQ(f.stays_below_until(11), 3);
  EXPECT_EQ(f.stays_below_until(30), 10);
  const Line level[] = {{10, 0}};
  EXPECT_EQ(PiecewiseLinear(level, 0, kInfinity).stays_below_until(10), kInfinity);
  EXPECT_EQ(PiecewiseLinear(level, 0, 7).stays_below_until(11), 7);
}

TEST(PiecewiseLinear, LeavesOutWhatIsNowhereHighest) {
  // Through one point; below; of one slope; beyond the end.
  const Line lines[] = {{4, 0}, {3, 1}, {2, 2}, {-9, 2.5}, {1, 3}, {0, 3}, {-100, 4}};
  const PiecewiseLinear f(lines, 0, 50);
  ASSERT_EQ(f.pieces().size(), 2u);
  EXPECT_EQ(f.pieces()[1].from, 1);
  EXPECT_EQ(f.pieces()[1].line, (Line{1, 3}));
}

}  // namespace
}  // namespace slackline::analysis
