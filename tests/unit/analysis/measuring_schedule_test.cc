#include "analysis/fit/measuring_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/fit/calibrate.h"
#include "analysis/fit/standard_measurements.h"
#include "base/error.h"
#include "sched/verify.h"
#include "tests/unit/analysis/measured.h"

namespace slackline::analysis {
namespace {

// Every kind, small and large, odd and even.
std::vector<Measurement> all_kinds() {
  std::vector<Measurement> all;
  for (int k = 0; k < kPointKinds; ++k) {
    const auto kind = static_cast<PointKind>(k);
    for (const std::uint64_t bytes : {8, 5000, 3 << 20}) {
      if (kind == PointKind::kAtomic && bytes != kAtomicBytes) continue;
      for (const std::uint64_t messages : {1, 2, 5, 8}) all.push_back({kind, bytes, messages});
    }
  }
  return all;
}

machine::Platform slow(const std::string& more = "") {
  return machine::parse_platform_spec(
      "star:rate=10Gbps,latency=2us,o_post=300ns,o_complete=400ns,gap=500ns,atomic_service=700ns,"
      "copy_rate=20Gbps" +
      more);
}

TEST(MeasuringSchedule, CanBeProved) {
  const std::vector<Measurement> all = all_kinds();
  const MeasuringSchedule measuring = measuring_schedule(all);
  for (const sched::Diagnostic& found : verify(measuring.schedule)) {
    // The memory comes round, so that the same bytes are delivered again.
    EXPECT_EQ(found.code, sched::Code::kDuplicate) << found.message;
  }
}

TEST(MeasuringSchedule, OneAfterTheOtherIsAsEachAlone) {
  for (const char* more : {"", ",o_post_recv=90ns,o_signal=40ns,o_poll=130ns,o_match=60ns"}) {
    const machine::Platform platform = slow(more);
    const std::vector<Measurement> all = all_kinds();
    const MeasuringSchedule measuring = measuring_schedule(all);
    const std::vector<MeasuredPoint> points =
        points_of(measuring, run_events({measuring.schedule, platform}));
    ASSERT_EQ(points.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const MeasuredPoint alone =
          testing::measured(all[i].kind, all[i].bytes, all[i].messages, platform);
      EXPECT_EQ(points[i].kind, all[i].kind);
      EXPECT_EQ(points[i].bytes, all[i].bytes);
      EXPECT_EQ(points[i].messages, all[i].messages);
      EXPECT_NEAR(points[i].seconds, alone.seconds, 1e-9 * alone.seconds + 1e-15)
          << name(all[i].kind) << ' ' << all[i].bytes << ' ' << all[i].messages << more;
    }
  }
}

// What was sent ahead is still on its way when the small one that it was ahead of is done.
// As an executor's are: each post is then as long as it was, and no other kind is another.
TEST(MeasuringSchedule, TimesOfIssueMayBeThoseBeforeThePosts) {
  std::vector<Measurement> measurements;
  for (const std::uint64_t messages : {2, 3, 48}) {
    for (const PointKind kind : {PointKind::kPost, PointKind::kSignaled, PointKind::kStream}) {
      measurements.push_back({kind, 8, messages});
    }
  }
  const MeasuringSchedule measuring = measuring_schedule(measurements);
  const machine::Platform platform = slow();
  sched::Trace trace = run_events({measuring.schedule, platform});
  const std::vector<MeasuredPoint> expected = points_of(measuring, trace);
  for (std::uint32_t i = 0; i < measuring.schedule.op_count(); ++i) {
    if (measuring.schedule.ops()[i].kind != sched::OpKind::kSend) continue;
    trace.ops[i].issued_s -= sched::seconds(platform.o_post);
  }
  const std::vector<MeasuredPoint> found = points_of(measuring, trace, Issued::kBeforeThePost);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].seconds, expected[i].seconds, 1e-13) << i;
  }
}

