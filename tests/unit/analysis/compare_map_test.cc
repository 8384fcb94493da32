// The map between two runs and what it leaves, against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "analysis/advice/compare.h"
#include "tests/support/quantile.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using slackline::testing::quantile;

double median_by_sorting(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Two ranks with `first` and `second` operations.
sched::Schedule two_ranks(int first, int second) {
  testing::Program p(2);
  for (int i = 0; i < first; ++i) p.delay(0, testing::us(1));
  for (int i = 0; i < second; ++i) p.calc(1, testing::us(1));
  return p.build();
}

TEST(CompareMap, IsTheMedianOfSlopesAndOfWhatIsLeft) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const int counts[] = {1 + static_cast<int>(random() % 5), 1 + static_cast<int>(random() % 5)};
    const sched::Schedule schedule = two_ranks(counts[0], counts[1]);
    sched::Trace traces[2];
    for (sched::Trace& trace : traces) {
      trace.schedule = schedule.digest();
      trace.ops.resize(schedule.op_count());
      for (sched::OpTimes& t : trace.ops) {
        t.issued_s = static_cast<double>(random() % 8);
        t.done_s = t.issued_s + static_cast<double>(random() % 8);
      }
    }
    const auto done_s = [&](int run, std::uint32_t i) { return traces[run].ops[i].done_s; };
    std::vector<std::uint32_t> order(schedule.op_count());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return done_s(0, a) < done_s(0, b); });
    std::vector<double> slopes;
    for (std::size_t k = 0; k + (order.size() + 1) / 2 < order.size(); ++k) {
      const std::uint32_t a = order[k];
      const std::uint32_t b = order[k + (order.size() + 1) / 2];
      if (done_s(0, a) == done_s(0, b)) continue;
      slopes.push_back((done_s(1, b) - done_s(1, a)) / (done_s(0, b) - done_s(0, a)));
    }
    const Comparison found = compare(schedule, traces[0], traces[1]);
    ASSERT_EQ(found.map.has_value(), !slopes.empty()) << round;
    for (const RankComparison& rank : found.ranks) {
      ASSERT_EQ(rank.late_s.has_value(), found.map.has_value());
    }
    if (!found.map) continue;
    EXPECT_DOUBLE_EQ(found.map->scale, median_by_sorting(slopes)) << round;
    std::vector<double> left;
    for (const std::uint32_t i : order) {
      left.push_back(done_s(1, i) - found.map->scale * done_s(0, i));
    }
    const double offset_s = median_by_sorting(left);
    EXPECT_NEAR(found.map->offset_s, offset_s, 1e-12);
    for (double& s : left) s = std::abs(s - offset_s);
    EXPECT_EQ(found.map->rest.count, left.size());
    EXPECT_NEAR(found.map->rest.median_s, median_by_sorting(left), 1e-12);
    EXPECT_NEAR(found.map->rest.p90_s, quantile(left, 90), 1e-12);
    EXPECT_NEAR(found.map->rest.max_s, quantile(left, 100), 1e-12);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      std::vector<double> late;
      double last_s[2] = {0, 0};
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        if (schedule.op(sched::OpId(i)).rank.value != rank) continue;
        late.push_back(done_s(1, i) - found.map->of(done_s(0, i)));
        for (int run = 0; run < 2; ++run) last_s[run] = std::max(last_s[run], done_s(run, i));
      }
      EXPECT_NEAR(*found.ranks[rank].late_s, median_by_sorting(late), 1e-12);
      EXPECT_EQ(found.ranks[rank].first_s, last_s[0]);
      EXPECT_EQ(found.ranks[rank].second_s, last_s[1]);
    }
    // Those that differ most come first, equal ones by their numbers.
    const auto key = [](const OpComparison& op) {
      return std::tuple(-std::abs(op.second_s - op.first_s), op.op);
    };
    EXPECT_TRUE(std::is_sorted(found.ops.begin(), found.ops.end(),
                               [&](const auto& a, const auto& b) { return key(a) < key(b); }));
    for (const KindComparison& kind : found.kinds) {
      std::vector<double> done;
      std::vector<double> duration;
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        if (schedule.op(sched::OpId(i)).kind != kind.kind) continue;
        done.push_back(std::abs(done_s(1, i) - done_s(0, i)));
        duration.push_back(std::abs((done_s(1, i) - traces[1].ops[i].issued_s) -
                                    (done_s(0, i) - traces[0].ops[i].issued_s)));
      }
      EXPECT_EQ(kind.ops, done.size());
      EXPECT_EQ(kind.done.median_s, median_by_sorting(done));
      EXPECT_EQ(kind.done.p90_s, quantile(done, 90));
      EXPECT_EQ(kind.done.max_s, quantile(done, 100));
      EXPECT_EQ(kind.duration.median_s, median_by_sorting(duration));
      EXPECT_EQ(kind.duration.p90_s, quantile(duration, 90));
      EXPECT_EQ(kind.duration.max_s, quantile(duration, 100));
    }
  }
}

// Of an operation that one run did not time at its issue, done is compared all the same.
TEST(CompareMap, DurationsNeedBothIssues) {
  const sched::Schedule schedule = two_ranks(3, 1);
  sched::Trace traces[2];
  for (sched::Trace& trace : traces) {
    trace.schedule = schedule.digest();
    trace.ops.resize(schedule.op_count());
    for (std::uint32_t i = 0; i < 4; ++i) trace.ops[i].done_s = i;
  }
  traces[0].ops[0].issued_s = INFINITY;
  traces[1].ops[1].issued_s = INFINITY;
  const Comparison found = compare(schedule, traces[0], traces[1]);
  ASSERT_EQ(found.kinds.size(), 2u);
  EXPECT_EQ(found.kinds[0].kind, sched::OpKind::kCalc);
  EXPECT_EQ(found.kinds[1].ops, 3u);
  EXPECT_EQ(found.kinds[1].done.count, 3u);
  EXPECT_EQ(found.kinds[1].duration.count, 1u);
}

}  // namespace
}  // namespace slackline::analysis
