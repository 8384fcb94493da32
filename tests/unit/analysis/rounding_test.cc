// How far double precision keeps apart what is equal: the bounds of docs/simulation.md,
// "Rounding".
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "analysis/engines/event_engine.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using sched::Time;
using testing::Program;

struct Tie {
  double chain_s;  // when the put behind many steps was issued
  double once_s;   // and the one behind a single step of the same length
  bool lower_first;
};

// Two puts that are issued at the same time, to one in-port: one behind `steps` calculations of
// `step` each, on `chain_rank`, the other behind one.
Tie tie(std::uint32_t steps, Time step, std::uint32_t chain_rank) {
  Program p(3);
  OpId puts[2];
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const bool chain = rank == chain_rank;
    OpId last;
    for (std::uint32_t i = 0; i < (chain ? steps : 1); ++i) {
      const OpId calc = p.calc(rank, chain ? step : step * steps);
      if (last.valid()) p.after({last}, calc);
      last = calc;
    }
    puts[rank] = p.put(p.channel(rank, 2), 10'000);
    p.after({last}, puts[rank]);
  }
  machine::Platform platform;
  platform.rate = {8'000'000'000};
  const sched::Trace trace = run_events({p.build(), platform});
  const auto times = [&](std::uint32_t rank) { return trace.ops[puts[rank].value]; };
  return {times(chain_rank).ready_s, times(1 - chain_rank).ready_s,
          times(0).wire_s < times(1).wire_s};
}

TEST(Rounding, ATieHoldsWithinItsBound) {
  for (const auto& [steps, step_ps] :
       {std::pair{1'000u, 99'999'989}, std::pair{5'000u, 99'999'989},
        std::pair{10'000u, 43'210'007}, std::pair{10'000u, 44'999'999},
        std::pair{20'000u, 11'000'003}}) {
    const double exact_s = 1e-12 * steps * step_ps;
    ASSERT_LT(steps * exact_s, 4'500);
    for (const std::uint32_t chain_rank : {0u, 1u}) {
      const Tie t = tie(steps, Time{step_ps}, chain_rank);
      EXPECT_LE(std::abs(t.chain_s - t.once_s), 2 * steps * exact_s * std::ldexp(1, -53));
      EXPECT_TRUE(t.lower_first) << steps << " steps of " << step_ps << " ps";
    }
  }
}

// What the documentation warns of.
TEST(Rounding, ATieMayBreakBeyondIt) {
  const Tie t = tie(100'000, Time{100'000'000}, 1);
  EXPECT_NEAR(t.chain_s - t.once_s, -9.97e-12, 0.01e-12);
  EXPECT_FALSE(t.lower_first);
}

}  // namespace
}  // namespace slackline::analysis
