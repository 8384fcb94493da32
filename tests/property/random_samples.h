// Random schedules with a machine and a delay plan each, as the laws of slack are held against.
#pragma once

#include <string>
#include <utility>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "sched/schedule.h"
#include "sched/trace.h"
#include "tests/property/random_runs.h"

namespace slackline::testing {

struct Sample {
  std::string what;
  sched::Schedule schedule;
  machine::Platform platform;
  machine::DelayPlan plan;
};

// Where posting is free and messages keep no distance, several of one rank begin in one instant, in
// an order that its trace does not tell. So one of the two always costs something here.
inline machine::Platform costly_platform(Dice& dice) {
  machine::Platform platform = random_platform(dice, machine::NicDiscipline::kSerial);
  if (platform.o_post.count() == 0 && platform.gap.count() == 0) {
    platform.o_post = us(0.15);
  }
  return platform;
}

inline Sample random_program(std::uint32_t seed) {
  Dice dice(seed);
  sched::Schedule schedule = RandomSchedule(dice, 5, 35).build();
  const machine::Platform platform = costly_platform(dice);
  machine::DelayPlan plan = seed % 2 == 0 ? machine::DelayPlan{} : random_delays(dice, schedule);
  return {"program " + std::to_string(seed), std::move(schedule), platform, plan};
}

inline Sample random_pattern(std::uint32_t seed) {
  Dice dice(seed);
  const sched::PatternEntry& pattern = sched::plan_patterns()[seed % sched::plan_patterns().size()];
  const std::string spec = random_spec(dice, pattern.name, 6, 4);
  sched::Schedule schedule = compile(sched::parse_spec(spec));
  const machine::Platform platform = costly_platform(dice);
  machine::DelayPlan plan = dice.one_in(2) ? machine::DelayPlan{} : random_delays(dice, schedule);
  return {spec, std::move(schedule), platform, plan};
}

// Rounding: sums of the makespan's magnitude.
inline double rounding_s(const sched::Trace& trace) { return 1e-11 * trace.makespan_s() + 1e-18; }

}  // namespace slackline::testing
