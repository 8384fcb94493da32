// Slack where messages share links: with the run's own times on the wire it explains what SimGrid
// did, and it foretells the cost of delays better than the machine model alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "analysis/slack/timed_slack.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using analysis::TimedSlack;
using analysis::WireTimes;
using machine::Platform;
using machine::Wiring;
using sched::OpId;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

// Four racks of four hosts, neighbours in different racks: most messages cross an uplink.
Platform racks(const std::string& more) {
  return machine::load_platform(
      "two-level:racks=4,hosts=4,placement=round-robin,rate=40Gbps,latency=1500ns,o_post=300ns,"
      "o_complete=300ns," +
      more);
}

TEST(ContendedSlack, ExplainsEveryRun) {
  int beyond_the_model = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const sched::PatternEntry& pattern =
        sched::plan_patterns()[seed % sched::plan_patterns().size()];
    const std::string spec = testing::random_spec(dice, pattern.name, 16, 6);
    const Schedule schedule = compile(sched::parse_spec(spec));
    const std::string figures = std::string("nic=") + (dice.one_in(2) ? "fair" : "serial") +
                                ",oversubscription=" + dice.pick<std::string>({"2", "4", "16"});
    const Platform platform = racks(figures);
    const Wiring wiring(platform, schedule.rank_count());
    const machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    const Trace trace = sim::run_simgrid({schedule, platform, plan});
    const TimedSlack slack = analysis::slack_of_run({schedule, platform, wiring, plan}, trace);
    // Events within a picosecond are one instant of SimGrid's run.
    const double near_s = 1e-9 * trace.makespan_s() + 2e-12;
    ASSERT_NEAR(slack.makespan_s, trace.makespan_s(), near_s) << spec << " with " << figures;
    ASSERT_LE(slack.unexplained_s, near_s) << spec << " with " << figures;
    ASSERT_TRUE(explains(slack)) << spec << " with " << figures;
    if (slack.wire_times == WireTimes::kRun) ++beyond_the_model;
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      ASSERT_GE(slack.free_float_s[i], 0);
      ASSERT_LE(slack.free_float_s[i], slack.total_float_s[i] + near_s);
    }
  }
  EXPECT_GT(beyond_the_model, 60);
}

TEST(ContendedSlack, IsTheModelsWhereNothingIsShared) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    const sched::PatternEntry& pattern =
        sched::plan_patterns()[seed % sched::plan_patterns().size()];
    const std::string spec = testing::random_spec(dice, pattern.name, 8, 6);
    const Schedule schedule = compile(sched::parse_spec(spec));
    const Platform platform = testing::random_platform(dice, machine::NicDiscipline::kSerial);
    if (platform.o_post.count() == 0 && platform.gap.count() == 0) continue;
    const Wiring wiring(platform, schedule.rank_count());
    const Trace trace = sim::run_simgrid({schedule, platform});
    const auto by = [&](WireTimes wire) {
      return analysis::timed_slack({schedule, platform, wiring, {}}, trace, wire);
    };
    const TimedSlack model = by(WireTimes::kModel);
    const TimedSlack run = by(WireTimes::kRun);
    const double near_s = 1e-9 * trace.makespan_s();
    EXPECT_TRUE(explains(model)) << spec;
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      ASSERT_NEAR(model.total_float_s[i], run.total_float_s[i], near_s) << spec << ", op " << i;
    }
  }
}

// Over all operations, each delayed by each of some times: how far max(0, delay − float) is from
// what the delay really did to the makespan.
struct Foretelling {
  double error_s = 0;          // mean over operations and delays
  double moved_per_delay = 0;  // delayed by their float: how far the makespan moved, over the delay
};

struct Case {
  const char* spec;
  const char* figures;
  bool free_within_float;  // a delay within its float costs less than half of what the model's does
};

class Foretold : public ::testing::TestWithParam<Case> {
 protected:
  Foretold()
      : schedule_(compile(sched::parse_spec(GetParam().spec))),
        platform_(racks(GetParam().figures)),
        wiring_(platform_, schedule_.rank_count()),
        base_(sim::run_simgrid({schedule_, platform_})) {}

  double moved_s(OpId op, double by_s) const {
    machine::DelayPlan plan;
    plan.ops.push_back({op, sched::Time{std::llround(by_s * 1e12)}, true, sched::RankId::none()});
    return sim::run_simgrid({schedule_, platform_, plan}).makespan_s() - base_.makespan_s();
  }

  Foretelling foretell(WireTimes wire) const {
    const TimedSlack slack =
        analysis::timed_slack({schedule_, platform_, wiring_, {}}, base_, wire);
    Foretelling result;
    double floats_s = 0;
    double moved_by_float_s = 0;
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      const double float_s = slack.total_float_s[i];
      for (const double by_s : {20e-6, 100e-6}) {
        result.error_s += std::abs(moved_s(OpId(i), by_s) - std::max(0.0, by_s - float_s));
      }
      floats_s += float_s;
      moved_by_float_s += std::abs(moved_s(OpId(i), float_s));
    }
    result.error_s /= 2 * schedule_.op_count();
    result.moved_per_delay = moved_by_float_s / floats_s;
    return result;
  }

  Schedule schedule_;
  Platform platform_;
  Wiring wiring_;
  Trace base_;
};

TEST_P(Foretold, BetterThanByTheModelAlone) {
  const Foretelling model = foretell(WireTimes::kModel);
  const Foretelling run = foretell(WireTimes::kRun);
  RecordProperty("model", std::to_string(model.error_s * 1e6) + " us, " +
                              std::to_string(model.moved_per_delay));
  RecordProperty("run",
                 std::to_string(run.error_s * 1e6) + " us, " + std::to_string(run.moved_per_delay));
  EXPECT_LT(run.error_s, model.error_s);
  if (GetParam().free_within_float) {
    EXPECT_LT(run.moved_per_delay, model.moved_per_delay / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    ContendedSlack, Foretold,
    ::testing::Values(Case{"binomial-pipeline:ranks=16,bytes=1MiB,block=128KiB",
                           "nic=fair,oversubscription=8", true},
                      Case{"binary-tree:ranks=16,bytes=1MiB,block=256KiB",
                           "nic=fair,oversubscription=8", false},
                      Case{"double-tree:ranks=16,bytes=1MiB,block=256KiB",
                           "nic=serial,oversubscription=4", false}),
    [](const auto& each) { return "Case" + std::to_string(each.index); });

}  // namespace
}  // namespace slackline