TEST(MeasuringSchedule, WhatWasSentAheadIsInNoOtherMeasurement) {
  const machine::Platform platform = slow();
  const Measurement all[] = {{PointKind::kBehind, 8, 4}, {PointKind::kSend, 1 << 20, 1}};
  const MeasuringSchedule measuring = measuring_schedule(all);
  const std::vector<MeasuredPoint> points =
      points_of(measuring, run_events({measuring.schedule, platform}));
  const MeasuredPoint alone = testing::measured(PointKind::kSend, 1 << 20, 1, platform);
  EXPECT_NEAR(points[1].seconds, alone.seconds, 1e-9 * alone.seconds);
  EXPECT_LT(points[0].seconds, alone.seconds);
}

TEST(MeasuringSchedule, LargeMessagesTakeTurnsInMemory) {
  const std::vector<Measurement> all(5, {PointKind::kStream, 4 << 20, 5});
  const MeasuringSchedule measuring = measuring_schedule(all);
  std::vector<std::uint64_t> firsts;
  for (const MeasuringSchedule::Place& place : measuring.places) {
    const sched::Op& op = measuring.schedule.op(place.first);
    firsts.push_back(measuring.schedule.slices(op.reads).front().offset >> 20);
  }
  EXPECT_THAT(firsts, ::testing::ElementsAre(0, 20, 40, 0, 20));
}

TEST(StandardMeasurements, FitTheMemoryAndDetermineTheMachine) {
  for (const std::uint64_t mebibytes : {4, 16, 64}) {
    const std::uint64_t memory_bytes = mebibytes << 20;
    const std::vector<Measurement> all = standard_measurements(3, true, memory_bytes);
    const auto round = static_cast<std::ptrdiff_t>(all.size() / 3);
    EXPECT_TRUE(std::equal(all.begin(), all.end() - round, all.begin() + round));
    const MeasuringSchedule measuring = measuring_schedule(all, memory_bytes);
    EXPECT_EQ(measuring.schedule.buffers().front().bytes, memory_bytes);
    const std::vector<MeasuredPoint> points =
        points_of(measuring, run_events({measuring.schedule, slow()}));
    const Calibration found = calibrate(points, machine::Platform{});
    for (const FigureFit& fit : found.figures) {
      const auto f = fit.figure;
      if (f >= CalibratedFigure::kPostRecv && f <= CalibratedFigure::kMatch) {
        EXPECT_EQ(fit.verdict,
                  f == CalibratedFigure::kPostRecv ? Verdict::kNoPoints : Verdict::kWithin)
            << name(f);
        continue;
      }
      EXPECT_EQ(fit.verdict, Verdict::kMeasured) << name(fit.figure) << ' ' << mebibytes;
    }
    const auto near = [](double got, double expected) {
      EXPECT_NEAR(got, expected, 1e-6 * expected);
    };
    near(found.of(CalibratedFigure::kPost).value, 300e-9);
    near(found.of(CalibratedFigure::kComplete).value, 400e-9);
    near(found.of(CalibratedFigure::kGap).value, 500e-9);
    near(found.of(CalibratedFigure::kLatency).value, 2e-6);
    near(found.of(CalibratedFigure::kRate).value, 1.25e9);
    near(found.of(CalibratedFigure::kCopyRate).value, 2.5e9);
  }
}

TEST(MeasuringSchedule, RefusesWhatIsNoMeasurement) {
  for (const Measurement& m :
       {Measurement{PointKind::kSend, 8, 0}, Measurement{PointKind::kAtomic, 16, 1},
        Measurement{PointKind::kBurst, 8, 65537}}) {
    EXPECT_THROW(measuring_schedule({&m, 1}), InputError);
  }
}

TEST(MeasuringSchedule, RefusesARunThatBrokeOff) {
  const Measurement one{PointKind::kSend, 8, 3};
  const MeasuringSchedule measuring = measuring_schedule({&one, 1});
  sched::Trace trace = run_events({measuring.schedule, slow()});
  trace.ops[measuring.places[0].last.value].done_s = std::numeric_limits<double>::infinity();
  EXPECT_THROW(points_of(measuring, trace), InputError);
  trace.schedule.low ^= 1;
  EXPECT_THROW(points_of(measuring, trace), InputError);
}

}  // namespace
}  // namespace slackline::analysis
