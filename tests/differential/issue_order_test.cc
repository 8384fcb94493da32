// Issue policies and the bound on sends in flight, held to their rules on the traces of random
// schedules, by the event engine and by SimGrid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "machine/event_queue.h"
#include "machine/lane.h"
#include "sched/event_graph.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/differential/drawn_schedules.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::IssueOrder;
using machine::IssuePolicy;
using machine::kInstant_s;
using machine::NicDiscipline;
using machine::Platform;
using sched::EventId;
using sched::OpId;
using sched::Schedule;
using sched::Trace;
using testing::Dice;

constexpr IssuePolicy kPolicies[] = {IssuePolicy::kInOrder, IssuePolicy::kReady,
                                     IssuePolicy::kLeastSlack};

Schedule random_schedule(Dice& dice, std::uint32_t seed) {
  if (seed % 2 == 0) return testing::RandomSchedule(dice, 4, 60).build();
  return testing::drawn_pattern(dice, seed / 2, 12);
}

double event_s(const Trace& trace, EventId event) {
  const sched::OpTimes& times = trace.ops[event.op().value];
  return event.is_done() ? times.done_s : times.issued_s;
}

// No event before one that an arc says is first.
void expect_legal(const Schedule& schedule, const Trace& trace, const std::string& what) {
  const sched::ChannelOrder order = channel_order(schedule);
  for (std::uint32_t e = 0; e < 2 * schedule.op_count(); ++e) {
    const EventId event{e};
    ASSERT_TRUE(std::isfinite(event_s(trace, event))) << what;
    for_each_arc_into(schedule, order, event, true, [&](EventId pred) {
      EXPECT_LE(event_s(trace, pred), event_s(trace, event) + kInstant_s)
          << what << ": op " << pred.op().value << " and op " << event.op().value;
    });
  }
}

struct Turn {
  double begin_s;
  double end_s;
  OpId op;
};

// Each lane's operations in the order that it took them. Without a delay plan.
std::map<std::pair<std::uint32_t, std::uint16_t>, std::vector<Turn>> lanes_of(
    const Schedule& schedule, const Platform& platform, const Trace& trace) {
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::vector<Turn>> lanes;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!machine::holds_lane(op.kind)) continue;
    const double hold_s = machine::lane_time_s(schedule, platform, op);
    const double issued_s = trace.ops[i].issued_s;
    const double begin_s = machine::is_posted(op.kind) ? issued_s - hold_s : issued_s;
    lanes[{op.rank.value, op.lane}].push_back({begin_s, begin_s + hold_s, OpId(i)});
  }
  // By their middles: some take no time, and begin or end with another.
  for (auto& [lane, turns] : lanes) {
    std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
      return a.begin_s + a.end_s < b.begin_s + b.end_s;
    });
  }
  return lanes;
}

// The rule itself: one at a time; a free lane does not let a ready operation wait; and when it
// takes one, none that was ready has precedence. Returns how often it had a choice between two.
int expect_by_policy(const Schedule& schedule, const Platform& platform, const Trace& trace,
                     const IssueOrder& order, const std::string& what) {
  const auto place = [&](OpId op) {
    if (order.policy == IssuePolicy::kInOrder) return std::pair(0.0, op);
    return std::pair(
        order.policy == IssuePolicy::kReady ? trace.ops[op.value].ready_s : order.slack_s[op.value],
        op);
  };
  constexpr double kRound_s = 2 * kInstant_s;
  int choices = 0;
  for (const auto& [lane, turns] : lanes_of(schedule, platform, trace)) {
    double free_s = 0;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const double ready_s = trace.ops[turns[i].op.value].ready_s;
      EXPECT_GE(turns[i].begin_s, free_s - kRound_s) << what;
      EXPECT_LE(turns[i].begin_s, std::max(free_s, ready_s) + kRound_s) << what;
      free_s = std::max(free_s, turns[i].end_s);
      for (std::size_t j = i + 1; j < turns.size(); ++j) {
        const OpId later = turns[j].op;
        if (turns[j].begin_s < turns[i].begin_s + kRound_s) continue;  // one instant
        if (trace.ops[later.value].ready_s > turns[i].begin_s - kRound_s) continue;
        ++choices;
        EXPECT_LT(place(turns[i].op), place(later))
            << what << ": op " << turns[i].op.value << " before op " << later.value;
      }
    }
  }
  return choices;
}

