// The same schedule on the same platform, by engines that do not share their reasoning: the longest
// path and the event engine, and the event engine and SimGrid.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/event_engine.h"
#include "analysis/longest_path.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::NicDiscipline;
using machine::Platform;
using sched::RankId;
using sched::Schedule;
using sched::Time;
using sched::Trace;

// Relative to the makespan, as the engines promise.
void expect_equal(const Trace& a, const Trace& b, const std::string& what) {
  ASSERT_EQ(a.ops.size(), b.ops.size()) << what;
  const double tolerance_s = 1e-9 * a.makespan_s();
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    ASSERT_NEAR(a.ops[i].issued_s, b.ops[i].issued_s, tolerance_s) << what << ", op " << i;
    ASSERT_NEAR(a.ops[i].done_s, b.ops[i].done_s, tolerance_s) << what << ", op " << i;
  }
}

Platform platform(std::mt19937& random, NicDiscipline nic) {
  const auto pick = [&](std::initializer_list<std::int64_t> choices) {
    return *(choices.begin() + random() % choices.size());
  };
  Platform p;
  p.nic = nic;
  p.rate = {static_cast<std::uint64_t>(pick({10, 40, 100})) * 1'000'000'000};
  p.latency = Time{pick({0, 700'000, 1'500'000})};
  p.o_post = Time{pick({0, 150'000, 400'000})};
  p.o_complete = Time{pick({0, 200'000, 650'000})};
  p.gap = Time{pick({0, 50'000, 900'000})};
  return p;
}

// A spec of a random size; block counts are small so that many can be tried.
std::string spec(std::mt19937& random, std::string_view pattern) {
  const std::uint64_t block = 1 + random() % 100'000;
  const std::uint64_t blocks = 1 + random() % 12;
  const std::uint64_t bytes = random() % 8 == 0 ? 0 : block * (blocks - 1) + 1 + random() % block;
  const auto ranks = static_cast<std::uint32_t>(1 + random() % 20);
  const auto one_of = [&](std::initializer_list<const char*> choices) {
    return std::string(*(choices.begin() + random() % choices.size()));
  };
  return std::string(pattern) + ":ranks=" + std::to_string(ranks) +
         ",bytes=" + std::to_string(bytes) + ",block=" + std::to_string(block) +
         ",root=" + std::to_string(random() % ranks) + ",window=" + one_of({"1", "2", "5"}) +
         ",ready=" + one_of({"send", "write", "none"}) + ",start=" + one_of({"pairwise", "all"}) +
         ",in-flight=" + one_of({"0", "1", "2"}) + ",lower=" + one_of({"send", "put"}) +
         ",first-block=" + one_of({"direct", "copy"});
}

DelayPlan delays(std::mt19937& random, const Schedule& schedule) {
  DelayPlan plan;
  const std::uint32_t ops = schedule.op_count();
  for (std::uint32_t i = 0; ops != 0 && i < random() % 4; ++i) {
    plan.ops.push_back({sched::OpId(static_cast<std::uint32_t>(random() % ops)),
                        Time{static_cast<std::int64_t>(random() % 50'000'000)}, random() % 2 == 0,
                        RankId::none()});
  }
  if (schedule.rank_count() > 1 && random() % 2 == 0) {
    const auto src = static_cast<std::uint32_t>(random() % schedule.rank_count());
    plan.pairs.push_back(
        {RankId(src), RankId((src + 1) % schedule.rank_count()), sched::Rate{7'300'000'000}});
  }
  return plan;
}

TEST(Engines, LongestPathAgreesWithEventsWheneverItAnswers) {
  std::mt19937 random(1);
  int answered = 0;
  int asked = 0;
  for (const sched::PatternEntry& pattern : sched::patterns()) {
    for (int trial = 0; trial < 400; ++trial) {
      const std::string text = spec(random, pattern.name);
      const Schedule schedule = compile(sched::parse_spec(text));
      const Platform p = platform(random, NicDiscipline::kSerial);
      const DelayPlan plan = trial % 2 == 0 ? DelayPlan{} : delays(random, schedule);
      ++asked;
      const auto fast = analysis::longest_path(schedule, p, plan);
      if (!fast) continue;
      ++answered;
      expect_equal(*fast, analysis::run_events(schedule, p, plan),
                   text + " on " + p.spec() + plan.text());
    }
  }
  EXPECT_GT(answered, asked / 5);  // enough to have compared something
}

TEST(Engines, SimgridAgreesWithEventsOnSerialNics) {
  std::mt19937 random(2);
  for (const sched::PatternEntry& pattern : sched::patterns()) {
    for (int trial = 0; trial < 60; ++trial) {
      const std::string text = spec(random, pattern.name);
      const Schedule schedule = compile(sched::parse_spec(text));
      const Platform p = platform(random, NicDiscipline::kSerial);
      const DelayPlan plan = trial % 2 == 0 ? DelayPlan{} : delays(random, schedule);
      expect_equal(sim::run_simgrid(schedule, p, plan), analysis::run_events(schedule, p, plan),
                   text + " on " + p.spec() + plan.text());
    }
  }
}

TEST(Engines, SimgridAgreesWithEventsOnFairNicsWhereNothingIsShared) {
  std::mt19937 random(3);
  int alone = 0;
  for (const sched::PatternEntry& pattern : sched::patterns()) {
    for (int trial = 0; trial < 60; ++trial) {
      const std::string text = spec(random, pattern.name);
      const Schedule schedule = compile(sched::parse_spec(text));
      const Platform p = platform(random, NicDiscipline::kFair);
      const Trace events = analysis::run_events(schedule, p);
      if (events.contended) continue;
      ++alone;
      expect_equal(sim::run_simgrid(schedule, p), events, text + " on " + p.spec());
    }
  }
  EXPECT_GT(alone, 100);
}

TEST(Engines, TwoRunsGiveTheSameTrace) {
  const Schedule schedule =
      compile(sched::parse_spec("binomial-pipeline:ranks=13,bytes=1000001,block=65536"));
  std::mt19937 random(4);
  for (const NicDiscipline nic : {NicDiscipline::kSerial, NicDiscipline::kFair}) {
    const Platform p = platform(random, nic);
    EXPECT_EQ(digest_of(sim::run_simgrid(schedule, p)), digest_of(sim::run_simgrid(schedule, p)));
    EXPECT_EQ(digest_of(analysis::run_events(schedule, p)),
              digest_of(analysis::run_events(schedule, p)));
  }
}

}  // namespace
}  // namespace slackline
