// Slack against brute force: every operation of many random runs is delayed by its float, and by
// more, and the run is computed again.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "sched/compile.h"
#include "tests/property/frozen_run.h"
#include "tests/property/random_samples.h"

namespace slackline {
namespace {

using analysis::TimedSlack;
using machine::DelayPlan;
using machine::NicDiscipline;
using machine::Platform;
using sched::OpId;
using sched::Schedule;
using sched::Trace;
using testing::Dice;
using testing::FrozenRun;
using testing::random_pattern;
using testing::random_program;
using testing::rounding_s;
using testing::Sample;

void expect_floats(const Sample& sample) {
  const auto& [what, schedule, platform, plan] = sample;
  const Trace trace = analysis::run_events({schedule, platform, plan});
  const TimedSlack slack = analysis::timed_slack({schedule, platform, plan}, trace);
  const double near_s = rounding_s(trace);
  ASSERT_LE(slack.unexplained_s, near_s) << what;
  ASSERT_NEAR(slack.makespan_s, trace.makespan_s(), near_s) << what;

  const FrozenRun run(schedule, platform, plan, trace);
  const FrozenRun::Times base_s = run.solve();
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    ASSERT_NEAR(base_s[FrozenRun::node(i, FrozenRun::kIssued)], trace.ops[i].issued_s, near_s)
        << what << ", op " << i << ": the oracle itself";
    ASSERT_NEAR(base_s[FrozenRun::node(i, FrozenRun::kDone)], trace.ops[i].done_s, near_s)
        << what << ", op " << i << ": the oracle itself";
  }
  const double makespan_s = FrozenRun::makespan_s(base_s);
  const double more_s = 0.37e-6;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const std::uint32_t node = FrozenRun::node(i, FrozenRun::kIssued);
    const double total_s = slack.total_float_s[i];
    const double free_s = slack.free_float_s[i];
    const auto slipped = [&](double by_s) { return run.solve(node, base_s[node] + by_s); };
    const auto moved = [&](const FrozenRun::Times& time_s) {
      for (std::uint32_t n = 0; n < time_s.size(); ++n) {
        if (n / FrozenRun::kMoments != i && time_s[n] > base_s[n] + 2 * near_s) return true;
      }
      return FrozenRun::makespan_s(time_s) > makespan_s + 2 * near_s;
    };
    ASSERT_GE(free_s, 0) << what << ", op " << i;
    ASSERT_LE(free_s, total_s + near_s) << what << ", op " << i;
    ASSERT_NEAR(FrozenRun::makespan_s(slipped(total_s)), makespan_s, near_s)
        << what << ", op " << i;
    ASSERT_NEAR(FrozenRun::makespan_s(slipped(total_s + more_s)), makespan_s + more_s, near_s)
        << what << ", op " << i;
    ASSERT_FALSE(moved(slipped(free_s))) << what << ", op " << i;
    ASSERT_TRUE(moved(slipped(free_s + more_s))) << what << ", op " << i;
  }
}

TEST(Float, IsExactOnRandomPrograms) {
  for (std::uint32_t seed = 0; seed < 1'500 && !HasFatalFailure(); ++seed) {
    expect_floats(random_program(seed));
  }
}

TEST(Float, IsExactOnPatterns) {
  for (std::uint32_t seed = 0; seed < 1'000 && !HasFatalFailure(); ++seed) {
    expect_floats(random_pattern(seed));
  }
}

// Machines of several ranks, but for atomics that cost what those before them make them.
Sample random_nodes(std::uint32_t seed) {
  Sample sample = seed % 2 == 0 ? random_program(seed) : random_pattern(seed);
  Dice dice(seed);
  testing::random_node(dice, sample.platform);
  sample.platform.node.ranks = 1 + dice.below(4);
  testing::drop_lonely_scale_up(sample.platform);
  sample.platform.node.cpu_atomic_sharer = sample.platform.atomic_service_shared = {};
  // Several ranks may post in one instant.
  if (sample.platform.gap.count() == 0) sample.platform.gap = testing::us(0.05);
  sample.what += " on " + sample.platform.spec();
  return sample;
}

TEST(Float, IsExactOnNodes) {
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 600 && !HasFatalFailure(); ++seed) {
    try {
      expect_floats(random_nodes(seed));
    } catch (const Unsupported&) {
      ++refused;  // a word of both kinds
    }
  }
  EXPECT_LT(refused, 200);
}

TEST(Float, IsExactWhereThreadsShare) {
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 150 && !HasFatalFailure(); ++seed) {
    Sample sample = random_nodes(seed);
    Dice dice(seed + 5'000);
    testing::random_sharing(dice, sample.platform);
    if (seed % 2 == 0) testing::lock_pairs(sample.platform);
    sample.what += " and " + sample.platform.spec();
    try {
      expect_floats(sample);
    } catch (const Unsupported&) {
      ++refused;  // a word of both kinds
    }
  }
  EXPECT_LT(refused, 60);
}

