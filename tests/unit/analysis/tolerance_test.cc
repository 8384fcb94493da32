#include "analysis/slack/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "sched/compile.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using testing::Program;
using testing::two_sends;
using testing::us;
using Kind = Parameter::Kind;

constexpr Kind kKinds[] = {Kind::kLatency,  Kind::kPost,     Kind::kCompletion, Kind::kGap,
                           Kind::kByteTime, Kind::kLaneTime, Kind::kSlowdown,   Kind::kOpDelay};

// 1 us of latency, a post takes 1 us, a completion 2 us, 1000 bytes 1 us.
machine::Platform platform() {
  return machine::parse_platform_spec(
      "star:nic=serial,rate=8Gbps,latency=1us,o_post=1us,o_complete=2us,gap=0,interleave=0B");
}

Tolerance tolerance_of(const sched::Schedule& schedule, const Parameter& parameter,
                       const machine::Platform& on = platform(),
                       const machine::DelayPlan& plan = {}) {
  const sched::Trace trace = run_analytic({schedule, on, plan});
  const machine::Wiring wiring(on, schedule.rank_count());
  return tolerance({schedule, on, wiring, plan}, trace, std::span(&parameter, 1)).front();
}

TEST(Tolerance, OfTwoSendsByHand) {
  // Post 1, two messages 20, there 1, and the answer back 1, completion 2.
  const Tolerance latency = tolerance_of(two_sends(), {.kind = Kind::kLatency});
  EXPECT_NEAR(latency.makespan_s, 25e-6, 1e-15);
  EXPECT_EQ(latency.slopes().after, 2);
  EXPECT_NEAR(latency.makespan_at.lo(), -1e-6, 1e-18);
  EXPECT_NEAR(latency.bearable(0.02), 0.25e-6, 1e-15);

  // The second post hides behind the first message for 9 us more.
  const Tolerance post = tolerance_of(two_sends(), {.kind = Kind::kPost});
  ASSERT_EQ(post.makespan_at.pieces().size(), 2u);
  EXPECT_EQ(post.slopes().after, 1);
  EXPECT_NEAR(post.makespan_at.pieces()[1].from, 9e-6, 1e-15);
  EXPECT_EQ(post.makespan_at.pieces()[1].line.slope, 2);

  EXPECT_EQ(tolerance_of(two_sends(), {.kind = Kind::kCompletion}).slopes().after, 1);

  const Tolerance gap = tolerance_of(two_sends(), {.kind = Kind::kGap});
  EXPECT_EQ(gap.slopes().after, 0);
  EXPECT_NEAR(gap.bearable(0), 10e-6, 1e-15);
  EXPECT_NEAR(gap.bearable(0.04), 11e-6, 1e-15);

  // Faster than its other end a link does not make a message: it bends at 0.
  const Tolerance link = tolerance_of(two_sends(), {Kind::kByteTime, machine::LinkId(0)});
  EXPECT_EQ(link.slopes().before, 0);
  EXPECT_EQ(link.slopes().after, 20'000);
  const Tolerance links = tolerance_of(two_sends(), {.kind = Kind::kByteTime});
  EXPECT_EQ(links.slopes().before, 20'000);
  EXPECT_NEAR(links.makespan_at.at(links.makespan_at.lo()), 6e-6, 1e-15);

  EXPECT_EQ(
      tolerance_of(two_sends(), {.kind = Kind::kLaneTime, .rank = sched::RankId(0)}).slopes().after,
      1);
  const Tolerance factor =
      tolerance_of(two_sends(), {.kind = Kind::kSlowdown, .rank = sched::RankId(0)});
  EXPECT_NEAR(factor.slopes().after, 1e-6, 1e-18);
  EXPECT_EQ(factor.makespan_at.lo(), -1);

  // The second send waits 9 us for the first.
  const Tolerance op = tolerance_of(two_sends(), {.kind = Kind::kOpDelay, .op = sched::OpId(1)});
  EXPECT_EQ(op.slopes().after, 0);
  EXPECT_NEAR(op.bearable(0.04), 10e-6, 1e-15);
}

TEST(Tolerance, OfAFigureThatIsZeroKeepsTheOrderOfTheRun) {
  machine::Platform free = platform();
  free.o_post = sched::Time{0};
  const Tolerance post = tolerance_of(two_sends(), {.kind = Kind::kPost}, free);
  EXPECT_EQ(post.makespan_at.lo(), 0);
  ASSERT_EQ(post.makespan_at.pieces().size(), 2u);
  EXPECT_EQ(post.makespan_at.pieces()[0].line.slope, 1);
  EXPECT_NEAR(post.makespan_at.pieces()[1].from, 10e-6, 1e-15);
}

TEST(Tolerance, OfNothing) {
  Program none(1);
  const sched::Schedule empty = none.build();
  for (const Kind kind : kKinds) {
    if (kind == Kind::kOpDelay) continue;
    const Tolerance found = tolerance_of(empty, {.kind = kind, .rank = sched::RankId(0)});
    EXPECT_EQ(found.makespan_s, 0);
    EXPECT_EQ(found.makespan_at.pieces().size(), 1u);
    EXPECT_EQ(found.slopes().after, 0);
    EXPECT_TRUE(std::isinf(found.bearable(0.05)));
  }
}

TEST(Tolerance, OfOneOperationOnOneRank) {
  Program p(1);
  p.calc(sched::RankId(0).value, us(7));
  const sched::Schedule alone = p.build();
  for (const Kind kind : kKinds) {
    const Tolerance found =
        tolerance_of(alone, {.kind = kind, .rank = sched::RankId(0), .op = sched::OpId(0)});
    EXPECT_NEAR(found.makespan_s, 7e-6, 1e-18);
    const double slope = kind == Kind::kLaneTime || kind == Kind::kOpDelay ? 1
                         : kind == Kind::kSlowdown                         ? 7e-6
                                                                           : 0;
    EXPECT_EQ(found.slopes().after, slope) << static_cast<int>(kind);
    if (slope == 0) {
      EXPECT_TRUE(std::isinf(found.bearable(0.01)));
    } else {
      EXPECT_NEAR(found.bearable(0.01), 0.01 * 7e-6 / slope, 1e-12 / slope * 1e-6);
    }
  }
}

TEST(Tolerance, CountsTheLatenciesOfTheCriticalPath) {
  for (const std::uint32_t ranks : {2u, 5u, 9u}) {
    const sched::Schedule chain = compile(sched::parse_spec("chain:ranks=" + std::to_string(ranks) +
                                                            ",bytes=1MiB,block=1MiB,ready=none"));
    const Tolerance found = tolerance_of(chain, {.kind = Kind::kLatency});
    // One a hop, and the last one's acknowledgement.
    EXPECT_EQ(found.slopes().after, ranks);
  }
}

// What ends last is the answer to an atomic, after which another left by the same port and had less
// far to go: its node has arcs out, and yet ends the run.
TEST(Tolerance, OfAnAtomicWhoseAnswerComesLast) {
  Program p(3);
  p.fetch_add(p.channel(1, 0), 0);
  const sched::ChannelId near = p.channel(2, 0);
  const sched::OpId wait = p.delay(2, us(12));
  p.after({wait}, p.fetch_add(near, 1));
  const sched::Schedule schedule = p.build();
  std::vector<machine::Link> links;
  std::vector<machine::Wiring::FixedRoute> routes;
  for (std::uint32_t r = 0; r < 3; ++r) {
    links.push_back({std::to_string(r) + ".out", {8'000'000'000}});
    links.push_back({std::to_string(r) + ".in", {8'000'000'000}});
    for (std::uint32_t d = 0; d < 3; ++d) {
      if (d == r) continue;
      machine::Route route;
      route.links = {machine::LinkId(2 * r), machine::LinkId(2 * d + 1)};
      route.latency = r == 1 || d == 1 ? us(10) : us(1);
      routes.push_back({sched::RankId(r), sched::RankId(d), route});
    }
  }
  const machine::Wiring wiring({"0", "1", "2"}, links, routes);
  const machine::Platform on = machine::parse_platform_spec(
      "star:nic=serial,rate=8Gbps,latency=1us,o_post=1us,o_complete=2us,gap=500ns,interleave=0B");
  const sched::Trace trace = run_events({schedule, on, wiring});
  // Post 1, there 10, a word of 8 bytes back 10, completion 2.
  EXPECT_NEAR(trace.makespan_s(), 23.008e-6, 1e-15);
  for (const Kind kind : {Kind::kLatency, Kind::kPost, Kind::kCompletion, Kind::kGap}) {
    const Parameter parameter{.kind = kind};
    const Tolerance found =
        tolerance({schedule, on, wiring, {}}, trace, std::span(&parameter, 1)).front();
    EXPECT_NEAR(found.makespan_at.at(0), trace.makespan_s(), 1e-15) << static_cast<int>(kind);
  }
}

TEST(Tolerance, StaysWithinItsRange) {
  const sched::Schedule schedule = two_sends();
  const sched::Trace trace = run_analytic({schedule, platform()});
  const machine::Wiring wiring(platform(), 2);
  const Parameter post{.kind = Kind::kPost};
  const auto found = tolerance({schedule, platform(), wiring, {}}, trace, std::span(&post, 1),
                               WireTimes::kModel, {-0.5e-6, 3e-6});
  EXPECT_EQ(found[0].makespan_at.lo(), -0.5e-6);
  EXPECT_EQ(found[0].makespan_at.pieces().size(), 1u);
  EXPECT_EQ(found[0].bearable(1), 3e-6);
}

TEST(Tolerance, RefusesWhatIsNotThere) {
  const auto refusal = [](const Parameter& parameter, const machine::DelayPlan& plan = {}) {
    return testing::error_of<Error>(
        [&] { tolerance_of(two_sends(), parameter, platform(), plan); });
  };
  EXPECT_THAT(refusal({.kind = Kind::kLaneTime, .rank = sched::RankId(2)}),
              ::testing::HasSubstr("rank 2 does not exist; expected 0 to 1"));
  EXPECT_THAT(refusal({.kind = Kind::kOpDelay, .op = sched::OpId(4)}),
              ::testing::HasSubstr("op 4 does not exist; expected 0 to 3"));
  EXPECT_THAT(refusal({Kind::kByteTime, machine::LinkId(99)}), ::testing::HasSubstr("link 99"));
  machine::DelayPlan plan;
  plan.link_rates.push_back({"host-0.out", {4'000'000'000}, us(5)});
  EXPECT_THAT(refusal({Kind::kByteTime, machine::LinkId(1)}, plan), "");
  EXPECT_THAT(refusal({Kind::kByteTime, machine::LinkId(0)}, plan),
              ::testing::HasSubstr("from rank 0 to rank 1 changes during the run"));
}

// 3 us there and 10 us back, at 1 and 2 ns a byte: every answer and acknowledgement takes its own
// way.
TEST(Tolerance, OfWaysThatDifferThereAndBack) {
  const machine::Wiring wiring(
      {"a", "b"}, {{"there", {8'000'000'000}}, {"back", {4'000'000'000}}},
      {{sched::RankId(0), sched::RankId(1), {{machine::LinkId(0)}, us(3)}},
       {sched::RankId(1), sched::RankId(0), {{machine::LinkId(1)}, us(10)}}});
  const machine::Platform on = machine::parse_platform_spec(
      "star:nic=serial,rate=8Gbps,latency=1us,o_post=1us,o_complete=2us,gap=500ns,interleave=0B,"
      "atomic_service=4us");
  // The run's makespan, and by latency, by the byte time of each link, by o_complete.
  const auto figures = [&](Program& p) {
    const sched::Schedule schedule = p.build();
    const sched::Trace trace = run_events({schedule, on, wiring});
    std::vector<double> all = {trace.makespan_s() * 1e6};
    for (const Parameter& parameter :
         {Parameter{.kind = Kind::kLatency}, Parameter{Kind::kByteTime, machine::LinkId(0)},
          Parameter{Kind::kByteTime, machine::LinkId(1)}, Parameter{.kind = Kind::kCompletion}}) {
      const Tolerance found =
          tolerance({schedule, on, wiring, {}}, trace, std::span(&parameter, 1)).front();
      EXPECT_NEAR(found.makespan_s, trace.makespan_s(), 1e-15);
      EXPECT_NEAR(found.makespan_at.at(0), trace.makespan_s(), 1e-15);
      all.push_back(found.slopes().after);
      if (parameter.kind == Kind::kLatency) {
        EXPECT_NEAR(found.makespan_at.lo(), -3e-6, 1e-18);
      }
    }
    return all;
  };
  const auto expect = [](const std::vector<double>& found, std::vector<double> expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
  };
  Program get(2);
  get.get(get.channel(0, 1), 1000);
  expect(figures(get), {1 + 3 + 2 + 10 + 2, 2, 0, 1000, 1});
  Program atomic(2);
  atomic.fetch_add(atomic.channel(0, 1), 0);
  expect(figures(atomic), {1 + 3 + 4 + 0.016 + 10 + 2, 2, 0, 8, 1});
  Program send(2);
  const sched::ChannelId c = send.channel(0, 1);
  send.send(c, 1000);
  send.recv(c, 1000);
  expect(figures(send), {1 + 1 + 3 + 10 + 2, 2, 1000, 0, 1});
  Program put(2);
  put.put(put.channel(0, 1), 1000);
  expect(figures(put), {1 + 1 + 3 + 10 + 2, 2, 1000, 0, 1});
}

TEST(Tolerance, AsksOnceForEachPieceAndEachBend) {
  for (const Kind kind : kKinds) {
    const Tolerance found =
        tolerance_of(two_sends(), {.kind = kind, .rank = sched::RankId(0), .op = sched::OpId(1)});
    const std::size_t pieces = found.makespan_at.pieces().size();
    // With one piece both ends are asked for.
    EXPECT_EQ(found.evaluations, pieces == 1 ? 2 : 2 * pieces - 1) << static_cast<int>(kind);
  }
}

// The makespan is that at 0 also where 0 is not looked at.
TEST(Tolerance, OfARangeBesideZero) {
  const sched::Schedule schedule = two_sends();
  const sched::Trace trace = run_analytic({schedule, platform()});
  const machine::Wiring wiring(platform(), 2);
  const Parameter latency{.kind = Kind::kLatency};
  const auto of = [&](double lo, double hi) {
    return tolerance({schedule, platform(), wiring, {}}, trace, std::span(&latency, 1),
                     WireTimes::kModel, {lo, hi})
        .front();
  };
  for (const auto& [lo, hi] : std::vector<std::pair<double, double>>{
           {1e-6, 2e-6}, {-0.5e-6, -0.25e-6}, {0, 1e-6}, {-1e-6, 0}, {2e-6, 1e-6}}) {
    const Tolerance found = of(lo, hi);
    EXPECT_NEAR(found.makespan_s, 25e-6, 1e-15) << lo;
    EXPECT_EQ(found.makespan_at.lo(), lo);
    EXPECT_EQ(found.makespan_at.hi(), std::max(lo, hi));
  }
  // Below no latency there is none.
  EXPECT_EQ(of(-9e-6, 1e-6).makespan_at.lo(), -1e-6);
}

TEST(Tolerance, OfAnOperationOfAScheduleWithoutIsRefused) {
  Program none(1);
  EXPECT_EQ(testing::error_of([&] {
              tolerance_of(none.build(), {.kind = Kind::kOpDelay, .op = sched::OpId(0)});
            }),
            "tolerance: op 0 does not exist; expected a schedule that has one");
}

}  // namespace
}  // namespace slackline::analysis
