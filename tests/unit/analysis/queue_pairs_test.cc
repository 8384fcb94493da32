// The lock of queue pairs that threads share, worked out by hand on round_platform() (a post takes
// 1 us, 1000 bytes take 1 us between machines, the way 3 us, seeing a completion 2 us), and against
// a queue for each lock that knows nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/delayed_runs.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/slack/fixed_order.h"
#include "analysis/slack/propagation.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Schedule;
using sched::Time;
using testing::ChannelId;
using testing::Dice;
using testing::kAny;
using testing::OpId;
using testing::Program;
using testing::Seen;
using testing::us;

// Machines of so many threads, each so many of which share their queue pairs, whose lock a post has
// for the last 0.4 us.
Platform threads_of(std::uint32_t ranks, std::uint32_t sharers) {
  Platform p = testing::round_platform();
  p.node.ranks = p.node.threads = ranks;
  p.node.threads_per_qp = sharers;
  p.node.qp_lock = us(0.4);
  return p;
}

void expect_locked(const testing::MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_flows, analysis::run_analytic);
}

// An empty message of the post that ends then.
Seen posted(OpId op, double issued_us) { return {op, issued_us, issued_us, issued_us + 8}; }

TEST(QueuePairs, TwoThreadsWaitOnceForEachOther) {
  Program p(4);
  const ChannelId a = p.channel(0, 2);
  const ChannelId b = p.channel(1, 3);
  const OpId a1 = p.put(a, 0);
  const OpId a2 = p.put(a, 0);
  const OpId a3 = p.put(a, 0);
  const OpId b1 = p.put(b, 0);
  const OpId b2 = p.put(b, 0);
  const OpId b3 = p.put(b, 0);
  // Both ask at 0.6. The first has it until 1, the second until 1.4; from then on they ask 0.4
  // apart.
  expect_locked({"two threads",
                 p.build(),
                 threads_of(2, 2),
                 {posted(a1, 1), posted(a2, 2), posted(a3, 3), posted(b1, 1.4), posted(b2, 2.4),
                  posted(b3, 3.4)}});
}

TEST(QueuePairs, ThreeThreadsAreMoreThanTheLockHasTimeFor) {
  Program p(6);
  std::vector<Seen> expected;
  for (std::uint32_t r = 0; r < 3; ++r) {
    const ChannelId c = p.channel(r, 3 + r);
    // 0.4 us each, without a pause: the rank's k-th is the (3 k + r)-th of all.
    for (int k = 0; k < 4; ++k) expected.push_back(posted(p.put(c, 0), 1 + 0.4 * (3 * k + r)));
  }
  const Schedule schedule = p.build();
  expect_locked({"three threads", schedule, threads_of(3, 3), expected});
  // Each with queue pairs of its own: one post after the other.
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = posted(expected[i].op, 1.0 + static_cast<double>(i % 4));
  }
  expect_locked({"their own", schedule, threads_of(3, 1), expected});
}

TEST(QueuePairs, AreOfTwoGroupsOfThreads) {
  Program p(6);
  const OpId first = p.put(p.channel(0, 4), 0);
  const OpId other = p.put(p.channel(1, 2), 0);   // to other threads
  const OpId behind = p.put(p.channel(1, 5), 0);  // to those of the first
  const OpId memory = p.put(p.channel(2, 3), 0);  // passes no NIC
  const OpId back = p.put(p.channel(4, 0), 0);    // the other end of the first
  const OpId meets = p.put(p.channel(5, 1), 0);
  expect_locked({"groups",
                 p.build(),
                 threads_of(2, 2),
                 {posted(first, 1),
                  posted(other, 1),
                  posted(behind, 2),
                  {memory, 1, 1, 3.2},
                  posted(back, 1),
                  posted(meets, 1.4)}});
}