// Hosts of several NICs, with one rank or several.
Sample random_railed(std::uint32_t seed) {
  Sample sample = seed % 3 == 0   ? random_nodes(seed)
                  : seed % 3 == 1 ? random_program(seed)
                                  : random_pattern(seed);
  Dice dice(seed);
  testing::random_rails(dice, sample.platform, false);
  if (sample.platform.gap.count() == 0) sample.platform.gap = testing::us(0.05);
  sample.what += " on " + sample.platform.spec();
  return sample;
}

TEST(Float, IsExactOnRails) {
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 600 && !HasFatalFailure(); ++seed) {
    try {
      expect_floats(random_railed(seed));
    } catch (const Unsupported&) {
      ++refused;  // a word of both kinds
    }
  }
  EXPECT_LT(refused, 100);
}

TEST(Float, EveryRunIsExplained) {
  for (std::uint32_t seed = 1'000; seed < 6'000; ++seed) {
    const Sample sample = seed % 2 == 0 ? random_program(seed) : random_pattern(seed);
    const Trace trace = analysis::run_events({sample.schedule, sample.platform, sample.plan});
    const TimedSlack slack =
        analysis::timed_slack({sample.schedule, sample.platform, sample.plan}, trace);
    ASSERT_LE(slack.unexplained_s, rounding_s(trace)) << sample.what;
  }
}

TEST(Float, PatternsAreExplainedWherePostingIsFreeToo) {
  for (std::uint32_t seed = 0; seed < 5'000; ++seed) {
    Sample sample = random_pattern(seed);
    Dice dice(seed);
    sample.platform = testing::random_platform(dice, NicDiscipline::kSerial);
    const Trace trace = analysis::run_events({sample.schedule, sample.platform, sample.plan});
    const TimedSlack slack =
        analysis::timed_slack({sample.schedule, sample.platform, sample.plan}, trace);
    ASSERT_LE(slack.unexplained_s, rounding_s(trace)) << sample.what;
  }
}

// The prediction, max(0, d − float), against the run that was really delayed, wherever the delay
// left the order on lanes and ports as it was.
TEST(Float, PredictsRunsThatKeepTheirOrder) {
  int kept = 0;
  int tried = 0;
  int within_free = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    const Sample sample = seed % 2 == 0 ? random_program(seed) : random_pattern(seed);
    const auto& [what, schedule, platform, plan] = sample;
    if (schedule.op_count() == 0) continue;
    const Trace base = analysis::run_events({schedule, platform, plan});
    const TimedSlack slack = analysis::timed_slack({schedule, platform, plan}, base);
    const double near_s = rounding_s(base);
    Dice dice(seed);
    for (int trial = 0; trial < 8; ++trial) {
      const OpId op(dice.below(schedule.op_count()));
      const bool of_lane = platform.o_post.count() != 0 && dice.one_in(2) &&
                           (sched::is_initiator(schedule.op(op).kind) ||
                            schedule.op(op).kind == sched::OpKind::kRecv);
      const sched::Time by{1 + dice.below(dice.pick<std::uint32_t>({1'000'000, 20'000'000}))};
      DelayPlan delayed = plan;
      delayed.ops.push_back({op, by, of_lane, sched::RankId::none()});
      const Trace really = analysis::run_events({schedule, platform, delayed});
      const FrozenRun frozen(schedule, platform, delayed, base);
      const FrozenRun::Times expected_s = frozen.solve();
      ++tried;
      bool same_order = true;
      for (std::uint32_t i = 0; i < schedule.op_count() && same_order; ++i) {
        same_order = std::abs(expected_s[FrozenRun::node(i, FrozenRun::kDone)] -
                              really.ops[i].done_s) <= near_s;
      }
      if (!same_order) continue;
      ++kept;
      // Of the operation alone: part of the delay passes while it would wait for its lane anyway.
      const double slip_s =
          expected_s[FrozenRun::node(op.value, FrozenRun::kIssued)] - base.ops[op.value].issued_s;
      if (of_lane) {
        ASSERT_NEAR(slip_s, sched::seconds(by), near_s) << what;
      }
      ASSERT_NEAR(really.makespan_s() - base.makespan_s(),
                  std::max(0.0, slip_s - slack.total_float_s[op.value]), 2 * near_s)
          << what << ", op " << op.value << " by " << by.count() << " ps";
      if (slip_s > slack.free_float_s[op.value]) continue;
      ++within_free;
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        if (i == op.value) continue;
        ASSERT_NEAR(really.ops[i].issued_s, base.ops[i].issued_s, 2 * near_s)
            << what << ", op " << i << " for op " << op.value;
        ASSERT_NEAR(really.ops[i].done_s, base.ops[i].done_s, 2 * near_s)
            << what << ", op " << i << " for op " << op.value;
      }
    }
  }
  EXPECT_GT(kept, tried / 2);
  EXPECT_GT(within_free, 100);
}

