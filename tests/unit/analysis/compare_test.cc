#include "analysis/advice/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "base/error.h"
#include "sched/compile.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Schedule;
using sched::Trace;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNever = std::numeric_limits<double>::infinity();

Schedule pipeline() {
  return compile(sched::parse_spec("binomial-pipeline:ranks=5,bytes=9000,block=1000"));
}

double below(std::mt19937& draw, std::uint32_t end) { return static_cast<double>(draw() % end); }

// Times between 0 and 1 ms, to a picosecond.
Trace random_trace(const Schedule& schedule, std::uint32_t seed) {
  std::mt19937 draw(seed);
  Trace trace;
  trace.schedule = schedule.digest();
  trace.ops.resize(schedule.op_count());
  for (sched::OpTimes& op : trace.ops) {
    op.ready_s = 1e-12 * below(draw, 800'000'000);
    op.issued_s = op.wire_s = op.ready_s + 1e-12 * (1 + below(draw, 100'000'000));
    op.done_s = op.issued_s + 1e-12 * (1 + below(draw, 100'000'000));
  }
  return trace;
}

template <class Map>
Trace mapped(Trace trace, const Map& map) {
  for (sched::OpTimes& op : trace.ops) {
    for (double* time : {&op.ready_s, &op.issued_s, &op.wire_s, &op.done_s}) *time = map(*time);
  }
  return trace;
}

TEST(Compare, TheSameRunDiffersNowhere) {
  const Schedule schedule = pipeline();
  const Trace trace = random_trace(schedule, 1);
  const Comparison found = compare(schedule, trace, trace);
  EXPECT_EQ(found.first_s, trace.makespan_s());
  EXPECT_EQ(found.first_s, found.second_s);
  ASSERT_TRUE(found.map);
  EXPECT_EQ(found.map->scale, 1);
  EXPECT_EQ(found.map->offset_s, 0);
  EXPECT_EQ(found.map->rest.count, schedule.op_count());
  EXPECT_EQ(found.map->rest.max_s, 0);
  EXPECT_EQ(found.ops.size(), schedule.op_count());
  EXPECT_EQ(found.ops.front().difference_s(), 0);
  for (const OrderAgreement& order : {found.issue_order, found.done_order}) {
    // Neighbours in the one are those in the other.
    EXPECT_EQ(order.pairs, schedule.op_count() - schedule.rank_count());
    EXPECT_EQ(order.same, order.pairs);
  }
}

TEST(Compare, FindsOffsetAndScale) {
  const Schedule schedule = pipeline();
  const Trace first = random_trace(schedule, 2);
  const Trace second = mapped(first, [](double t) { return 12e-6 + 1.3 * t; });
  const Comparison found = compare(schedule, first, second);
  ASSERT_TRUE(found.map);
  EXPECT_NEAR(found.map->scale, 1.3, 1e-9);
  EXPECT_NEAR(found.map->offset_s, 12e-6, 1e-14);
  EXPECT_LT(found.map->rest.max_s, 1e-14);
  EXPECT_NEAR(found.second_s, 12e-6 + 1.3 * found.first_s, 1e-14);
  for (const RankComparison& rank : found.ranks) {
    ASSERT_TRUE(rank.late_s);
    EXPECT_NEAR(*rank.late_s, 0, 1e-14);
    EXPECT_NEAR(rank.second_s, 12e-6 + 1.3 * rank.first_s, 1e-14);
  }
  EXPECT_EQ(found.done_order.same, found.done_order.pairs);
}

TEST(Compare, OneLateRankIsToldFromASlowRun) {
  const Schedule schedule = pipeline();
  const Trace first = random_trace(schedule, 3);
  Trace second = mapped(first, [](double t) { return 1.3 * t; });
  for (std::uint32_t i = schedule.first_op(RankId(3)).value; i != schedule.end_op(RankId(3)).value;
       ++i) {
    second.ops[i].done_s += 5e-3;
  }
  const Comparison found = compare(schedule, first, second);
  ASSERT_TRUE(found.map);
  // A fifth of the operations moves it by no more than times lie apart.
  EXPECT_NEAR(found.map->scale, 1.3, 1e-9);
  EXPECT_LT(std::abs(found.map->offset_s), 1e-13);
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    EXPECT_NEAR(*found.ranks[rank].late_s, rank == 3 ? 5e-3 : 0, 1e-13) << rank;
  }
  EXPECT_EQ(schedule.op(found.ops.front().op).rank, RankId(3));
  EXPECT_NEAR(found.map->rest.max_s, 5e-3, 1e-13);
  EXPECT_LT(found.map->rest.median_s, 1e-13);
}

