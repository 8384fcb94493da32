// What one more delay does to a run, told by hand.
#include <gtest/gtest.h>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/propagation.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using testing::Program;
using testing::us;

machine::Platform platform() {
  return machine::parse_platform_spec(
      "star:nic=serial,rate=8Gbps,latency=1us,o_post=1us,o_complete=0,gap=0,interleave=0B");
}

DelayEffect effect(const sched::Schedule& schedule, std::uint32_t op, double by_us,
                   bool whole_lane) {
  const machine::Wiring wiring(platform(), schedule.rank_count());
  const sched::Trace trace = run_events({schedule, platform()});
  const Propagation propagation({schedule, platform(), wiring, {}}, trace, WireTimes::kModel);
  const machine::OpDelay delay{OpId(op), us(by_us), whole_lane, sched::RankId::none()};
  const DelayEffect found = propagation.effect(delay);
  // Once more with what a first query left behind.
  Propagation::Scratch scratch;
  propagation.effect({OpId(0), us(50), true, sched::RankId::none()}, scratch);
  const DelayEffect again = propagation.effect(delay, scratch);
  EXPECT_EQ(again.makespan_s, found.makespan_s);
  EXPECT_EQ(again.ops_moved, found.ops_moved);
  EXPECT_EQ(again.rank_finish_s, found.rank_finish_s);
  return found;
}

void expect_effect(const DelayEffect& found, double makespan_us, std::vector<double> rank_us,
                   std::uint32_t moved, double largest_us) {
  EXPECT_NEAR(found.makespan_s, makespan_us * 1e-6, 1e-15);
  ASSERT_EQ(found.rank_finish_s.size(), rank_us.size());
  for (std::size_t r = 0; r < rank_us.size(); ++r) {
    EXPECT_NEAR(found.rank_finish_s[r], rank_us[r] * 1e-6, 1e-15) << r;
  }
  EXPECT_EQ(found.ops_moved, moved);
  EXPECT_NEAR(found.largest_s, largest_us * 1e-6, 1e-15);
}

// Calculations of 3, 4 and 5 us on one lane, and one of 6 us on another.
sched::Schedule lanes() {
  Program p(2);
  p.calc(0, us(3));
  p.calc(0, us(4));
  p.calc(0, us(5));
  p.calc(0, us(6), 1);
  p.calc(1, us(2));
  return p.build();
}

TEST(DelayEffect, OnALaneMovesWhatIsBehind) {
  expect_effect(effect(lanes(), 0, 2, true), 2, {2, 0}, 3, 2);
  expect_effect(effect(lanes(), 1, 2, true), 2, {2, 0}, 2, 2);
  expect_effect(effect(lanes(), 2, 2, true), 2, {2, 0}, 1, 2);
  // On the other lane there are 6 us to spare, of the 12 that rank 0 takes.
  expect_effect(effect(lanes(), 3, 2, true), 0, {0, 0}, 1, 2);
  expect_effect(effect(lanes(), 3, 8, true), 2, {2, 0}, 1, 8);
  expect_effect(effect(lanes(), 4, 20, true), 10, {0, 20}, 1, 20);
}

// An operation that waits for its lane has time: the second waits 3 us, the third 7.
TEST(DelayEffect, OfAnOperationAloneIsWhatItsWaitDoesNotSwallow) {
  expect_effect(effect(lanes(), 1, 3, false), 0, {0, 0}, 0, 0);
  expect_effect(effect(lanes(), 1, 5, false), 2, {2, 0}, 2, 2);
  expect_effect(effect(lanes(), 2, 7, false), 0, {0, 0}, 0, 0);
  expect_effect(effect(lanes(), 2, 8, false), 1, {1, 0}, 1, 1);
  expect_effect(effect(lanes(), 0, 1, false), 1, {1, 0}, 3, 1);
}

// Posts of 1 us; 10 us on the wire, 1 us there and 1 us back: two messages of rank 0 to rank 1.
TEST(DelayEffect, OfAPostGoesOverTheWire) {
  const sched::Schedule schedule = testing::two_sends();
  // Sends done at 13 and 23, receives at 12 and 22.
  expect_effect(effect(schedule, 0, 2, true), 2, {2, 2}, 4, 2);
  expect_effect(effect(schedule, 0, 2, false), 2, {2, 2}, 4, 2);
  // The second is posted at 2 and leaves at 11.
  expect_effect(effect(schedule, 1, 9, true), 0, {0, 0}, 1, 9);
  expect_effect(effect(schedule, 1, 10, true), 1, {1, 1}, 2, 10);
  // The first receive is posted at 1, 11 us before its message; the second at 2, 20 us before.
  expect_effect(effect(schedule, 2, 11, true), 0, {0, 0}, 2, 11);
  expect_effect(effect(schedule, 2, 12, true), 0, {0, 0}, 3, 12);
  expect_effect(effect(schedule, 3, 20, false), 0, {0, 0}, 1, 20);
  expect_effect(effect(schedule, 3, 22, false), 2, {2, 2}, 2, 22);
}

}  // namespace
}  // namespace slackline::analysis
