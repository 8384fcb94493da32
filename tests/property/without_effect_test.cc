// Entries of a delay plan that are said to change nothing, against runs with and without them.
#include "machine/without_effect.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/engines/flow_engine.h"
#include "base/error.h"
#include "machine/paths.h"
#include "machine/wiring.h"
#include "sched/compile.h"
#include "sched/trace.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using sched::OpId;
using sched::RankId;
using sched::Time;
using slackline::testing::Dice;

sched::Schedule random_schedule(Dice& dice, std::uint32_t seed) {
  if (seed % 8 == 0) {
    return testing::RandomDynamic(dice, 1 + dice.below(4), 1 + dice.below(6), true).build();
  }
  if (seed % 3 == 0) return testing::RandomSchedule(dice, 8, 60).build();
  const auto patterns = sched::plan_patterns();
  const sched::PatternEntry& pattern = patterns[seed % patterns.size()];
  return sched::compile(sched::parse_spec(testing::random_spec(dice, pattern.name, 12, 8)));
}

// One entry of one kind, often such as may change nothing.
DelayPlan random_entry(Dice& dice, const sched::Schedule& schedule, const machine::Wiring& wiring) {
  DelayPlan plan;
  plan.seed = dice.below(100);
  const RankId rank(dice.below(schedule.rank_count()));
  const Time by{dice.pick<std::int64_t>({0, 1, 2'000'000})};
  const Time at{dice.pick<std::int64_t>({0, 5'000'000, 1'000'000'000'000})};
  const auto links = wiring.links();
  const std::uint32_t kind = dice.below(links.empty() ? 5 : 7);
  const auto link = [&] {
    return links[dice.below(static_cast<std::uint32_t>(links.size()))].name;
  };
  if (kind == 0 && schedule.op_count() != 0) {
    plan.ops.push_back({OpId(dice.below(schedule.op_count())), by, dice.one_in(2)});
  } else if (kind == 1 && schedule.step_count() != 0) {
    plan.steps.push_back({rank, dice.below(schedule.step_count()), by, dice.one_in(2)});
  } else if (kind == 2) {
    plan.stragglers.push_back(
        {rank, dice.pick<double>({1, 1.5, 100}), dice.one_in(2) ? Time{0} : by});
  } else if (kind == 3) {
    machine::Noise noise;
    noise.ranks = {rank};
    noise.chance = {dice.pick<std::uint32_t>({0, 10'000, 1'000'000})};
    noise.of.low = by;
    plan.noise.push_back(noise);
  } else if (kind == 4) {
    const RankId other(dice.below(schedule.rank_count()));
    if (other != rank) {
      plan.pairs.push_back(
          {rank,
           other,
           {dice.pick<std::uint64_t>({1'000'000'000, 20'000'000'000, 400'000'000'000})}});
    }
  } else if (kind == 5) {
    plan.link_rates.push_back(
        {link(), {dice.pick<std::uint64_t>({1'000'000'000, 400'000'000'000})}, at});
  } else if (kind == 6) {
    const bool host = dice.one_in(2);
    plan.failures.push_back({host ? "" : link(), host ? rank : RankId::none(), at});
  }
  return plan;
}

DelayPlan both(DelayPlan plan, const DelayPlan& more) {
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(plan.ops, more.ops);
  append(plan.steps, more.steps);
  append(plan.pairs, more.pairs);
  append(plan.stragglers, more.stragglers);
  append(plan.noise, more.noise);
  append(plan.link_rates, more.link_rates);
  append(plan.failures, more.failures);
  return plan;
}

sched::Digest what_came_of(sched::Trace trace) {
  trace.delays.clear();
  trace.seed = 0;
  return digest_of(trace);
}

// Each entry beside a plan of others, so that what those do is there.
TEST(WithoutEffect, ARunIsTheSameWithoutWhatIsNamed) {
  std::uint32_t named = 0;
  std::uint32_t effective = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Dice dice(seed);
    const sched::Schedule schedule = random_schedule(dice, seed);
    machine::Platform platform = testing::random_platform(
        dice, dice.one_in(2) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial);
    platform.topology = testing::random_topology(dice);
    if (dice.one_in(4)) testing::random_node(dice, platform);
    if (dice.one_in(2)) platform.o_post = Time{0};
    const machine::Wiring wiring(platform, schedule.rank_count());
    const DelayPlan entry = random_entry(dice, schedule, wiring);
    if (entry.empty()) continue;
    const DelayPlan others = dice.one_in(2) ? random_entry(dice, schedule, wiring) : DelayPlan();
    DelayPlan plan = both(others, entry);
    plan.seed = others.seed;
    const std::string what =
        "seed " + std::to_string(seed) + " on " + platform.spec() + "\n" + plan.text();
    SCOPED_TRACE(what);
    try {
      validate(plan, schedule);
      const machine::Setting with(schedule, platform, wiring, plan);
      const machine::Setting without(schedule, platform, wiring, others);
      const sched::Trace trace = analysis::run_flows(with);
      const sched::Trace other = analysis::run_flows(without);
      const bool same = what_came_of(trace) == what_came_of(other);
      const auto of_both = without_effect(with, machine::Paths(with), trace.makespan_s());
      const auto of_others = without_effect(without, machine::Paths(without), other.makespan_s());
      if (of_both.size() > of_others.size()) {
        ++named;
        EXPECT_TRUE(same) << of_both.back().entry << ": " << of_both.back().why;
      } else if (!same) {
        ++effective;
      }
    } catch (const Unsupported&) {
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(named, 300u);
  EXPECT_GT(effective, 300u);
}

}  // namespace
}  // namespace slackline