TEST(Compare, QuantilesByKind) {
  const Schedule schedule = pipeline();
  const Trace first = random_trace(schedule, 4);
  Trace second = first;
  // The k-th send is issued k ns later and done 2k ns earlier.
  std::uint64_t sends = 0;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    if (schedule.op(OpId(i)).kind != sched::OpKind::kSend) continue;
    ++sends;
    second.ops[i].issued_s += 1e-9 * static_cast<double>(sends);
    second.ops[i].done_s -= 2e-9 * static_cast<double>(sends);
  }
  const Comparison found = compare(schedule, first, second);
  ASSERT_EQ(found.kinds.size(), 2);
  const KindComparison& send = found.kinds[0];
  EXPECT_EQ(send.kind, sched::OpKind::kSend);
  EXPECT_EQ(send.ops, sends);
  EXPECT_EQ(send.done.count, sends);
  const double half = static_cast<double>(sends + 1) / 2;
  const double most = static_cast<double>((9 * sends + 9) / 10);
  EXPECT_NEAR(send.done.median_s, 2e-9 * half, 1e-15);
  EXPECT_NEAR(send.done.p90_s, 2e-9 * most, 1e-15);
  EXPECT_NEAR(send.done.max_s, 2e-9 * static_cast<double>(sends), 1e-15);
  EXPECT_NEAR(send.duration.p90_s, 3e-9 * most, 1e-15);
  const KindComparison& recv = found.kinds[1];
  EXPECT_EQ(recv.kind, sched::OpKind::kRecv);
  EXPECT_EQ(recv.ops, schedule.op_count() - sends);
  EXPECT_EQ(recv.done.max_s, 0);
}

TEST(Compare, WhatNeverHappenedStandsApart) {
  const Schedule schedule = pipeline();
  Trace first = random_trace(schedule, 5);
  Trace second = mapped(first, [](double t) { return 2 * t; });
  const auto never = [](Trace& trace, std::uint32_t op) {
    trace.ops[op].issued_s = trace.ops[op].wire_s = trace.ops[op].done_s = kNever;
  };
  never(first, 7);
  never(second, 3);
  never(second, 9);
  never(first, 4);
  never(second, 4);
  const Comparison found = compare(schedule, first, second);
  EXPECT_THAT(found.only_first, ElementsAre(OpId(3), OpId(9)));
  EXPECT_THAT(found.only_second, ElementsAre(OpId(7)));
  EXPECT_THAT(found.neither, ElementsAre(OpId(4)));
  EXPECT_EQ(found.ops.size(), schedule.op_count() - 4);
  EXPECT_EQ(found.first_s, kNever);
  EXPECT_EQ(found.second_s, kNever);
  EXPECT_EQ(found.ranks[0].second_s, kNever);
  EXPECT_TRUE(std::isfinite(found.ranks[4].second_s));
  ASSERT_TRUE(found.map);
  EXPECT_NEAR(found.map->scale, 2, 1e-9);
  EXPECT_LT(found.map->rest.max_s, 1e-14);
  std::uint64_t counted = 0;
  for (const KindComparison& kind : found.kinds) counted += kind.done.count;
  EXPECT_EQ(counted, found.ops.size());

  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) never(second, i);
  const Comparison nothing = compare(schedule, first, second);
  EXPECT_THAT(nothing.ops, IsEmpty());
  EXPECT_FALSE(nothing.map);
  EXPECT_FALSE(nothing.ranks[0].late_s);
  EXPECT_EQ(nothing.done_order.pairs, 0);
}

// Against the definition, pair by pair.
// Of what was passed over a trace has the moment in which that was known: it was not done then.
TEST(Compare, WhatWasPassedOverIsNotDone) {
  const Schedule schedule = pipeline();
  Trace first = random_trace(schedule, 5);
  const Comparison all = compare(schedule, first, first);
  Trace second = first;
  first.ops[1].attempts = 0;
  second.ops[1].attempts = 0;
  second.ops[2].attempts = 0;
  second.ops[2].done_s = 0;
  const Comparison found = compare(schedule, first, second);
  EXPECT_EQ(found.ops.size(), schedule.op_count() - 2);
  EXPECT_THAT(found.neither, ElementsAre(OpId(1)));
  EXPECT_THAT(found.only_first, ElementsAre(OpId(2)));
  EXPECT_TRUE(found.only_second.empty());
  EXPECT_EQ(found.first_s, all.first_s);
  EXPECT_EQ(found.map->rest.max_s, 0);
  EXPECT_LT(found.done_order.pairs, all.done_order.pairs);
  EXPECT_EQ(found.done_order.same, found.done_order.pairs);
  std::uint64_t done = 0;
  for (const KindComparison& kind : found.kinds) done += kind.done.count;
  EXPECT_EQ(done, schedule.op_count() - 2);
}

