// The makespan as a function of one figure against linear programming: its values, its slopes and
// its breakpoints, to 1e-9.
#include "analysis/slack/tolerance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/makespan_programme.h"
#include "tests/support/tolerance_samples.h"

namespace slackline {
namespace {

using analysis::ConstraintGraph;
using analysis::Line;
using analysis::Parameter;
using analysis::Tolerance;
using analysis::WeightLines;
using testing::Dice;
using testing::MakespanProgramme;
using testing::RunSample;

constexpr double kNear = 1e-9;

struct Counts {
  int samples = 0;
  int pieces = 0;
  int breakpoints = 0;
  int bends_at_zero = 0;
};

// The values at the ends and at every breakpoint, and the slope within every piece: as the function
// is convex, it then has these pieces and no others.
void expect_as_by_clp(const Tolerance& found, MakespanProgramme& programme, const std::string& what,
                      Counts& counts) {
  const auto pieces = found.makespan_at.pieces();
  const double scale_s = std::max(found.makespan_s, 1e-9);
  // Well behind the last breakpoint.
  const double steepest = pieces.back().line.slope;
  const double hi = std::max(pieces.back().from, 0.0) + (steepest > 0 ? scale_s / steepest : 1e-6);
  const auto by_clp = [&](double x) {
    const Line line = programme.solve(x);
    EXPECT_EQ(programme.status(), 0) << what;
    return line;
  };
  const auto expect_value = [&](double x) {
    const double value_s = found.makespan_at.at(x);
    EXPECT_NEAR(value_s, by_clp(x).at(x), kNear * std::max(scale_s, value_s))
        << what << " at " << x;
  };
  expect_value(found.makespan_at.lo());
  expect_value(0);
  expect_value(hi);
  std::vector<Line> lines;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const double end = i + 1 < pieces.size() ? pieces[i + 1].from : hi;
    const Line line = by_clp(pieces[i].from + (end - pieces[i].from) / 2);
    EXPECT_NEAR(pieces[i].line.slope, line.slope, kNear * std::max(steepest, 1e-9)) << what;
    lines.push_back(line);
    ++counts.pieces;
  }
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    expect_value(pieces[i].from);
    // Where lines meet is known no better than their heights are, rounded.
    const double rounding = 1e-12 * scale_s / (lines[i].slope - lines[i - 1].slope);
    EXPECT_NEAR(pieces[i].from, meet(lines[i - 1], lines[i]),
                kNear * std::abs(pieces[i].from) + rounding)
        << what << ", breakpoint " << i << " of slopes " << lines[i - 1].slope << " and "
        << lines[i].slope;
    ++counts.breakpoints;
  }
  // Where two lines meet a dual is neither slope for certain: from both sides, then.
  const auto slopes = found.slopes();
  double left = 0;
  double right = hi;
  for (const auto& piece : pieces) {
    if (piece.from < -1e-12 * hi) left = piece.from;
    if (piece.from > 1e-12 * hi) right = std::min(right, piece.from);
  }
  const double at_zero_s = by_clp(0).at(0);
  const double after = (by_clp(right).at(right) - at_zero_s) / right;
  EXPECT_NEAR(slopes.after, after, 10 * kNear * (scale_s / right + steepest)) << what;
  if (found.makespan_at.lo() < 0 && left < 0) {
    const double before = (by_clp(left).at(left) - at_zero_s) / left;
    EXPECT_NEAR(slopes.before, before, 10 * kNear * (scale_s / -left + steepest)) << what;
  }
  if (slopes.before != slopes.after) ++counts.bends_at_zero;
  ++counts.samples;
}

void compare(const RunSample& sample, const Parameter& parameter, Counts& counts) {
  const auto& [what, schedule, platform, plan] = sample;
  const sched::Trace trace = analysis::run_events({schedule, platform, plan});
  const machine::Setting setting(schedule, platform, plan);
  const machine::Delays delays(setting);
  const machine::Paths paths(setting);
  const WeightLines lines(setting, delays, paths, trace, analysis::WireTimes::kModel, parameter);
  const ConstraintGraph graph(setting, delays, paths, trace, analysis::WireTimes::kModel,
                              lines.kept_order());
  const Tolerance found = analysis::tolerance(setting, trace, std::span(&parameter, 1)).front();
  const double steepest = found.makespan_at.pieces().back().line.slope;
  const double time_unit_s = std::max(found.makespan_s, 1e-9) / 1000;
  MakespanProgramme programme(graph, lines, time_unit_s, steepest > 0 ? time_unit_s / steepest : 1);
  expect_as_by_clp(found, programme,
                   what + ", parameter " + std::to_string(static_cast<int>(parameter.kind)),
                   counts);
}

TEST(LinearProgramme, RandomRuns) {
  Counts counts;
  for (std::uint32_t seed = 0; seed < 800; ++seed) {
    const RunSample sample = testing::run_sample(seed);
    Dice dice(seed + 5);
    compare(sample, testing::random_parameter(dice, sample.schedule), counts);
    if (HasFailure()) break;
  }
  RecordProperty("pieces", counts.pieces);
  RecordProperty("breakpoints", counts.breakpoints);
  EXPECT_EQ(counts.samples, 800);
  EXPECT_GT(counts.breakpoints, 400);
  EXPECT_GT(counts.bends_at_zero, 20);
}

TEST(LinearProgramme, ThePipelineInEveryFigure) {
  using Kind = Parameter::Kind;
  Counts counts;
  RunSample sample{"pipeline",
                   compile(sched::parse_spec("binomial-pipeline:ranks=16,bytes=12MiB,block=1MiB")),
                   machine::load_platform("fractus"),
                   {}};
  for (const Kind kind : {Kind::kLatency, Kind::kPost, Kind::kCompletion, Kind::kGap,
                          Kind::kByteTime, Kind::kLaneTime, Kind::kSlowdown, Kind::kOpDelay}) {
    compare(sample, {.kind = kind, .rank = sched::RankId(3), .op = sched::OpId(7)}, counts);
  }
  compare(sample, {.kind = Kind::kByteTime, .link = machine::LinkId(6)}, counts);
  EXPECT_GT(counts.breakpoints, 10);
}

}  // namespace
}  // namespace slackline
