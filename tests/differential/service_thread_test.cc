// Completions that a service thread sees: the simulators agree, and every run keeps the rules of
// the core that the thread shares with the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "machine/completions.h"
#include "machine/lane.h"
#include "machine/run/lanes.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"
#include "tests/support/random_bundles.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using sched::OpId;
using sched::OpKind;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

Platform served_platform(Dice& dice, NicDiscipline nic) {
  Platform p = testing::random_platform(dice, nic);
  p.service_thread = true;
  p.switch_cost = sched::Time{dice.pick({0, 300'000, 2'100'000})};
  p.o_poll = sched::Time{dice.pick({0, 90'000})};
  p.o_match = sched::Time{dice.pick({0, 70'000})};
  return p;
}

// What had a core, and whose: without the switch before it.
struct Turn {
  double from_s;
  double to_s;
  bool service;
  double there_s;  // of a look: the completion; below 0 if the trace does not tell
};

// No more than one at a time; what the other thread had before is left by a switch; and a look
// begins as soon as its completion is there and the core has ended what it had begun.
void expect_rules(std::vector<Turn>& turns, double switch_s, const std::string& what) {
  constexpr double kNear = 1e-11;
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::pair(a.from_s, a.to_s) < std::pair(b.from_s, b.to_s);
  });
  double free_s = 0;
  bool service = false;
  for (const Turn& turn : turns) {
    const double before_s = turn.service != service ? switch_s : 0;
    const double begin_s = turn.from_s - before_s;
    ASSERT_GE(begin_s, free_s - kNear) << what;
    if (turn.there_s >= 0) {
      ASSERT_NEAR(begin_s, std::max(free_s, turn.there_s), kNear) << what;
    }
    free_s = turn.to_s;
    service = turn.service;
  }
}

void check(const Schedule& schedule, const Platform& platform, const Trace& trace,
           const std::string& what) {
  const machine::Completions completions(schedule, platform, {});
  const machine::LaneIndex lanes(schedule);
  std::vector<std::vector<Turn>> turns(lanes.count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const OpId id(i);
    const sched::Op& op = schedule.op(id);
    const sched::OpTimes& t = trace.ops[i];
    std::vector<Turn>& of_lane = turns[lanes.of(i, op)];
    const double hold_s = machine::lane_time_s(schedule, platform, op);
    if (machine::is_posted(op.kind)) {
      of_lane.push_back({t.issued_s - hold_s, t.issued_s, false, -1});
    } else if (machine::holds_lane(op.kind)) {
      of_lane.push_back({t.done_s - hold_s, t.done_s, false, -1});
    }
    if (!completions.makes_one(id)) continue;
    const double look_s = sched::seconds(platform.o_complete + platform.o_poll) +
                          (op.kind == OpKind::kRecv ? sched::seconds(platform.o_match) : 0);
    const double there_s = op.kind == OpKind::kRecv ? std::max(t.wire_s, t.issued_s) : -1;
    of_lane.push_back({t.done_s - look_s, t.done_s, true, there_s});
  }
  const double switch_s = sched::seconds(platform.switch_cost);
  for (std::vector<Turn>& of_lane : turns) expect_rules(of_lane, switch_s, what);
}

TEST(ServiceThread, IsTheSameOnAllSimulatorsAndKeepsTheRules) {
  int compared = 0;
  int checked = 0;
  for (std::uint32_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::small_schedule(dice, seed);
    Platform platform = served_platform(dice, testing::drawn_discipline(seed));
    const std::string what = "seed " + std::to_string(seed) + " on " + platform.spec();
    // A turn of no time has no place among those that the trace tells.
    const bool lasting = platform.o_post.count() > 0 && platform.o_complete.count() > 0;
    if (lasting && schedule.is_static()) {
      check(schedule, platform, analysis::run_events({schedule, platform}), what);
      ++checked;
    }
    platform.poll_batch = dice.pick({1u, 2u, 16u});
    if (dice.one_in(2)) platform.o_signal = sched::Time{60'000};
    if (dice.one_in(3)) {
      platform.poll_for = sched::Time{dice.pick({0, 1'000'000, 9'000'000})};
      platform.interrupt_cost = sched::Time{2'300'000};
    }
    const machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    const Trace events = analysis::run_events({schedule, platform, plan});
    if (events.contended) continue;
    const std::string more = what + ", " + platform.spec() + "\n" + plan.text();
    testing::expect_all_equal({schedule, platform, plan}, events, more);
    ++compared;
  }
  EXPECT_GT(compared, 250);
  EXPECT_GT(checked, 50);
}

TEST(ServiceThread, SeesBundlesOnAllSimulators) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 150 && !HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::random_bundles(dice, seed % 3 == 0);
    const Platform platform = served_platform(dice, NicDiscipline::kSerial);
    const std::string what = "seed " + std::to_string(seed) + " on " + platform.spec();
    Trace events;
    try {
      events = analysis::run_events({schedule, platform});
    } catch (const InputError&) {
      continue;  // stuck: something waits for what no flush sends
    }
    testing::expect_all_equal({schedule, platform}, events, what);
    ++compared;
  }
  EXPECT_GT(compared, 75);
}

}  // namespace
}  // namespace slackline
