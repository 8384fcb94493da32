// Which of its ready operations a lane takes, and how many sends a rank has in flight: by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/slack/timed_slack.h"
#include "machine/platform.h"
#include "tests/unit/analysis/program.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::IssueOrder;
using machine::IssuePolicy;
using machine::Platform;
using sched::OpId;
using sched::RankId;
using sched::Schedule;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::Program;
using testing::us;

// When operations are issued, in microseconds.
std::vector<double> issued_us(const Schedule& schedule, const Platform& platform,
                              const IssueOrder& order, std::initializer_list<OpId> ops,
                              const DelayPlan& plan = {}) {
  const sched::Trace trace = analysis::run_events({schedule, platform, plan, order});
  const sched::Trace analytic = analysis::run_analytic({schedule, platform, plan, order});
  std::vector<double> result;
  for (const OpId op : ops) {
    result.push_back(trace.ops[op.value].issued_s * 1e6);
    EXPECT_NEAR(trace.ops[op.value].issued_s, analytic.ops[op.value].issued_s, 1e-15);
  }
  return result;
}

auto at(double a, double b, double c) {
  return ElementsAre(DoubleNear(a, 1e-6), DoubleNear(b, 1e-6), DoubleNear(c, 1e-6));
}

// A lane is held for 10 us. Meanwhile x, y and z become ready, at 3, 1 and 2 us; they take 4 us
// each. With slack z < x < y the three policies take them in three orders.
TEST(IssueOrder, ThreePoliciesThreeOrders) {
  Program p(1);
  p.calc(0, us(10));
  const OpId at_3 = p.delay(0, us(3));
  const OpId at_1 = p.delay(0, us(1));
  const OpId at_2 = p.delay(0, us(2));
  const OpId x = p.calc(0, us(4));
  const OpId y = p.calc(0, us(4));
  const OpId z = p.calc(0, us(4));
  p.after({at_3}, x);
  p.after({at_1}, y);
  p.after({at_2}, z);
  const Schedule schedule = p.build();
  std::vector<double> slack(schedule.op_count(), 0);
  slack[x.value] = 2;
  slack[y.value] = 3;
  slack[z.value] = 1;
  const Platform platform;
  EXPECT_THAT(issued_us(schedule, platform, IssuePolicy::kInOrder, {x, y, z}), at(10, 14, 18));
  EXPECT_THAT(issued_us(schedule, platform, IssuePolicy::kReady, {x, y, z}), at(18, 10, 14));
  const IssueOrder least{IssuePolicy::kLeastSlack, slack};
  EXPECT_THAT(issued_us(schedule, platform, least, {x, y, z}), at(14, 18, 10));
  // Of equals the lowest id.
  slack.assign(slack.size(), 7);
  EXPECT_THAT(issued_us(schedule, platform, least, {x, y, z}), at(10, 14, 18));
}

// No policy waits: x, alone in being ready, goes before the urgent y, which comes when x is on.
TEST(IssueOrder, NonePreemptsOrWaits) {
  Program p(1);
  const OpId at_1 = p.delay(0, us(1));
  const OpId x = p.calc(0, us(4));
  const OpId y = p.calc(0, us(4));
  const OpId z = p.calc(0, us(4));
  p.after({at_1}, y);
  p.after({at_1}, z);
  const Schedule schedule = p.build();
  std::vector<double> slack(schedule.op_count(), 0);
  slack[x.value] = 100;
  slack[y.value] = 2;
  slack[z.value] = 1;
  EXPECT_THAT(issued_us(schedule, Platform(), {IssuePolicy::kLeastSlack, slack}, {x, y, z}),
              at(0, 8, 4));
}