TEST(QueuePairs, AreAsManyAsChannelsBetweenTwoThreads) {
  Program p(6);
  p.channel(1, 4);
  const OpId first = p.put(p.channel(0, 3), 0);
  const OpId second = p.put(p.channel(1, 4), 0);  // the second channel of its two threads
  const OpId behind = p.put(p.channel(2, 5), 0);  // the first, as that of threads 0 and 3
  expect_locked({"two channels",
                 p.build(),
                 threads_of(3, 3),
                 {posted(first, 1), posted(second, 1), posted(behind, 1.4)}});
}

TEST(QueuePairs, AreForTheLanesOfOneRankToo) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId first = p.put(c, 0);
  const OpId second = p.put(c, 0, sched::Notify::kNone, 1);
  Platform platform = testing::round_platform();
  platform.node.qp_lock = us(0.4);
  // The second follows the first on its channel anyhow, at its issue.
  expect_locked({"lanes", p.build(), platform, {posted(first, 1), posted(second, 2)}});
  Program q(2);
  const OpId get = q.get(q.channel(0, 1), 0);
  const OpId add = q.fetch_add(q.channel(0, 1), 0, 1);
  // Channels of their own, so queue pairs of their own.
  expect_locked(
      {"lanes of two channels", q.build(), platform, {{get, 1, kAny, kAny}, {add, 1, kAny, kAny}}});
}

TEST(QueuePairs, HaveEachPostOnceAndNoReceive) {
  Program p(4);
  const ChannelId a = p.channel(0, 2);
  const ChannelId b = p.channel(3, 1);
  const OpId get = p.get(a, 0);
  const OpId recv = p.recv(b, 0);
  const OpId add = p.fetch_add(p.channel(1, 3), 0);
  const OpId send = p.send(b, 0);
  // The get asks at 0.6, the atomic, behind a receive, at 1.6.
  expect_locked({"posts",
                 p.build(),
                 threads_of(2, 2),
                 {{get, 1, 4, 9}, {recv, 1, kAny, kAny}, {add, 2, kAny, kAny}, posted(send, 1)}});
}

TEST(QueuePairs, AreAskedForInTheOrderOfArrival) {
  Program p(6);
  std::vector<OpId> puts;
  for (std::uint32_t r = 0; r < 3; ++r) puts.push_back(p.put(p.channel(r, 3 + r), 0));
  machine::DelayPlan plan;
  // The first is preempted before it asks, and is not waited for; the second comes late.
  plan.ops.push_back({puts[0], us(0.5), true, sched::RankId::none()});
  plan.ops.push_back({puts[1], us(0.3), false, sched::RankId::none()});
  // They ask at 1.1, 0.9 and 0.6: the third until 1, the second until 1.4, the first until 1.8.
  expect_locked({"late",
                 p.build(),
                 threads_of(3, 3),
                 {posted(puts[0], 1.8), posted(puts[1], 1.4), posted(puts[2], 1)},
                 plan});
}

TEST(QueuePairs, MayBeLockedForAllOfAPost) {
  Program p(6);
  std::vector<Seen> expected;
  for (std::uint32_t r = 0; r < 3; ++r) {
    const ChannelId c = p.channel(r, 3 + r);
    for (int k = 0; k < 2; ++k) expected.push_back(posted(p.put(c, 0), 1 + 3 * k + r));
  }
  Platform platform = threads_of(3, 3);
  platform.node.qp_lock = us(1);
  expect_locked({"all of it", p.build(), platform, expected});
}

