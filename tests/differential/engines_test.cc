// The same schedule on the same platform, by engines that do not share their reasoning: the longest
// path and the event engine, and the event engine and SimGrid.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::IssuePolicy;
using machine::NicDiscipline;
using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::Dice;
using testing::expect_equal;

struct Sample {
  std::string what;
  Schedule schedule;
  Platform platform;
  DelayPlan plan;
};

std::string text(const std::string& what, const Platform& platform, const DelayPlan& plan) {
  return what + " on " + platform.spec() + "\n" + plan.text();
}

// A spec with options of any kind; patterns take turns.
Sample random_pattern(std::uint32_t seed, NicDiscipline nic, std::uint32_t max_ranks,
                      std::uint32_t max_blocks) {
  Dice dice(seed);
  const sched::PatternEntry& pattern = sched::plan_patterns()[seed % sched::plan_patterns().size()];
  const std::string spec = testing::random_spec(dice, pattern.name, max_ranks, max_blocks);
  Schedule schedule = compile(sched::parse_spec(spec));
  const Platform platform = testing::random_platform(dice, nic);
  DelayPlan plan = testing::maybe_delays(dice, schedule);
  return {text(spec, platform, plan), std::move(schedule), platform, plan};
}

Sample random_program(std::uint32_t seed, NicDiscipline nic) {
  Dice dice(seed);
  Schedule schedule = testing::RandomSchedule(dice, 6, 40).build();
  const Platform platform = testing::random_platform(dice, nic);
  DelayPlan plan = testing::maybe_delays(dice, schedule);
  return {text("program " + std::to_string(seed), platform, plan), std::move(schedule), platform,
          plan};
}

IssuePolicy policy_of(std::uint32_t seed) {
  return seed % 5 == 0 ? IssuePolicy::kReady : IssuePolicy::kInOrder;
}

TEST(LongestPath, AgreesWithEventsOnPatternsWheneverItAnswers) {
  int answered = 0;
  constexpr std::uint32_t kSeeds = 12'000;
  for (std::uint32_t seed = 0; seed < kSeeds && !HasFatalFailure(); ++seed) {
    const Sample s = random_pattern(seed, NicDiscipline::kSerial, seed % 50 == 0 ? 128 : 40, 12);
    const auto fast = analysis::longest_path({s.schedule, s.platform, s.plan});
    if (!fast) continue;
    ++answered;
    expect_equal(*fast, analysis::run_events({s.schedule, s.platform, s.plan}), s.what);
  }
  EXPECT_GT(answered, static_cast<int>(kSeeds / 6));  // enough to have compared something
}

TEST(LongestPath, AgreesWithEventsOnProgramsWheneverItAnswers) {
  int answered = 0;
  for (std::uint32_t seed = 0; seed < 20'000 && !HasFatalFailure(); ++seed) {
    const Sample s = random_program(seed, NicDiscipline::kSerial);
    const auto fast = analysis::longest_path({s.schedule, s.platform, s.plan});
    if (!fast) continue;
    ++answered;
    expect_equal(*fast, analysis::run_events({s.schedule, s.platform, s.plan}), s.what);
  }
  EXPECT_GT(answered, 500);
}

TEST(LongestPath, AgreesWithEventsOnFairNicsWheneverItAnswers) {
  int answered = 0;
  for (std::uint32_t seed = 0; seed < 4'000 && !HasFatalFailure(); ++seed) {
    const Sample s = seed % 2 == 0 ? random_pattern(seed / 2, NicDiscipline::kFair, 20, 8)
                                   : random_program(seed, NicDiscipline::kFair);
    const auto fast = analysis::longest_path({s.schedule, s.platform, s.plan});
    if (!fast) continue;
    ++answered;
    const Trace events = analysis::run_events({s.schedule, s.platform, s.plan});
    expect_equal(*fast, events, s.what);
    ASSERT_EQ(fast->contended, events.contended) << s.what;
  }
  EXPECT_GT(answered, 500);
}

// What most people ask for must not need the slower engine.
TEST(LongestPath, AnswersByItselfForTheDefaults) {
  const Platform fractus = machine::load_platform("fractus");
  const auto answers = [&](const std::string& spec) {
    return analysis::run_analytic({compile(sched::parse_spec(spec)), fractus}).engine ==
           "longest-path";
  };
  for (const std::uint32_t k : {1, 2, 7, 64, 256}) {
    const std::string blocks = ",bytes=" + std::to_string(k) + "MiB,block=1MiB";
    for (std::uint32_t n = 2; n <= 256; n *= 2) {
      EXPECT_TRUE(answers("binomial-pipeline:ranks=" + std::to_string(n) + blocks)) << n;
    }
    for (const std::uint32_t n : {1, 2, 3, 5, 12, 33, 100}) {
      for (const char* pattern : {"chain", "sequential", "binomial-tree", "binary-tree"}) {
        EXPECT_TRUE(answers(std::string(pattern) + ":ranks=" + std::to_string(n) + blocks))
            << pattern << ", " << n << ", " << k;
      }
    }
  }
}

