#include "engines/engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "engines/other_simulators.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::engines {
namespace {

using machine::Engine;
using machine::Setting;
using ::testing::HasSubstr;

machine::DelayPlan noise() {
  machine::DelayPlan plan;
  machine::Noise noise;
  noise.of.kind = machine::Distribution::Kind::kUniform;
  noise.of.high = sched::Time{5'000'000};
  plan.noise.push_back(noise);
  plan.seed = 7;
  return plan;
}

class EveryEngine : public ::testing::TestWithParam<const Engine*> {
 protected:
  const Engine& engine() const { return *GetParam(); }
  const sched::Schedule schedule_ =
      compile(sched::parse_spec("chain:ranks=3,bytes=64KiB,block=16KiB"));
  const machine::Platform platform_ = machine::parse_platform_spec("star:rate=8Gbps,latency=2us");
};

TEST_P(EveryEngine, IsFoundByItsName) {
  EXPECT_EQ(find_engine(engine().name), GetParam());
  EXPECT_EQ(&engine_named(engine().name), GetParam());
  EXPECT_FALSE(engine().summary.empty());
}

TEST_P(EveryEngine, SaysTheSameOfAStar) {
  const double makespan_s = find_engine("event")->run({schedule_, platform_}).makespan_s();
  EXPECT_NEAR(engine().run({schedule_, platform_}).makespan_s(), makespan_s, 1e-9 * makespan_s);
}

// The best way to make a long run of every engine is a policy without a shortcut.
TEST_P(EveryEngine, EndsARunIfWhoWatchesThrows) {
  const auto schedule = compile(sched::parse_spec("chain:ranks=32,bytes=64MiB,block=64KiB"));
  std::uint32_t looks = 0;
  const machine::RunWatch counts = [&] { ++looks; };
  const machine::RunWatch gives_up = [] { throw InputError("given up"); };
  const Setting setting =
      Setting(schedule, platform_).with(machine::IssueOrder(machine::IssuePolicy::kReady));
  const double makespan_s = engine().run(setting).makespan_s();
  EXPECT_EQ(engine().run(setting.watched(&counts)).makespan_s(), makespan_s);
  EXPECT_GT(looks, 1u);
  EXPECT_THROW(engine().run(setting.watched(&gives_up)), InputError);
}

TEST_P(EveryEngine, DrawsWithTheSeedThatItIsGiven) {
  machine::DelayPlan plan = noise();
  const machine::Samples samples =
      engine().samples(Setting(schedule_, platform_, plan), {3, 2, {}});
  for (std::uint32_t i = 0; i < 3; ++i) {
    plan.seed = 7 + i;
    const sched::Trace trace = engine().run(Setting(schedule_, platform_, plan));
    EXPECT_EQ(trace.seed, 7 + i);
    EXPECT_EQ(samples.makespan_s[i], trace.makespan_s());
  }
  EXPECT_NE(samples.makespan_s[0], samples.makespan_s[1]);
}

TEST_P(EveryEngine, ThrowsWhatItSaysThatItRefuses) {
  const sched::Schedule retried = sched::read_text(
      "slackline schedule 1\nranks 1\nrank 0\n  0 calc for 1us\nregion retry entry 0 count 1 "
      "attempts 64 p 900000\n",
      "s");
  const machine::DelayPlan plan = noise();
  for (const sched::Schedule* schedule : {&schedule_, &retried}) {
    for (const machine::DelayPlan* delays : {&plan, &machine::kNoDelays}) {
      const Setting setting(*schedule, platform_, *delays);
      const auto why = engine().why_refused(setting);
      if (!why) {
        EXPECT_NO_THROW(engine().run(setting));
        continue;
      }
      EXPECT_EQ(testing::error_of<Unsupported>([&] { engine().run(setting); }), *why);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryEngine, ::testing::ValuesIn(engines()),
                         [](const auto& tested) { return std::string(tested.param->name); });

TEST(Engines, UnknownOnesAreRefusedByTheOption) {
  EXPECT_EQ(find_engine("fastest"), nullptr);
  const auto refusal = [](std::string_view name) -> std::string {
    try {
      engine_named(name, "--on");
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal("fastest"), HasSubstr("--on: 'fastest'; expected simgrid, flow"));
  EXPECT_THAT(refusal("evnt"), HasSubstr("--on: 'evnt': did you mean 'event'?; expected simgrid"));
}

TEST(OtherSimulators, RefuseFiguresThatTheyHaveNoPlaceFor) {
  const sched::Schedule schedule = compile(sched::parse_spec("chain:ranks=3,bytes=64KiB"));
  const OtherSimulator* const loggopsim = find_other_simulator("loggopsim");
  const std::pair<std::string, std::string> cases[] = {
      {"packet_overhead=66B", "mtu, packet_overhead or coding"},
      {"ack=4B", "ack"},
      {"o_poll=1us", "o_poll"},
      {"o_post_recv=1us", "o_post_recv"},
      {"ranks_per_node=3", "ranks_per_node"},
      {"own_messages=memory", "own_messages"},
      {"rails=2", "rails"},
      {"host_rate=1:5Gbps", "host_rate"},
      {"host_latency=1:5us", "host_latency"},
      {"switches=switch", "switches"}};
  for (const auto& [figure, lacking] : cases) {
    const machine::Platform platform = machine::parse_platform_spec("star:" + figure);
    EXPECT_EQ(
        testing::error_of<Unsupported>([&] {
          makespan_s(*loggopsim, {schedule, platform});
        }),
        "loggopsim: " + lacking + ", which it has no figure for; expected a platform without");
  }
}

TEST(Setting, KeepsTheWiringThatItMakes) {
  const sched::Schedule schedule = compile(sched::parse_spec("chain:ranks=3,bytes=64KiB"));
  const machine::Platform platform = machine::parse_platform_spec("star:rate=8Gbps,latency=2us");
  const machine::DelayPlan plan = noise();
  const auto made = [&] { return Setting(schedule, platform).with(plan); };
  const Setting setting = made();
  EXPECT_EQ(setting.wiring.rank_count(), 3u);
  EXPECT_EQ(&setting.delays, &plan);
  EXPECT_EQ(&setting.with(machine::IssueOrder()).delays, &plan);
}

}  // namespace
}  // namespace slackline::engines
