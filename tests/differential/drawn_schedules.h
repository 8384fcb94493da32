// Schedules of every kind, drawn by a seed: dynamic ones, programs, patterns.
#pragma once

#include <cstdint>

#include "sched/compile.h"
#include "sched/pattern/pattern.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"

namespace slackline::testing {

/// A pattern with a Plan, the `number`-th over and over.
inline sched::Schedule drawn_pattern(Dice& dice, std::uint32_t number, std::uint32_t most_ranks) {
  const auto patterns = sched::plan_patterns();
  const sched::PatternEntry& pattern = patterns[number % patterns.size()];
  return compile(sched::parse_spec(random_spec(dice, pattern.name, most_ranks, 8)));
}

/// Of up to 16 ranks. A fifth is dynamic.
inline sched::Schedule small_schedule(Dice& dice, std::uint32_t seed) {
  if (seed % 5 == 4) {
    return RandomDynamic(dice, 2 + dice.below(6), 1 + dice.below(8), seed % 2 == 0).build();
  }
  if (seed % 2 == 1) return RandomSchedule(dice, 8, 40).build();
  return drawn_pattern(dice, seed / 2, 16);
}

/// Of up to 30 ranks, for machines that several of them share. A third is dynamic.
inline sched::Schedule wide_schedule(Dice& dice, std::uint32_t seed) {
  if (seed % 3 == 0) {
    return RandomDynamic(dice, 2 + dice.below(8), 1 + dice.below(8), seed % 2 == 0).build();
  }
  if (seed % 3 == 1) return RandomSchedule(dice, 12, 40).build();
  return drawn_pattern(dice, seed / 3, 30);
}

/// Every fourth seed has fair NICs.
inline machine::NicDiscipline drawn_discipline(std::uint32_t seed) {
  return seed % 4 == 0 ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial;
}

}  // namespace slackline::testing