// One chain of constraints that bind, from time zero to the makespan.
void expect_critical_path(const Sample& sample) {
  const auto& [what, schedule, platform, plan] = sample;
  const Trace trace = analysis::run_events({schedule, platform, plan});
  const TimedSlack slack = analysis::timed_slack({schedule, platform, plan}, trace);
  if (schedule.op_count() == 0) {
    EXPECT_TRUE(slack.critical_path.empty());
    return;
  }
  const double near_s = rounding_s(trace);
  const FrozenRun run(schedule, platform, plan, trace);
  const FrozenRun::Times time_s = run.solve();
  const std::vector<OpId>& path = slack.critical_path;
  ASSERT_FALSE(path.empty()) << what;
  // The moments of each operation that a binding chain from the start can reach.
  std::vector<bool> reached(time_s.size(), false);
  for (std::uint32_t m = 0; m < FrozenRun::kMoments; ++m) {
    const std::uint32_t n = FrozenRun::kMoments * path.front().value + m;
    reached[n] = time_s[n] <= run.source_s(n) + near_s;
  }
  const auto follow = [&](OpId from, OpId to) {
    for (bool more = true; more;) {
      more = false;
      for (const FrozenRun::Arc& arc : run.arcs()) {
        if (arc.tail / FrozenRun::kMoments != from.value ||
            arc.head / FrozenRun::kMoments != to.value || !reached[arc.tail] || reached[arc.head] ||
            time_s[arc.head] > time_s[arc.tail] + arc.weight_s + near_s) {
          continue;
        }
        reached[arc.head] = more = true;
      }
    }
  };
  follow(path.front(), path.front());
  for (std::size_t i = 1; i < path.size(); ++i) {
    follow(path[i - 1], path[i]);
    follow(path[i], path[i]);
    bool any = false;
    for (std::uint32_t m = 0; m < FrozenRun::kMoments; ++m) {
      any = any || reached[FrozenRun::kMoments * path[i].value + m];
    }
    ASSERT_TRUE(any) << what << ": op " << path[i].value << " does not follow op "
                     << path[i - 1].value;
  }
  ASSERT_TRUE(reached[FrozenRun::node(path.back().value, FrozenRun::kDone)]) << what;
  ASSERT_NEAR(trace.ops[path.back().value].done_s, trace.makespan_s(), near_s) << what;
  // The start of the path can slip by nothing.
  ASSERT_EQ(slack.total_float_s[path.front().value], 0) << what;
}

TEST(CriticalPath, BindsFromTheStartToTheEnd) {
  for (std::uint32_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) {
    expect_critical_path(random_program(seed));
    expect_critical_path(random_pattern(seed));
  }
}

TEST(Float, OfNothingAndOfOneOperation) {
  const Platform platform = machine::load_platform("fractus");
  const Schedule empty = testing::Program(2).build();
  const TimedSlack none =
      analysis::timed_slack({empty, platform, {}}, analysis::run_events({empty, platform}));
  EXPECT_EQ(none.makespan_s, 0);
  EXPECT_TRUE(none.total_float_s.empty());
  EXPECT_TRUE(none.critical_path.empty());

  testing::Program program(1);
  program.calc(0, testing::us(3));
  const Schedule one = program.build();
  const TimedSlack slack =
      analysis::timed_slack({one, platform, {}}, analysis::run_events({one, platform}));
  EXPECT_NEAR(slack.makespan_s, 3e-6, 1e-18);
  EXPECT_EQ(slack.total_float_s, std::vector<double>{0});
  EXPECT_EQ(slack.free_float_s, std::vector<double>{0});
  EXPECT_EQ(slack.critical_path, std::vector<OpId>{OpId(0)});
}

TEST(Float, OfOneRankAndOfNoBytes) {
  const Platform platform = machine::load_platform("fractus");
  for (const char* spec :
       {"chain:ranks=1,bytes=1MiB,block=64KiB", "chain:ranks=3,bytes=0,block=1"}) {
    const Schedule schedule = compile(sched::parse_spec(spec));
    const TimedSlack slack =
        analysis::timed_slack({schedule, platform, {}}, analysis::run_events({schedule, platform}));
    EXPECT_EQ(slack.total_float_s.size(), schedule.op_count()) << spec;
    EXPECT_LT(slack.unexplained_s, 1e-15) << spec;
    for (const double s : slack.total_float_s) EXPECT_TRUE(std::isfinite(s)) << spec;
  }
}

TEST(Float, OnlyOfTracesOfTheSchedule) {
  const Platform platform = machine::load_platform("fractus");
  const Schedule a = compile(sched::parse_spec("chain:ranks=3,bytes=10,block=1"));
  const Schedule b = compile(sched::parse_spec("chain:ranks=4,bytes=10,block=1"));
  Trace trace = analysis::run_events({b, platform});
  EXPECT_THROW(analysis::timed_slack({a, platform, {}}, trace), InputError);
  trace.ops.back().done_s = std::numeric_limits<double>::infinity();
  EXPECT_THROW(analysis::timed_slack({b, platform, {}}, trace), InputError);
}

}  // namespace
}  // namespace slackline