TEST(Compare, OrderOfNeighbours) {
  const Schedule schedule = pipeline();
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    Trace first = random_trace(schedule, 100 + seed);
    Trace second = random_trace(schedule, 200 + seed);
    // Few times, so that many are the same; and some that never came.
    std::mt19937 draw(seed);
    for (Trace* trace : {&first, &second}) {
      for (sched::OpTimes& op : trace->ops) {
        op.done_s = draw() % 10 == 0 ? kNever : 1e-6 * below(draw, 6);
      }
    }
    const Comparison found = compare(schedule, first, second);
    const auto in_both = [&](std::uint32_t i) {
      return std::isfinite(first.ops[i].done_s) && std::isfinite(second.ops[i].done_s);
    };
    // Ends of runs of equal times that follow one another; within a run the other trace decides.
    OrderAgreement expected;
    std::set<std::pair<std::uint32_t, std::uint32_t>> counted;
    for (const auto& [a, b] : {std::pair{&first, &second}, std::pair{&second, &first}}) {
      const auto before = [&, a = a, b = b](std::uint32_t x, std::uint32_t y) {
        const auto& [ax, bx] = std::pair{a->ops[x].done_s, b->ops[x].done_s};
        const auto& [ay, by] = std::pair{a->ops[y].done_s, b->ops[y].done_s};
        return ax != ay ? ax < ay : bx != by ? bx < by : x < y;
      };
      for (std::uint32_t x = 0; x < schedule.op_count(); ++x) {
        for (std::uint32_t y = 0; y < schedule.op_count(); ++y) {
          if (schedule.op(OpId(x)).rank != schedule.op(OpId(y)).rank || !in_both(x) ||
              !in_both(y) || !before(x, y)) {
            continue;
          }
          bool neighbours = true;
          for (std::uint32_t z = 0; z < schedule.op_count(); ++z) {
            const bool between = schedule.op(OpId(x)).rank == schedule.op(OpId(z)).rank &&
                                 in_both(z) && before(x, z) && before(z, y);
            if (between) neighbours = false;
          }
          if (!neighbours || a->ops[x].done_s == a->ops[y].done_s ||
              b->ops[x].done_s == b->ops[y].done_s || !counted.insert(std::minmax(x, y)).second) {
            continue;
          }
          ++expected.pairs;
          if (b->ops[x].done_s < b->ops[y].done_s) ++expected.same;
        }
      }
    }
    EXPECT_EQ(found.done_order.pairs, expected.pairs);
    EXPECT_EQ(found.done_order.same, expected.same);
    const Comparison back = compare(schedule, second, first);
    EXPECT_EQ(back.done_order.same, expected.same);
    EXPECT_LT(found.done_order.same, found.done_order.pairs);
  }
}

TEST(Compare, OneTimeGivesNoMap) {
  const Schedule schedule = pipeline();
  const Trace second = random_trace(schedule, 6);
  const Trace first = mapped(second, [](double) { return 1e-6; });
  EXPECT_FALSE(compare(schedule, first, second).map);
  const Schedule empty = compile(sched::parse_spec("chain:ranks=1,bytes=10"));
  Trace none;
  none.schedule = empty.digest();
  none.ops.resize(empty.op_count());
  EXPECT_FALSE(compare(empty, none, none).map);
}

TEST(Compare, RefusesOtherSchedules) {
  const Schedule schedule = pipeline();
  const Trace trace = random_trace(schedule, 7);
  Trace other = trace;
  other.schedule.low ^= 1;
  EXPECT_THROW(compare(schedule, trace, other), InputError);
  EXPECT_THROW(compare(schedule, other, trace), InputError);
  other = trace;
  other.ops.pop_back();
  EXPECT_THROW(compare(schedule, trace, other), InputError);
}

}  // namespace
}  // namespace slackline::analysis
