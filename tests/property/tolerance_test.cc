// The makespan as a function of one figure, against the run computed again with the figure changed:
// with its order frozen, by two systems of constraints, and by the engine where its order stays.
#include "analysis/slack/tolerance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/slack/weight_lines.h"
#include "tests/property/frozen_run.h"
#include "tests/support/tolerance_samples.h"

namespace slackline {
namespace {

using analysis::ConstraintGraph;
using analysis::KeptOrder;
using analysis::Parameter;
using analysis::Tolerance;
using analysis::WeightLines;
using sched::Trace;
using testing::Dice;
using testing::FrozenRun;
using testing::RunSample;
using Kind = Parameter::Kind;

Trace run(const RunSample& sample) {
  return analysis::run_events({sample.schedule, sample.platform, sample.plan});
}

machine::Setting setting_of(const RunSample& sample) {
  return {sample.schedule, sample.platform, sample.plan};
}

Tolerance tolerance_of(const RunSample& sample, const Trace& trace, const Parameter& parameter) {
  return analysis::tolerance(setting_of(sample), trace, std::span(&parameter, 1)).front();
}

struct Graph {
  Graph(const RunSample& sample, const Trace& trace, const KeptOrder& kept)
      : delays(setting_of(sample)),
        paths(setting_of(sample)),
        graph(setting_of(sample), delays, paths, trace, analysis::WireTimes::kModel, kept) {}
  double makespan_s() const {
    return *std::max_element(graph.time_s().begin(), graph.time_s().end());
  }
  std::vector<std::tuple<analysis::NodeId, analysis::NodeId, analysis::Weight>> shape() const {
    std::vector<std::tuple<analysis::NodeId, analysis::NodeId, analysis::Weight>> result;
    for (std::size_t i = 0; i < graph.constraints().size(); ++i) {
      result.emplace_back(graph.constraints()[i].tail, graph.constraints()[i].head,
                          graph.weights()[i]);
    }
    std::sort(result.begin(), result.end());
    return result;
  }
  machine::Delays delays;
  machine::Paths paths;
  ConstraintGraph graph;
};

KeptOrder kept_order(const RunSample& sample, const Graph& of, const Trace& trace,
                     const Parameter& parameter) {
  return WeightLines(setting_of(sample), of.delays, of.paths, trace, analysis::WireTimes::kModel,
                     parameter)
      .kept_order();
}

// A straggler's lane times are rounded, each to half a picosecond.
double near_s(const RunSample& sample, const Parameter& parameter, double value_s) {
  const bool rounded = parameter.kind == Kind::kSlowdown || parameter.kind == Kind::kPost;
  return 1e-11 * value_s + (rounded ? 1e-12 * sample.schedule.op_count() : 1e-17);
}

TEST(Tolerance, AtZeroEveryLineIsTheConstraintItself) {
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    const RunSample sample = testing::run_sample(seed);
    const Trace trace = run(sample);
    const Graph of(sample, trace, {});
    Dice dice(seed);
    const WeightLines lines(setting_of(sample), of.delays, of.paths, trace,
                            analysis::WireTimes::kModel,
                            testing::random_parameter(dice, sample.schedule));
    for (std::size_t i = 0; i < of.graph.constraints().size(); ++i) {
      const analysis::Constraint& c = of.graph.constraints()[i];
      const auto weight = of.graph.weights()[i];
      const auto at_0 = [](const analysis::Lines& all) {
        return std::ranges::max(all.lines(), {}, [](auto line) { return line.at(0); }).at(0);
      };
      const auto value_s = at_0(lines.weight(c, weight)) - at_0(lines.after_end(c.tail)) +
                           at_0(lines.after_end(c.head));
      ASSERT_NEAR(value_s, c.weight_s, 1e-12 * trace.makespan_s())
          << sample.what << ", op " << c.tail.op().value << " to op " << c.head.op().value
          << ", weight " << static_cast<int>(weight);
      for (const analysis::Line line : lines.weight(c, weight).lines()) {
        ASSERT_GE(line.slope, 0) << sample.what;
        ASSERT_GE(line.at(lines.least()), -1e-18) << sample.what;
      }
    }
  }
}

TEST(Tolerance, IsTheFrozenRunWithTheFigureChanged) {
  int compared = 0;
  int by_oracle = 0;
  for (std::uint32_t seed = 0; seed < 2'500; ++seed) {
    const RunSample sample = testing::run_sample(seed);
    const Trace trace = run(sample);
    Dice dice(seed);
    const Parameter parameter = testing::random_parameter(dice, sample.schedule);
    const Tolerance found = tolerance_of(sample, trace, parameter);
    const Graph base(sample, trace, {});
    ASSERT_NEAR(found.makespan_s, base.makespan_s(), 1e-11 * trace.makespan_s()) << sample.what;
    // Ties that become an order: only the engine knows which, below.
    if (kept_order(sample, base, trace, parameter) != KeptOrder{}) continue;
    const double end = std::min(
        1.0, found.makespan_s / std::max(1e-12, found.makespan_at.pieces().back().line.slope));
    for (const double part : {-0.99, -0.7, -0.2, 0.01, 0.1, 0.4, 1.0, 3.0}) {
      // At 0 itself a figure would give up its order.
      double x = part < 0 ? -part * found.makespan_at.lo() : part * end;
      RunSample shifted = sample;
      if (!shift(shifted, parameter, x) || x < found.makespan_at.lo()) continue;
      const Graph again(shifted, trace, {});
      // Where nothing takes time, who joined a port first can hang on the figure.
      if (again.shape() != base.shape()) continue;
      const double value_s = found.makespan_at.at(x);
      ASSERT_NEAR(value_s, again.makespan_s(), near_s(sample, parameter, value_s))
          << sample.what << ", parameter " << static_cast<int>(parameter.kind) << " at " << x;
      ++compared;
      const bool link = parameter.kind == Kind::kByteTime && parameter.link.valid();
      if (link || x < 0) continue;
      if (sample.platform.nic != machine::NicDiscipline::kSerial) continue;
      if (sample.platform.o_post.count() == 0 && sample.platform.gap.count() == 0) continue;
      const FrozenRun oracle(shifted.schedule, shifted.platform, shifted.plan, trace);
      ASSERT_NEAR(value_s, FrozenRun::makespan_s(oracle.solve()),
                  near_s(sample, parameter, value_s))
          << sample.what << ", parameter " << static_cast<int>(parameter.kind) << " at " << x;
      ++by_oracle;
    }
  }
  EXPECT_GT(compared, 10'000);
  EXPECT_GT(by_oracle, 4'000);
}

TEST(Tolerance, IsTheEnginesRunWhereTheOrderStays) {
  int kept_it = 0;
  int from_ties = 0;
  for (std::uint32_t seed = 0; seed < 2'500; ++seed) {
    const RunSample sample = testing::run_sample(seed);
    if (sample.platform.nic != machine::NicDiscipline::kSerial) continue;
    const Trace trace = run(sample);
    Dice dice(seed + 77);
    const Parameter parameter = testing::random_parameter(dice, sample.schedule);
    const Tolerance found = tolerance_of(sample, trace, parameter);
    const Graph base(sample, trace, {});
    const KeptOrder kept = kept_order(sample, base, trace, parameter);
    const auto shape = Graph(sample, trace, kept).shape();
    const double end = std::min(
        1.0, found.makespan_s / std::max(1e-12, found.makespan_at.pieces().back().line.slope));
    for (const double part : {0.001, 0.01, 0.05, 0.3}) {
      double x = part * end;
      RunSample shifted = sample;
      if (!shift(shifted, parameter, x)) continue;
      const Trace rerun = run(shifted);
      if (Graph(shifted, rerun, kept).shape() != shape) continue;
      const double value_s = found.makespan_at.at(x);
      ASSERT_NEAR(value_s, rerun.makespan_s(), near_s(sample, parameter, value_s))
          << sample.what << ", parameter " << static_cast<int>(parameter.kind) << " at " << x;
      ++kept_it;
      if (kept != KeptOrder{}) ++from_ties;
    }
  }
  EXPECT_GT(kept_it, 2'000);
  EXPECT_GT(from_ties, 200);
}

TEST(Tolerance, OfOneOperationIsItsFloat) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const RunSample sample = testing::run_sample(seed);
    const Trace trace = run(sample);
    std::vector<Parameter> parameters;
    for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
      parameters.push_back({.kind = Kind::kOpDelay, .op = sched::OpId(i)});
    }
    const auto found = analysis::tolerance(setting_of(sample), trace, parameters);
    const analysis::TimedSlack slack =
        analysis::timed_slack({sample.schedule, sample.platform, sample.plan}, trace);
    const Graph of(sample, trace, {});
    const auto time_s = of.graph.time_s();
    for (std::uint32_t i = 0; i < sample.schedule.op_count(); ++i) {
      const double near_s = 1e-11 * trace.makespan_s() + 1e-17;
      // A float is of the issue. A delay comes before it, and can hide in the wait for the lane.
      const auto issued = analysis::NodeId::of(sched::OpId(i), analysis::Moment::kIssued);
      double offered_s = of.graph.source_s(issued);
      for (std::size_t c = 0; c < of.graph.constraints().size(); ++c) {
        const auto& [tail, head, weight_s] = of.graph.constraints()[c];
        if (head != issued || of.graph.weights()[c] != analysis::Weight::kInto) continue;
        offered_s = std::max(offered_s, time_s[tail.value] + weight_s);
      }
      const double spare_s = slack.total_float_s[i] + time_s[issued.value] - offered_s;
      ASSERT_NEAR(found[i].bearable(0), spare_s, near_s) << sample.what << " op " << i;
      ASSERT_NEAR(found[i].bearable(0.05), spare_s + 0.05 * slack.makespan_s, near_s)
          << sample.what << " op " << i;
    }
  }
}

}  // namespace
}  // namespace slackline
