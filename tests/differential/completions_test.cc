// Completions that take lanes: the simulators agree, every run keeps the rules, and slack explains
// every run.
#include "machine/completions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/propagation.h"
#include "analysis/slack/run_order.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/slack/validate.h"
#include "machine/delays.h"
#include "machine/lane.h"
#include "machine/paths.h"
#include "machine/run/lanes.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"
#include "tests/property/random_runs.h"
#include "tests/support/random_dynamic.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using sched::OpId;
using sched::OpKind;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

Platform costly_platform(Dice& dice, NicDiscipline nic) {
  Platform p = testing::random_platform(dice, nic);
  p.o_poll = sched::Time{dice.pick({0, 90'000, 800'000})};
  p.o_match = sched::Time{dice.pick({0, 70'000})};
  if (dice.one_in(3)) p.o_block = sched::Time{130'000};
  if (dice.one_in(2)) p.o_signal = sched::Time{60'000};
  if (dice.one_in(2)) p.o_post_recv = sched::Time{dice.pick({0, 110'000})};
  p.poll_batch = dice.pick({1u, 1u, 2u, 16u});
  if (dice.one_in(3)) {
    p.poll_for = sched::Time{dice.pick({0, 1'000'000, 9'000'000})};
    p.interrupt_cost = sched::Time{2'300'000};
  }
  return p;
}

// Where receives do not come again.
void add_callback(Platform& platform, Dice& dice, const Schedule& schedule) {
  if (schedule.is_static() && dice.one_in(3)) platform.o_callback = sched::Time{1'700'000};
}

// What had a lane, and when.
struct Turn {
  double from_s;
  double to_s;
  bool operation;  // not a look
};

// A completion, and the look that took it.
struct Look {
  double there_s;
  double seen_s;
  OpId op;
};

// Looks and posts of one lane do not overlap; a completion waits only while the lane is held; and
// none waits when an operation's turn begins.
void expect_rules(const std::vector<Turn>& turns, const std::vector<Look>& looks, double look_s,
                  const std::string& what) {
  constexpr double kNear = 1e-11;
  for (std::size_t i = 1; i < turns.size(); ++i) {
    ASSERT_LE(turns[i - 1].to_s, turns[i].from_s + kNear) << what;
  }
  for (const Look& look : looks) {
    ASSERT_LE(look.there_s + look_s, look.seen_s + kNear) << what << " op " << look.op.value;
    // Without a gap from when it was there until it was seen.
    double held_until_s = look.there_s;
    for (const Turn& turn : turns) {
      if (turn.to_s <= look.there_s + kNear || turn.from_s >= look.seen_s - kNear) continue;
      ASSERT_LE(turn.from_s, held_until_s + kNear) << what << " op " << look.op.value;
      ASSERT_FALSE(turn.operation && turn.from_s > look.there_s + kNear)
          << what << " op " << look.op.value << " waited for an operation that began later";
      held_until_s = std::max(held_until_s, turn.to_s);
    }
    ASSERT_NEAR(held_until_s, look.seen_s, kNear) << what << " op " << look.op.value;
  }
}

// When each receive's completion was there, by what the trace has beside its done.
void check(const Schedule& schedule, const Platform& platform, const Trace& trace,
           const std::string& what) {
  const machine::Completions completions(schedule, platform, {});
  if (!completions.any() || !completions.are_seen()) return;
  const machine::LaneIndex lanes(schedule);
  std::vector<std::vector<Turn>> turns(lanes.count());
  std::vector<std::vector<Look>> looks(lanes.count());
  std::vector<std::map<double, double>> looked(lanes.count());  // end: what the look took
  std::map<std::uint32_t, double> last_s;                       // of each message, its last receive
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const OpId id(i);
    const sched::Op& op = schedule.op(id);
    const sched::OpTimes& t = trace.ops[i];
    const std::uint32_t lane = lanes.of(i, op);
    const double hold_s = machine::lane_time_s(schedule, platform, op) + completions.signal_s(id);
    if (machine::holds_lane(op.kind) && hold_s > 0) {
      const bool posted = machine::is_posted(op.kind);
      turns[lane].push_back(posted ? Turn{t.issued_s - hold_s, t.issued_s, true}
                                   : Turn{t.issued_s, t.issued_s + hold_s, true});
    }
    if (!completions.makes_one(id)) continue;
    double& took_s = looked[lane].try_emplace(t.done_s, completions.look_s()).first->second;
    took_s += completions.match_s(id);
    if (completions.callback_s() > 0 && op.kind == OpKind::kRecv &&
        completions.message_of(id) != machine::Completions::kNone) {
      double& last = last_s.try_emplace(completions.message_of(id), t.done_s).first->second;
      last = std::max(last, t.done_s);
    }
    if (op.kind != OpKind::kRecv) continue;
    const double there_s = std::max(t.wire_s, t.issued_s) + sched::seconds(platform.o_complete);
    looks[lane].push_back({there_s, t.done_s, id});
  }
  // Each message's callback is in the look that took its last receive.
  std::set<std::uint32_t> called;
  for (std::uint32_t i = 0; completions.callback_s() > 0 && i < schedule.op_count(); ++i) {
    const OpId id(i);
    if (schedule.op(id).kind != OpKind::kRecv) continue;
    const std::uint32_t message = completions.message_of(id);
    if (message == machine::Completions::kNone || trace.ops[i].done_s != last_s[message]) continue;
    if (!called.insert(message).second) continue;
    looked[lanes.of(i, schedule.op(id))][trace.ops[i].done_s] += completions.callback_s();
  }
  for (std::uint32_t lane = 0; lane < lanes.count(); ++lane) {
    for (const auto& [end_s, took_s] : looked[lane]) {
      if (took_s > 0) turns[lane].push_back({end_s - took_s, end_s, false});
    }
    std::sort(turns[lane].begin(), turns[lane].end(), [](const Turn& a, const Turn& b) {
      return std::pair(a.from_s, a.to_s) < std::pair(b.from_s, b.to_s);
    });
    expect_rules(turns[lane], looks[lane], completions.look_s(), what);
  }
}

TEST(Completions, AreTheSameOnAllSimulatorsAndKeepTheRules) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 300 && !::testing::Test::HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::small_schedule(dice, seed);
    Platform platform = costly_platform(dice, testing::drawn_discipline(seed));
    add_callback(platform, dice, schedule);
    const machine::DelayPlan plan = testing::maybe_delays(dice, schedule);
    const std::string what = testing::sample_text(seed, platform, plan);
    const Trace events = analysis::run_events({schedule, platform, plan});
    const bool plain = schedule.is_static() && plan == machine::DelayPlan{} && !platform.poll_for;
    if (plain) check(schedule, platform, events, what);
    if (events.contended) continue;
    testing::expect_all_equal({schedule, platform, plan}, events, what);
    ++compared;
  }
  EXPECT_GT(compared, 250);
}

TEST(Completions, SlackExplainsEveryRunAndForetellsDelays) {
  int explained = 0;
  int foretold = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    const Schedule schedule = testing::small_schedule(dice, seed);
    Platform platform = costly_platform(dice, NicDiscipline::kSerial);
    platform.o_signal = {};
    platform.poll_batch = 1;
    platform.poll_for.reset();
    if (schedule.op_count() == 0 || !schedule.is_static()) continue;
    if (std::ranges::any_of(schedule.ops(),
                            [](const sched::Op& op) { return sched::is_atomic(op.kind); })) {
      continue;
    }
    const machine::DelayPlan plan = testing::random_delays(dice, schedule);
    const machine::Setting setting(schedule, platform, plan);
    const Trace trace = analysis::run_events(setting);
    const analysis::TimedSlack slack = analysis::timed_slack(setting, trace);
    ASSERT_LE(slack.unexplained_s, 1e-9 * std::max(1e-3, trace.makespan_s()))
        << "seed " << seed << " on " << platform.spec() << "\n"
        << plan.text();
    ++explained;
    const analysis::Propagation propagation(setting, trace, analysis::WireTimes::kModel);
    const analysis::RunOrder order(setting, trace);
    for (int k = 0; k < 4; ++k) {
      machine::DelayPlan more = plan;
      const OpId id(dice.below(schedule.op_count()));
      const bool lane = dice.one_in(2) && analysis::delays_lane(setting, id);
      more.ops.push_back({id, sched::Time{1 + dice.below(3'000'000)}, lane, sched::RankId::none()});
      const Trace delayed = analysis::run_events(setting.with(more));
      if (!order.is_kept_by(schedule, delayed)) continue;
      ASSERT_NEAR(trace.makespan_s() + propagation.effect(more.ops.back()).makespan_s,
                  delayed.makespan_s(), 1e-9 * delayed.makespan_s())
          << "seed " << seed << " on " << platform.spec() << "\n"
          << more.text();
      ++foretold;
    }
  }
  EXPECT_GT(explained, 200);
  EXPECT_GT(foretold, 300);
}

}  // namespace
}  // namespace slackline