// Threads that do nothing but post, on a platform whose network takes no time: who asks is known by
// its last post, and the lock by when it is free.
TEST(QueuePairs, ServeWhoAsksFirst) {
  int waited = 0;
  for (std::uint32_t seed = 0; seed < 100 && !::testing::Test::HasFailure(); ++seed) {
    Dice dice(seed);
    const std::uint32_t sharers = 1 + dice.below(4);
    const std::uint32_t ranks = sharers * (1 + dice.below(3));
    Platform platform = threads_of(ranks, sharers);
    platform.o_post = Time{700'001};
    platform.node.qp_lock = Time{static_cast<std::int64_t>(1 + dice.below(700'000))};
    Program p(2 * ranks);
    struct Post {
      OpId op;
      std::uint32_t rank, to;
      Time delay;  // of its lane, before it
    };
    std::vector<std::vector<Post>> posts(ranks);
    machine::DelayPlan plan;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      std::map<std::uint32_t, ChannelId> channels;
      for (std::uint32_t k = 0; k < 6; ++k) {
        const std::uint32_t to = ranks + dice.below(ranks);
        if (channels.count(to) == 0) channels[to] = p.channel(r, to);
        const Time delay{static_cast<std::int64_t>(dice.one_in(2) ? dice.below(1'000'000) : 0)};
        posts[r].push_back({p.put(channels[to], 0), r, to, delay});
        if (delay.count() != 0) {
          plan.ops.push_back({posts[r].back().op, delay, true, sched::RankId::none()});
        }
      }
    }
    const Schedule schedule = p.build();
    const sched::Trace trace = analysis::run_events({schedule, platform, plan});
    std::vector<std::size_t> next(ranks, 0);
    std::vector<std::int64_t> free_ps(ranks, 0);  // of each rank
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> unlocked_ps;
    const std::int64_t lock_ps = platform.node.qp_lock.count();
    for (std::uint32_t left = 6 * ranks; left > 0; --left) {
      // The next that asks, of several the lowest operation.
      const auto asks_ps = [&](std::uint32_t r) {
        return free_ps[r] + posts[r][next[r]].delay.count() + platform.o_post.count() - lock_ps;
      };
      std::uint32_t first = ranks;
      for (std::uint32_t r = 0; r < ranks; ++r) {
        if (next[r] == 6) continue;
        if (first == ranks || asks_ps(r) < asks_ps(first)) first = r;
      }
      const Post& post = posts[first][next[first]];
      std::int64_t& unlocked = unlocked_ps[{first / sharers, post.to / sharers}];
      waited += unlocked > asks_ps(first) ? 1 : 0;
      unlocked = std::max(unlocked, asks_ps(first)) + lock_ps;
      ASSERT_NEAR(trace.ops[post.op.value].issued_s, 1e-12 * static_cast<double>(unlocked), 1e-16)
          << "seed " << seed << ", op " << post.op.value;
      free_ps[first] = unlocked;
      ++next[first];
    }
  }
  EXPECT_GT(waited, 500);
}

struct Sample {
  Schedule schedule;
  Platform platform;
  machine::DelayPlan plan;
  std::vector<machine::OpDelay> trials;
  std::string what;
};

Sample random_sample(std::uint32_t seed) {
  Dice dice(seed);
  // Every other sample has all threads post at one time.
  std::string spec = dice.one_in(2) ? "alltoall" : "allgather";  // one draw a statement: in order
  spec += ":ranks=8,bytes=" + std::to_string(1 + dice.below(9'000));
  Sample s{seed % 2 == 0 ? testing::RandomSchedule(dice, 8, 60).build()
                         : sched::compile(sched::parse_spec(spec)),
           {},
           {},
           {},
           ""};
  s.platform = testing::random_platform(dice, machine::NicDiscipline::kSerial);
  s.platform.node.ranks = s.platform.node.threads = 4;
  s.platform.node.threads_per_qp = dice.one_in(4) ? 2 : 4;
  if (s.platform.o_post.count() == 0) s.platform.o_post = us(0.2);
  s.platform.node.qp_lock = s.platform.o_post / dice.pick({1, 2, 4});
  for (std::uint32_t i = 0; i < s.schedule.op_count(); i += 3) {
    const Time by{static_cast<std::int64_t>(1 + dice.below(900'000))};
    s.trials.push_back({OpId(i), by, dice.one_in(2), sched::RankId::none()});
  }
  s.what = "seed " + std::to_string(seed) + " on " + s.platform.spec();
  return s;
}

// Runs that begin at snapshots and end early, against runs from beginning to end.
TEST(QueuePairs, DelayedRunsAreThoseFromTheBeginning) {
  int told_apart = 0;
  for (std::uint32_t seed = 0; seed < 20 && !::testing::Test::HasFailure(); ++seed) {
    const Sample s = random_sample(seed);
    const analysis::DelayedRuns runs({s.schedule, s.platform, s.plan});
    const std::vector<double> made_s = runs.makespans_s(s.trials, 1);
    for (std::size_t i = 0; i < s.trials.size(); ++i) {
      machine::DelayPlan plan = s.plan;
      plan.ops.push_back(s.trials[i]);
      const double whole_s = analysis::run_flows({s.schedule, s.platform, plan}).makespan_s();
      ASSERT_EQ(made_s[i], whole_s) << s.what << ", trial " << i;
    }
    Platform without = s.platform;
    without.node.qp_lock = {};
    told_apart +=
        runs.undelayed().makespan_s() != analysis::run_flows({s.schedule, without}).makespan_s();
  }
  EXPECT_GT(told_apart, 1);
}

// The order of a run as it was, with one delay: where the delayed run has kept it, that says when
// all ends.
TEST(QueuePairs, ADelayGoesTheWayThatTheOrderHas) {
  int kept = 0;
  for (std::uint32_t seed = 0; seed < 60 && !::testing::Test::HasFailure(); ++seed) {
    const Sample s = random_sample(seed);
    const sched::Trace trace = analysis::run_events({s.schedule, s.platform});
    std::optional<analysis::Propagation> propagation;
    try {
      propagation.emplace(machine::Setting{s.schedule, s.platform}, trace,
                          analysis::WireTimes::kModel);
    } catch (const Unsupported&) {
      continue;  // atomics whose service others decide
    }
    const analysis::TimedSlack slack = analysis::timed_slack({s.schedule, s.platform}, trace);
    ASSERT_LE(slack.unexplained_s, 1e-15) << s.what;
    for (machine::OpDelay trial : s.trials) {
      trial.by = Time{1'000};  // so little that hardly an order changes
      machine::DelayPlan plan;
      plan.ops.push_back(trial);
      const sched::Trace run = analysis::run_events({s.schedule, s.platform, plan});
      bool in_order = true;
      std::vector<OpId> order;
      for (std::uint32_t i = 0; i < s.schedule.op_count(); ++i) order.emplace_back(i);
      const auto by_issue = [&](const sched::Trace& t) {
        std::vector<OpId> sorted = order;
        std::stable_sort(sorted.begin(), sorted.end(), [&](OpId a, OpId b) {
          return t.ops[a.value].issued_s < t.ops[b.value].issued_s;
        });
        return sorted;
      };
      in_order = by_issue(trace) == by_issue(run);
      if (!in_order) continue;
      ASSERT_NEAR(propagation->effect(trial).makespan_s, run.makespan_s() - trace.makespan_s(),
                  2e-15)
          << s.what << ", op " << trial.op.value;
      ++kept;
    }
  }
  EXPECT_GT(kept, 300);
}

TEST(QueuePairs, FixNoOrderOfWhoAsksFirst) {
  Program p(4);
  p.put(p.channel(0, 2), 0);
  p.put(p.channel(1, 3), 0);
  const Schedule schedule = p.build();
  const Platform platform = threads_of(2, 2);
  const sched::Trace trace = analysis::run_events({schedule, platform});
  const analysis::FixedOrder order = analysis::fixed_order({schedule, platform}, trace);
  EXPECT_EQ(order.contested, analysis::Contested::kLock);
  EXPECT_EQ(analysis::place_of(schedule, order), "a queue pair's lock");
  EXPECT_EQ(analysis::run_analytic({schedule, platform}).engine, "event");
}

TEST(QueuePairs, AreRefusedWhereTheyAreNotCarriedOut) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  p.builder().channel(c).bundle = sched::Bundle::kTraditional;
  p.builder().channel(c).bundle_bytes = 3'000;
  p.put(c, 1'000);
  const Schedule schedule = p.build();
  EXPECT_EQ(testing::error_of<Unsupported>([&] {
              analysis::run_events({schedule, threads_of(2, 2)});
            }),
            "channel 0 gathers messages, which are posted together; expected none on a "
            "platform with qp_lock");
}

}  // namespace
}  // namespace slackline