// Posts of 2 us; x goes to rank 1, which has 1 us of work with it, y from 10 us on to rank 2, which
// has 30. On time, x is posted at 2 us, y at 12, arrives at 13 and the end is at 43: x has a float
// of 8 us, until y needs the lane, and y none. With x 10 us late both are ready at 10. In order of
// id, or of readiness, y has to wait for x's post and the end is at 45; by slack, x waits.
TEST(IssueOrder, LeastSlackKeepsADelayFromTheCriticalPath) {
  Program p(3);
  const sched::ChannelId to_1 = p.channel(0, 1);
  const sched::ChannelId to_2 = p.channel(0, 2);
  const OpId at_10 = p.delay(0, us(10));
  const OpId x = p.send(to_1, 0);
  const OpId y = p.send(to_2, 0);
  p.after({at_10}, y);
  const OpId in_1 = p.recv(to_1, 0);
  const OpId short_work = p.calc(1, us(1));
  p.after({in_1}, short_work);
  const OpId in_2 = p.recv(to_2, 0);
  const OpId long_work = p.calc(2, us(30));
  p.after({in_2}, long_work);
  const Schedule schedule = p.build();
  const Platform platform = machine::parse_platform_spec("star:o_post=2us,latency=1us");
  const sched::Trace on_time = analysis::run_analytic({schedule, platform});
  EXPECT_NEAR(on_time.makespan_s(), 43e-6, 1e-12);
  const std::vector<double> slack =
      analysis::timed_slack({schedule, platform, {}}, on_time).total_float_s;
  EXPECT_NEAR(slack[x.value], 8e-6, 1e-12);
  EXPECT_NEAR(slack[y.value], 0, 1e-12);

  DelayPlan late;
  late.ops.push_back({x, us(10), false, RankId::none()});
  EXPECT_THAT(issued_us(schedule, platform, IssuePolicy::kInOrder, {x, y, long_work}, late),
              at(12, 14, 15));
  EXPECT_THAT(issued_us(schedule, platform, IssuePolicy::kReady, {x, y, long_work}, late),
              at(12, 14, 15));
  EXPECT_THAT(
      issued_us(schedule, platform, {IssuePolicy::kLeastSlack, slack}, {x, y, long_work}, late),
      at(14, 12, 13));
}

// Three sends of 10 us each, posted in no time, to three ranks 1 us away: each is done 12 us after
// it began. With one in flight they are issued at 0, 12 and 24; with two at 0, 0 and 12 (the second
// is on the wire from 10 to 20, done at 22); unbounded at once.
TEST(SendsInFlight, ByHand) {
  Program p(4);
  const sched::ChannelId to[] = {p.channel(0, 1), p.channel(0, 2), p.channel(0, 3)};
  const OpId a = p.send(to[0], 10'000);
  const OpId b = p.send(to[1], 10'000);
  const OpId c = p.send(to[2], 10'000);
  for (const sched::ChannelId channel : to) p.recv(channel, 10'000);
  const Schedule schedule = p.build();
  const Platform platform = machine::parse_platform_spec("star:rate=8Gbps,latency=1us");
  IssueOrder order;
  EXPECT_THAT(issued_us(schedule, platform, order, {a, b, c}), at(0, 0, 0));
  order.sends_in_flight = 1;
  EXPECT_THAT(issued_us(schedule, platform, order, {a, b, c}), at(0, 12, 24));
  order.sends_in_flight = 2;
  EXPECT_THAT(issued_us(schedule, platform, order, {a, b, c}), at(0, 0, 12));
  order.sends_in_flight = 3;
  EXPECT_THAT(issued_us(schedule, platform, order, {a, b, c}), at(0, 0, 0));
}

// Which comes next is the policy's choice when a place is free. Small messages, receives, gets and
// other ranks' sends do not count.
TEST(SendsInFlight, ThePolicyChoosesAndOnlyLargeSendsCount) {
  Program p(3);
  const sched::ChannelId to_1 = p.channel(0, 1);
  const sched::ChannelId to_2 = p.channel(0, 2);
  const sched::ChannelId small = p.channel(0, 1);
  const sched::ChannelId back = p.channel(1, 0);
  const OpId a = p.send(to_1, 10'000);
  const OpId b = p.send(to_1, 10'000);
  const OpId c = p.send(to_2, 10'000);
  const OpId credit = p.send(small, 100);
  const OpId get = p.get(small, 10'000);
  p.recv(back, 10'000);
  p.recv(to_1, 10'000);
  p.recv(to_1, 10'000);
  p.recv(small, 100);
  const OpId other = p.send(back, 10'000);
  p.recv(to_2, 10'000);
  const Schedule schedule = p.build();
  const Platform platform = machine::parse_platform_spec("star:rate=8Gbps,latency=1us");
  std::vector<double> slack(schedule.op_count(), 0);
  slack[b.value] = 1;
  IssueOrder order{IssuePolicy::kLeastSlack, slack};
  order.sends_in_flight = 1;
  EXPECT_THAT(issued_us(schedule, platform, order, {a, b, c}), at(0, 24, 12));
  EXPECT_THAT(issued_us(schedule, platform, order, {credit, get, other}), at(0, 0, 0));
}

}  // namespace
}  // namespace slackline
