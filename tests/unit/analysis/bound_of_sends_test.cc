// Slack of runs in which a bound of sends in flight has one wait for another.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/fixed_order.h"
#include "analysis/slack/propagation.h"
#include "analysis/slack/run_order.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "machine/lane.h"
#include "tests/property/random_runs.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using machine::Platform;
using machine::Setting;
using sched::Schedule;
using testing::Dice;
using testing::OpId;
using testing::Program;

machine::IssueOrder at_most(std::uint32_t sends) {
  machine::IssueOrder order;
  order.sends_in_flight = sends;
  return order;
}

machine::DelayPlan plan_of(const machine::OpDelay& delay) {
  machine::DelayPlan plan;
  plan.ops.push_back(delay);
  return plan;
}

// Two messages through the memory of a machine, where they meet at no port: 80 us and 40 us.
struct Two {
  Schedule schedule;
  Platform platform;
};

Two two_messages(bool in_order) {
  Program p(3);
  const OpId first = p.put(p.channel(0, 1), 800'000, sched::Notify::kNone, 0);
  const OpId second = p.put(p.channel(0, 2), 400'000, sched::Notify::kNone, 1);
  if (in_order) p.after({first}, second);
  Two two{p.build(), machine::parse_platform_spec("star:rate=100Gbps,copy_rate=80Gbps")};
  two.platform.node.ranks = 4;
  return two;
}

TEST(BoundOfSends, MayHaveADelayCostMoreThanItself) {
  const Two two = two_messages(false);
  const Setting free(two.schedule, two.platform);
  const analysis::FixedOrder without = analysis::fixed_order(free, analysis::run_events(free));
  EXPECT_TRUE(without.one_delay_costs_at_most_itself());

  const Setting bound = free.with(at_most(1));
  const sched::Trace trace = analysis::run_events(bound);
  const analysis::FixedOrder order = analysis::fixed_order(bound, trace);
  EXPECT_FALSE(order.one_delay_costs_at_most_itself());
  EXPECT_EQ(order.contested, analysis::Contested::kInFlight);
  EXPECT_EQ(analysis::place_of(two.schedule, order), "the sends in flight of rank 0");
  EXPECT_EQ(analysis::name(order.contested), "in-flight");
  const analysis::TimedSlack slack = analysis::timed_slack(bound, trace);
  EXPECT_LE(slack.unexplained_s, 1e-15);
  EXPECT_EQ(slack.total_float_s, (std::vector<double>{0, 0}));

  const Setting two_at_most = free.with(at_most(2));
  const sched::Trace both = analysis::run_events(two_at_most);
  EXPECT_TRUE(analysis::fixed_order(two_at_most, both).one_delay_costs_at_most_itself());

  const Two ordered = two_messages(true);
  const Setting fixed = Setting(ordered.schedule, ordered.platform).with(at_most(1));
  const sched::Trace run = analysis::run_events(fixed);
  EXPECT_TRUE(analysis::fixed_order(fixed, run).one_delay_costs_at_most_itself());
}

// Where a delayed run keeps the order, that says when all ends.
TEST(BoundOfSends, ADelayGoesTheWayThatTheOrderHas) {
  int kept = 0;
  int differ = 0;  // samples in which the bound matters
  for (std::uint32_t seed = 0; seed < 80 && !::testing::Test::HasFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::RandomSchedule(dice, 5, 30).build();
    Platform platform = testing::random_platform(dice, machine::NicDiscipline::kSerial);
    if (dice.one_in(2)) platform.node.ranks = 4;
    machine::IssueOrder issue = at_most(1 + dice.below(2));
    if (dice.one_in(2)) issue.policy = machine::IssuePolicy::kReady;
    const Setting free(schedule, platform);
    const Setting bound = free.with(issue);
    std::optional<sched::Trace> trace;
    std::optional<analysis::Propagation> propagation;
    try {
      trace = analysis::run_events(bound);
      propagation.emplace(bound, *trace, analysis::WireTimes::kModel);
    } catch (const Error&) {
      continue;  // it never ends with that bound, or slack does not take it
    }
    const std::string what = "seed " + std::to_string(seed) + " on " + platform.spec();
    ASSERT_LE(analysis::timed_slack(bound, *trace).unexplained_s, 1e-14) << what;
    differ += trace->makespan_s() != analysis::run_events(free).makespan_s() ? 1 : 0;
    const analysis::RunOrder order(bound, *trace);
    for (std::uint32_t i = 0; i < schedule.op_count(); i += 2) {
      const sched::Time by{dice.one_in(2) ? 1'000 : 1 + dice.below(900'000)};
      // Of what takes no time of its lane, the lane knows no place.
      const bool holds = machine::lane_time_s(schedule, platform, schedule.op(OpId(i))) > 0;
      const machine::OpDelay trial{OpId(i), by, holds && dice.one_in(2), sched::RankId::none()};
      const machine::DelayPlan plan = plan_of(trial);
      std::optional<sched::Trace> run;
      try {
        run = analysis::run_events(bound.with(plan));
      } catch (const Error&) {
        continue;  // with the delay it never ends
      }
      if (!order.is_kept_by(schedule, *run)) continue;
      ASSERT_NEAR(propagation->effect(trial).makespan_s, run->makespan_s() - trace->makespan_s(),
                  1e-13)
          << what << ", op " << i << " by " << by.count() << " ps";
      ++kept;
    }
  }
  EXPECT_GT(kept, 300);
  EXPECT_GT(differ, 5);
}

}  // namespace
}  // namespace slackline
