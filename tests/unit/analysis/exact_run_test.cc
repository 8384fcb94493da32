// Runs in rational numbers, which judge engines where links are shared: against what else is exact,
// and the flow engine against them.
#include "tests/exact/exact_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "base/error.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"
#include "tests/support/sanitized.h"

namespace slackline::analysis {
namespace {

using machine::DelayPlan;
using machine::NicDiscipline;
using machine::Platform;
using machine::Wiring;
using sched::Schedule;
using sched::Trace;
using testing::Dice;
using testing::run_exactly;

struct Sample {
  Schedule schedule;
  Platform platform;
  DelayPlan plan;
  std::string what;
};

// A pattern, or operations of every kind; where nothing is shared, or where links are.
Sample random_sample(std::uint32_t seed, bool may_share) {
  Dice dice(seed);
  const auto patterns = sched::plan_patterns();
  Schedule schedule = seed % 4 == 0 ? testing::RandomSchedule(dice, 8, 40).build()
                                    : compile(sched::parse_spec(testing::random_spec(
                                          dice, patterns[seed / 4 % patterns.size()].name, 16, 4)));
  Platform platform = testing::random_platform(
      dice, dice.one_in(2) ? NicDiscipline::kFair : NicDiscipline::kSerial);
  if (may_share) platform.topology = testing::random_topology(dice);
  testing::vary_routing(platform.topology, seed);
  if (dice.one_in(4)) testing::random_node(dice, platform);
  if (dice.one_in(2)) platform.placement = {machine::Placement::Kind::kRandom, dice.below(100), ""};
  DelayPlan plan = testing::maybe_delays(dice, schedule);
  // PCIe holds a third of those that it may. Nothing is drawn for it.
  if (platform.nic == NicDiscipline::kSerial && seed % 3 == 0) {
    platform.pcie = {machine::Rate{25'000'000'000}, 256, 24};
  }
  std::string what = testing::sample_text(seed, platform, plan);
  return {std::move(schedule), platform, plan, what};
}

// Whether every time is, to what doubles round in so many additions.
bool are_equal(const Trace& a, const Trace& b) {
  const double near_s = 1e-12 * b.makespan_s();
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    if (!(std::abs(a.ops[i].issued_s - b.ops[i].issued_s) <= near_s)) return false;
    if (!(std::abs(a.ops[i].done_s - b.ops[i].done_s) <= near_s)) return false;
  }
  return true;
}

TEST(ExactRun, IsTheEventEnginesWhereNothingIsShared) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < testing::cases(400u); ++seed) {
    const Sample s = random_sample(seed, false);
    const Wiring wiring(s.platform, s.schedule.rank_count());
    const machine::Setting setting(s.schedule, s.platform, wiring, s.plan);
    const Trace events = run_events(setting);
    if (events.contended) continue;
    ++compared;
    ASSERT_TRUE(are_equal(events, run_exactly(setting))) << s.what;
  }
  EXPECT_GT(compared, testing::cases(200));
}

TEST(ExactRun, IsTheFlowEnginesWhereLinksAreShared) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < testing::cases(300u); ++seed) {
    const Sample s = random_sample(seed, true);
    const Wiring wiring(s.platform, s.schedule.rank_count());
    const machine::Setting setting(s.schedule, s.platform, wiring, s.plan);
    if (!run_events(setting).contended) continue;
    ++compared;
    EXPECT_TRUE(are_equal(run_flows(setting), run_exactly(setting))) << s.what;
  }
  EXPECT_GT(compared, testing::cases(20));
}

TEST(ExactRun, RefusesWhatItWouldRound) {
  const Schedule schedule = compile(sched::parse_spec("chain:ranks=2,bytes=1MiB"));
  const Platform platform = machine::load_platform("star:rate=1Gbps");
  DelayPlan slower;
  slower.link_rates.push_back({"host-0.out", {500'000'000}, sched::Time{1'000}});
  EXPECT_THROW(run_exactly({schedule, platform, slower}), Unsupported);
  DelayPlan cut;
  cut.failures.push_back({});
  cut.failures.back().link = "host-0.out";
  EXPECT_THROW(run_exactly({schedule, platform, cut}), Unsupported);
  Dice dice(1);
  const Schedule dynamic = testing::RandomDynamic(dice, 3, 6, true).build();
  ASSERT_FALSE(dynamic.is_static());
  EXPECT_THROW(run_exactly({dynamic, platform}), Unsupported);
}

}  // namespace
}  // namespace slackline::analysis
