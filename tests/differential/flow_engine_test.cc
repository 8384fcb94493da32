// The flow engine: against the event engine where nothing is shared, and against SimGrid where
// links are.
#include "analysis/engines/flow_engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "analysis/engines/event_engine.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/support/random_bundles.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using analysis::run_flows;
using machine::DelayPlan;
using machine::NicDiscipline;
using machine::Platform;
using machine::Wiring;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

// Every kind takes its turn.
Schedule random_schedule(Dice& dice, std::uint32_t seed, std::uint32_t max_ranks) {
  switch (seed % 5) {
    case 0:
      return testing::RandomDynamic(dice, 1 + dice.below(6), 1 + dice.below(8), dice.one_in(2))
          .build();
    case 1:
      return testing::RandomSchedule(dice, 8, 40).build();
    case 2: {
      testing::RandomDynamic random(dice, 1 + dice.below(4), 1 + dice.below(8), dice.one_in(2));
      random.gather();
      return random.build();
    }
    default: {
      const auto patterns = sched::plan_patterns();
      const sched::PatternEntry& pattern = patterns[seed / 5 % patterns.size()];
      return compile(sched::parse_spec(testing::random_spec(dice, pattern.name, max_ranks, 8)));
    }
  }
}

struct Sample {
  Schedule schedule;
  Platform platform;
  DelayPlan plan;
  std::string what;
};

Sample random_sample(std::uint32_t seed, bool may_share) {
  Dice dice(seed);
  Schedule schedule = random_schedule(dice, seed, 32);
  const bool fair = dice.one_in(2);
  Platform platform =
      testing::random_platform(dice, fair ? NicDiscipline::kFair : NicDiscipline::kSerial);
  if (may_share) platform.topology = testing::random_topology(dice);
  testing::vary_routing(platform.topology, seed);
  if (dice.one_in(4)) testing::random_node(dice, platform);
  if (dice.one_in(2)) platform.placement = {machine::Placement::Kind::kRandom, dice.below(100), ""};
  DelayPlan plan = testing::maybe_delays(dice, schedule);
  plan.seed = seed;
  std::string what = testing::sample_text(seed, platform, plan);
  return {std::move(schedule), platform, plan, what};
}

TEST(FlowEngine, IsTheEventEngineWhereNothingIsShared) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 4'000 && !HasFatalFailure(); ++seed) {
    const Sample s = random_sample(seed, seed % 2 == 0);
    const Wiring wiring(s.platform, s.schedule.rank_count());
    const Trace events = analysis::run_events({s.schedule, s.platform, wiring, s.plan});
    if (events.contended) continue;
    // Of an operation that is repeated a trace tells the last attempt, and so does `contended`.
    if (s.platform.topology.kind() != machine::TopologyKind::kStar && testing::has_repeated(events))
      continue;
    ++compared;
    const Trace flows = run_flows({s.schedule, s.platform, wiring, s.plan});
    testing::expect_equal(flows, events, s.what);
    ASSERT_EQ(flows.results, events.results) << s.what;
    ASSERT_EQ(flows.memory, events.memory) << s.what;
  }
  EXPECT_GT(compared, 2'000);
}

// SimGrid's rounding grows where links are shared: 2 ns is the most that was seen here
// (docs/simulation.md, Rounding).
constexpr double kSimgridNear_s = 5e-9;

bool is_near(const Trace& a, const Trace& b) {
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    if (!(std::abs(a.ops[i].done_s - b.ops[i].done_s) < kSimgridNear_s)) return false;
  }
  return true;
}

// Several ties at once are no one operation's. If every operation is later by up to 2 ns of its
// own, far more than SimGrid rounds, no two events tie, and the engines must agree.
bool agree_without_ties(const Sample& s, const Wiring& wiring) {
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    Dice dice(seed);
    DelayPlan plan = s.plan;
    for (std::uint32_t op = 0; op < s.schedule.op_count(); ++op) {
      const auto by_ps = static_cast<std::int64_t>(dice.below(2'000));
      plan.ops.push_back({sched::OpId(op), sched::Time{by_ps}, false, sched::RankId::none()});
    }
    if (!is_near(run_flows({s.schedule, s.platform, wiring, plan}),
                 sim::run_simgrid({s.schedule, s.platform, wiring, plan}))) {
      return false;
    }
  }
  return true;
}

// Whether SimGrid's run is what the flow engine makes of it when one operation is later by less
// than what SimGrid rounds: then two events tie, and SimGrid's rounding has put another one first.
bool is_tie(const Sample& s, const Wiring& wiring, const Trace& simgrid) {
  for (std::uint32_t op = 0; op < s.schedule.op_count(); ++op) {
    for (const int by_ps : {3, 30, 300}) {
      DelayPlan plan = s.plan;
      plan.ops.push_back({sched::OpId(op), sched::Time{by_ps}, false, sched::RankId::none()});
      if (is_near(run_flows({s.schedule, s.platform, wiring, plan}), simgrid)) return true;
    }
  }
  return agree_without_ties(s, wiring);
}

TEST(FlowEngine, IsSimgridWhereLinksAreShared) {
  int compared = 0;
  int ties = 0;
  for (std::uint32_t seed = 0; seed < 2'000 && !HasFailure(); ++seed) {
    const Sample s = random_sample(seed, true);
    const Wiring wiring(s.platform, s.schedule.rank_count());
    const Trace events = analysis::run_events({s.schedule, s.platform, wiring, s.plan});
    if (!events.contended) continue;
    ++compared;
    const Trace flows = run_flows({s.schedule, s.platform, wiring, s.plan});
    const Trace simgrid = sim::run_simgrid({s.schedule, s.platform, wiring, s.plan});
    EXPECT_FALSE(flows.contended) << s.what;
    testing::expect_in_order(s.schedule, flows, s.what + "flow");
    testing::expect_in_order(s.schedule, simgrid, s.what + "SimGrid");
    if (is_near(flows, simgrid)) continue;
    ++ties;
    EXPECT_TRUE(is_tie(s, wiring, simgrid))
        << s.what << "flow " << flows.makespan_s() << " s, SimGrid " << simgrid.makespan_s();
  }
  EXPECT_GT(compared, 500);
  EXPECT_LT(ties, 10);
}

// In the very step of SimGrid's clock in which a flow ends, the engine on it has a timer, whose
// call comes first. It must not work ahead past this end: operations would begin before what they
// wait for is done.
TEST(FlowEngine, AnOperationOnSimgridWaitsForAFlowThatEndsAsATimerIsDue) {
  const Schedule schedule = compile(sched::parse_spec("allreduce:ranks=12,bytes=5867KiB"));
  const Platform platform =
      machine::parse_platform_spec("two-level:racks=4,hosts=4,oversubscription=4,nic=fair");
  DelayPlan plan;
  plan.pairs.push_back({sched::RankId(7), sched::RankId(5), {11'000'000'000}});
  const Wiring wiring(platform, schedule.rank_count());
  testing::expect_in_order(schedule, sim::run_simgrid({schedule, platform, wiring, plan}), "");
}

}  // namespace
}  // namespace slackline