TEST(IssueOrder, IsLegalAndByItsPolicyInEveryEngine) {
  int choices[3] = {0, 0, 0};
  for (std::uint32_t seed = 0; seed < 1'000 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice, seed);
    const NicDiscipline nic = seed % 3 == 0 ? NicDiscipline::kFair : NicDiscipline::kSerial;
    const Platform platform = testing::random_platform(dice, nic);
    const Trace first = analysis::run_events({schedule, platform});
    const std::vector<double> slack =
        analysis::timed_slack({schedule, platform, {}}, first).total_float_s;
    for (const IssuePolicy policy : kPolicies) {
      const IssueOrder order{policy, slack};
      const std::string what = "seed " + std::to_string(seed) + ", " + std::string(name(policy)) +
                               " on " + platform.spec();
      const Trace events = analysis::run_events({schedule, platform, {}, order});
      const Trace simgrid = sim::run_simgrid({schedule, platform, {}, order});
      for (const Trace& trace : {events, simgrid}) {
        expect_legal(schedule, trace, trace.engine + ", " + what);
        choices[static_cast<int>(policy)] +=
            expect_by_policy(schedule, platform, trace, order, trace.engine + ", " + what);
      }
      if (!events.contended) testing::expect_equal(events, simgrid, what);
    }
  }
  for (const int count : choices) EXPECT_GT(count, 10'000);
}

// The most large sends and puts that one rank had issued, or just ready, and not done, over all
// moments.
enum class Since { kReady, kIssued };
std::uint32_t most_in_flight(const Schedule& schedule, const Platform& platform, const Trace& trace,
                             Since since = Since::kIssued) {
  std::vector<std::vector<std::pair<double, int>>> changes(schedule.rank_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (op.kind != sched::OpKind::kSend && op.kind != sched::OpKind::kPut) continue;
    if (schedule.payload_bytes(op) <= platform.interleave_bytes) continue;
    const sched::OpTimes& times = trace.ops[i];
    const double begin_s = since == Since::kReady ? times.ready_s : times.issued_s;
    // What ends comes before what starts within an instant.
    changes[op.rank.value].emplace_back(begin_s + kInstant_s, 1);
    changes[op.rank.value].emplace_back(times.done_s, -1);
  }
  int most = 0;
  for (auto& rank : changes) {
    std::sort(rank.begin(), rank.end());
    int now = 0;
    for (const auto& [time_s, change] : rank) most = std::max(most, now += change);
  }
  return static_cast<std::uint32_t>(most);
}

// Nothing if the run cannot finish, as a bound may make a deadlock of a schedule that has none.
template <class RunIt>
std::optional<Trace> finished(const RunIt& run_it) {
  try {
    return run_it();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

TEST(SendsInFlight, AreNeverMoreThanTheBound) {
  int bounded = 0;
  int stuck = 0;
  for (std::uint32_t seed = 0; seed < 1'000 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice, seed);
    const NicDiscipline nic = seed % 3 == 0 ? NicDiscipline::kFair : NicDiscipline::kSerial;
    const Platform platform = testing::random_platform(dice, nic);
    const DelayPlan plan = testing::maybe_delays(dice, schedule);
    const Trace free = analysis::run_events({schedule, platform, plan});
    const std::uint32_t most = most_in_flight(schedule, platform, free);
    const std::uint32_t most_ready = most_in_flight(schedule, platform, free, Since::kReady);
    const std::vector<double> slack =
        analysis::timed_slack({schedule, platform, plan}, free).total_float_s;
    for (std::uint32_t bound = 1; bound <= 3; ++bound) {
      IssueOrder order{kPolicies[dice.below(3)], slack};
      const std::string what = "seed " + std::to_string(seed) + ", at most " +
                               std::to_string(bound) + ", " + std::string(name(order.policy));
      order.sends_in_flight = bound;
      const auto events = finished([&] {
        return analysis::run_events({schedule, platform, plan, order});
      });
      const auto simgrid = finished([&] {
        return sim::run_simgrid({schedule, platform, plan, order});
      });
      if (nic == NicDiscipline::kSerial) {
        EXPECT_EQ(events.has_value(), simgrid.has_value()) << what;
      }
      if (!events) ++stuck;
      for (const std::optional<Trace>& trace : {events, simgrid}) {
        if (!trace) continue;
        EXPECT_LE(most_in_flight(schedule, platform, *trace), bound) << trace->engine << what;
        expect_legal(schedule, *trace, trace->engine + ", " + what);
      }
      if (!events || !simgrid) continue;
      if (most > bound) ++bounded;
      if (!events->contended) testing::expect_equal(*events, *simgrid, what);
      if (most_ready <= bound && order.policy == IssuePolicy::kInOrder) {
        testing::expect_equal(*events, free, what);
      }
    }
  }
  EXPECT_GT(bounded, 500);  // where without it there were more
  EXPECT_LT(stuck, 300);    // of 3,000
}

}  // namespace
}  // namespace slackline