void expect_simgrid(const Sample& s, IssuePolicy policy) {
  expect_equal(sim::run_simgrid({s.schedule, s.platform, s.plan, policy}),
               analysis::run_events({s.schedule, s.platform, s.plan, policy}), s.what);
}

TEST(Simgrid, AgreesWithEventsOnPatterns) {
  for (std::uint32_t seed = 0; seed < 1'000 && !HasFatalFailure(); ++seed) {
    expect_simgrid(random_pattern(seed, NicDiscipline::kSerial, 40, 12), policy_of(seed));
  }
}

TEST(Simgrid, AgreesWithEventsOnPrograms) {
  for (std::uint32_t seed = 0; seed < 1'200 && !HasFatalFailure(); ++seed) {
    expect_simgrid(random_program(seed, NicDiscipline::kSerial), policy_of(seed));
  }
}

// Every pattern at every small number of ranks, and some larger ones, with the edge cases of sizes.
TEST(Simgrid, AgreesWithEventsAtEverySize) {
  const Platform fractus = machine::load_platform("fractus");
  for (const sched::PatternEntry& pattern : sched::plan_patterns()) {
    for (std::uint32_t n = 1; n <= 128 && !HasFatalFailure(); n += n < 40 ? 1 : 29) {
      for (const char* size :
           {"bytes=0,block=65536", "bytes=262144,block=65536", "bytes=200000,block=65536"}) {
        const std::string spec =
            std::string(pattern.name) + ":ranks=" + std::to_string(n) + "," + size;
        const Schedule schedule = compile(sched::parse_spec(spec));
        const Trace events = analysis::run_events({schedule, fractus});
        expect_equal(sim::run_simgrid({schedule, fractus}), events, spec);
        expect_equal(analysis::run_analytic({schedule, fractus}), events, spec);
      }
    }
  }
}

TEST(Simgrid, AgreesWithEventsOnFairNicsWhereNothingIsShared) {
  int alone = 0;
  for (std::uint32_t seed = 0; seed < 2'000 && !HasFatalFailure(); ++seed) {
    const Sample s = seed % 2 == 0 ? random_pattern(seed / 2, NicDiscipline::kFair, 20, 8)
                                   : random_program(seed, NicDiscipline::kFair);
    const Trace events = analysis::run_events({s.schedule, s.platform, s.plan});
    if (events.contended) continue;
    ++alone;
    expect_equal(sim::run_simgrid({s.schedule, s.platform, s.plan}), events, s.what);
  }
  EXPECT_GT(alone, 500);
}

// Sharing can only make a run later than full rates for all would have it.
TEST(Simgrid, IsNoFasterThanFullRatesForAll) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const std::uint32_t senders = 1 + dice.below(5);
    testing::Program p(senders + 1);
    std::vector<sched::ChannelId> channels;
    for (std::uint32_t i = 0; i < senders; ++i) channels.push_back(p.channel(i + 1, 0));
    for (const sched::ChannelId c : channels) p.recv(c, 50'000);
    for (const sched::ChannelId c : channels) p.send(c, 50'000);
    const Schedule schedule = p.build();
    const Platform platform = testing::random_platform(dice, NicDiscipline::kFair);
    const double bound_s = analysis::run_events({schedule, platform}).makespan_s();
    EXPECT_GE(sim::run_simgrid({schedule, platform}).makespan_s(), bound_s * (1 - 1e-9));
  }
}

TEST(Engines, TwoRunsGiveTheSameTrace) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const NicDiscipline nic = seed % 2 == 0 ? NicDiscipline::kSerial : NicDiscipline::kFair;
    const Sample s = seed % 3 == 0 ? random_program(seed, nic) : random_pattern(seed, nic, 20, 8);
    const auto simulated = [&] {
      return digest_of(sim::run_simgrid({s.schedule, s.platform, s.plan}));
    };
    const auto events = [&] {
      return digest_of(analysis::run_events({s.schedule, s.platform, s.plan}));
    };
    const machine::Wiring wiring(s.platform, s.schedule.rank_count());
    const auto flows = [&] {
      return digest_of(analysis::run_flows({s.schedule, s.platform, wiring, s.plan}));
    };
    const auto analytic = [&] {
      return digest_of(analysis::run_analytic({s.schedule, s.platform, s.plan}));
    };
    EXPECT_EQ(simulated(), simulated()) << s.what;
    EXPECT_EQ(events(), events()) << s.what;
    EXPECT_EQ(flows(), flows()) << s.what;
    EXPECT_EQ(analytic(), analytic()) << s.what;
  }
}

}  // namespace
}  // namespace slackline
