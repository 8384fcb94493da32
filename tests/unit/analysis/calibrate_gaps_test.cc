// What a calibration does not know, and says so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>

#include "analysis/fit/calibrate.h"
#include "analysis/fit/calibration_model.h"
#include "base/error.h"
#include "tests/support/sanitized.h"
#include "tests/unit/analysis/measured.h"

namespace slackline::testing {
namespace {

using analysis::calibrate;
using analysis::CalibratedFigure;
using analysis::Calibration;
using analysis::Verdict;
using Figures = std::vector<CalibratedFigure>;

machine::Platform base() {
  return machine::parse_platform_spec(
      "star:rate=17Gbps,latency=11us,o_post=13ns,o_complete=17ns,gap=19ns,atomic_service=23ns,"
      "copy_rate=29Gbps,interleave=31B");
}

// Posting is slower than the gap.
machine::Platform slow_post() {
  return machine::parse_platform_spec(
      "star:rate=40Gbps,latency=1300ns,o_post=250ns,o_complete=230ns,gap=110ns");
}
machine::Platform slow_gap() {
  return machine::parse_platform_spec(
      "star:rate=40Gbps,latency=1300ns,o_post=150ns,o_complete=230ns,gap=310ns");
}

class Points {
 public:
  explicit Points(const machine::Platform& platform) : platform_(platform) {}

  Points& add(PointKind kind, std::vector<std::uint64_t> bytes,
              std::vector<std::uint64_t> messages) {
    for (const std::uint64_t b : bytes) {
      for (const std::uint64_t m : messages) all.push_back(measured(kind, b, m, platform_));
    }
    return *this;
  }
  Points& pingpong() { return add(PointKind::kPingpong, {8, 1000, 64'000}, {2, 4, 6}); }
  Points& send() { return add(PointKind::kSend, {8, 1000, 64'000}, {1, 2, 3}); }
  Points& post() { return add(PointKind::kPost, {8}, {8, 16, 32}); }
  Points& stream() { return add(PointKind::kStream, {8, 64, 500}, {16, 32}); }
  Points& burst() { return add(PointKind::kBurst, {8, 64, 500}, {16, 32}); }

  std::vector<MeasuredPoint> all;

 private:
  machine::Platform platform_;
};

void expect_kept(const Calibration& found, CalibratedFigure figure, Verdict verdict) {
  EXPECT_EQ(found.of(figure).verdict, verdict) << name(figure);
}

TEST(CalibrateGaps, HalfRoundTripsTellTheRateAlone) {
  const Calibration found = calibrate(Points(slow_gap()).pingpong().all, base());
  EXPECT_EQ(found.of(CalibratedFigure::kRate).verdict, Verdict::kMeasured);
  EXPECT_NEAR(found.of(CalibratedFigure::kRate).value, 5e9, 5);
  expect_kept(found, CalibratedFigure::kPost, Verdict::kTogether);
  expect_kept(found, CalibratedFigure::kLatency, Verdict::kTogether);
  EXPECT_EQ(found.of(CalibratedFigure::kPost).together_with,
            (Figures{CalibratedFigure::kComplete, CalibratedFigure::kLatency}));
  for (const CalibratedFigure f : {CalibratedFigure::kGap, CalibratedFigure::kAtomicService,
                                   CalibratedFigure::kCopyRate, CalibratedFigure::kInterleave}) {
    expect_kept(found, f, Verdict::kNoPoints);
  }
  machine::Platform expected = base();
  expected.rate = {40'000'000'000};
  EXPECT_EQ(found.platform.spec(), expected.spec());
  // With the base's overheads and latency, the platform is far from what was measured, and says so.
  EXPECT_LT(found.worst_relative, 1e-9);
  ASSERT_EQ(found.kinds.size(), 1u);
  EXPECT_GT(found.kinds[0].platform_off, 1);
}

TEST(CalibrateGaps, OneSizeTellsNothingAlone) {
  const Calibration found =
      calibrate(Points(slow_gap()).add(PointKind::kPingpong, {1000}, {2, 4, 6, 8}).all, base());
  expect_kept(found, CalibratedFigure::kRate, Verdict::kTogether);
  EXPECT_EQ(found.platform.spec(), base().spec());
}

TEST(CalibrateGaps, LatencyNeedsTwoKinds) {
  const Calibration found = calibrate(Points(slow_gap()).pingpong().send().all, base());
  EXPECT_EQ(found.of(CalibratedFigure::kLatency).verdict, Verdict::kMeasured);
  EXPECT_EQ(found.platform.latency, slow_gap().latency);
  expect_kept(found, CalibratedFigure::kPost, Verdict::kTogether);
  EXPECT_EQ(found.of(CalibratedFigure::kPost).together_with, Figures{CalibratedFigure::kComplete});
  EXPECT_EQ(found.of(CalibratedFigure::kComplete).together_with, Figures{CalibratedFigure::kPost});
}

TEST(CalibrateGaps, AGapBelowAPostIsOnlyBounded) {
  const Calibration found =
      calibrate(Points(slow_post()).pingpong().send().post().stream().all, base());
  EXPECT_EQ(found.of(CalibratedFigure::kPost).verdict, Verdict::kMeasured);
  expect_kept(found, CalibratedFigure::kGap, Verdict::kNoPoints);
  ASSERT_TRUE(found.of(CalibratedFigure::kGap).at_most.has_value());
  EXPECT_NEAR(*found.of(CalibratedFigure::kGap).at_most, 250e-9, 1e-12);
  EXPECT_EQ(found.platform.gap, base().gap);
  // What bursts then add.
  const Calibration more =
      calibrate(Points(slow_post()).pingpong().send().post().stream().burst().all, base());
  EXPECT_EQ(more.platform.gap, slow_post().gap);
  EXPECT_EQ(more.platform.o_post, slow_post().o_post);
}

// A stream is posted by one lane, so a post is no longer than what paced it; the messages of a
// burst are posted by several, and say nothing of a post.
TEST(CalibrateGaps, ABurstDoesNotBoundAPost) {
  for (const machine::Platform& platform : {slow_gap(), slow_post()}) {
    const auto wire = [&](PointKind kind) {
      return Points(platform).pingpong().add(kind, {64'000, 256'000}, {16, 32}).all;
    };
    const Calibration streams = calibrate(wire(PointKind::kStream), base());
    ASSERT_EQ(streams.of(CalibratedFigure::kRate).verdict, Verdict::kMeasured);
    EXPECT_TRUE(streams.of(CalibratedFigure::kPost).at_most.has_value());
    EXPECT_TRUE(streams.of(CalibratedFigure::kGap).at_most.has_value());
    const Calibration bursts = calibrate(wire(PointKind::kBurst), base());
    ASSERT_EQ(bursts.of(CalibratedFigure::kRate).verdict, Verdict::kMeasured);
    EXPECT_FALSE(bursts.of(CalibratedFigure::kPost).at_most.has_value());
    EXPECT_TRUE(bursts.of(CalibratedFigure::kGap).at_most.has_value());
  }
}

// What paces a stream bounds other figures only where it is measured itself: one point measures
// none.
TEST(CalibrateGaps, WhatIsNotMeasuredBoundsNothing) {
  const auto rests_on_one = [](const Points& points, CalibratedFigure figure) {
    const Calibration found = calibrate(points.all, base());
    EXPECT_EQ(found.of(figure).verdict, Verdict::kOnePoint) << name(figure);
    return found;
  };
  Points wire(slow_gap());
  wire.add(PointKind::kPingpong, {8}, {2, 4, 6}).add(PointKind::kSend, {8}, {1, 2, 3});
  wire.add(PointKind::kBurst, {8}, {16, 32, 64});  // of one size: only the stream tells the rate
  const Calibration by_wire =
      rests_on_one(wire.add(PointKind::kStream, {640'000}, {16}), CalibratedFigure::kRate);
  EXPECT_EQ(by_wire.of(CalibratedFigure::kGap).verdict, Verdict::kMeasured);
  EXPECT_FALSE(by_wire.of(CalibratedFigure::kPost).at_most.has_value());

  Points gap(slow_gap());
  const Calibration by_gap =
      rests_on_one(gap.pingpong().send().add(PointKind::kBurst, {8}, {16}), CalibratedFigure::kGap);
  EXPECT_EQ(by_gap.of(CalibratedFigure::kRate).verdict, Verdict::kMeasured);
  EXPECT_FALSE(by_gap.of(CalibratedFigure::kGap).at_most.has_value());

  Points post(slow_post());
  const Calibration by_post = rests_on_one(
      post.pingpong().send().burst().add(PointKind::kStream, {8}, {16}), CalibratedFigure::kPost);
  EXPECT_EQ(by_post.of(CalibratedFigure::kGap).verdict, Verdict::kMeasured);
  EXPECT_FALSE(by_post.of(CalibratedFigure::kPost).at_most.has_value());
}

TEST(CalibrateGaps, NoisyStreamsDoNotMakeAGapOfAPost) {
  for (std::uint64_t seed = 1; seed <= cases(100u); ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(1, 0.02);
    auto points = Points(slow_post()).pingpong().send().post().stream().post().stream().all;
    for (MeasuredPoint& point : points) point.seconds *= normal(random);
    const Calibration found = calibrate(points, base());
    // 2.5 % of seeds may show a difference by chance; then it is still no longer than a post.
    if (found.of(CalibratedFigure::kGap).verdict == Verdict::kMeasured) {
      EXPECT_NEAR(found.of(CalibratedFigure::kGap).value, 250e-9, 10e-9) << seed;
    }
    EXPECT_NEAR(sched::seconds(found.platform.o_post), 250e-9, 10e-9) << seed;
  }
}

// The one completion of a short stream is no part of a gap.
TEST(CalibrateGaps, ASignalDoesNotMakeAGapOfAPost) {
  const machine::Platform platform = machine::parse_platform_spec(
      "star:rate=100Gbps,latency=1us,o_post=60ns,o_complete=200ns,gap=2ns,o_signal=80ns");
  std::uint64_t by_chance = 0;
  for (std::uint64_t seed = 1; seed <= cases(100u); ++seed) {
    auto points = Points(platform)
                      .pingpong()
                      .send()
                      .post()
                      .post()
                      .add(PointKind::kSignaled, {1'000'000}, {8, 16, 32})
                      .add(PointKind::kStream, {8, 64}, {2, 4})
                      .add(PointKind::kStream, {8, 64}, {2, 4})
                      .all;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(1, 0.003);
    for (MeasuredPoint& point : points) point.seconds *= normal(random);
    const Calibration found = calibrate(points, base());
    by_chance += found.of(CalibratedFigure::kGap).verdict == Verdict::kMeasured;
    EXPECT_NEAR(sched::seconds(found.platform.o_post), 60e-9, 1e-9) << seed;
  }
  EXPECT_LE(by_chance, 8u);
}

TEST(CalibrateGaps, StreamsAloneDoNotSayWhetherPostsOrGapsPaceThem) {
  for (const machine::Platform& platform : {slow_gap(), slow_post()}) {
    const Calibration found = calibrate(Points(platform).pingpong().send().stream().all, base());
    expect_kept(found, CalibratedFigure::kPost, Verdict::kUndecided);
    expect_kept(found, CalibratedFigure::kGap, Verdict::kUndecided);
    ASSERT_TRUE(found.small_stream_pace_s.has_value());
    EXPECT_NEAR(*found.small_stream_pace_s, sched::seconds(std::max(platform.gap, platform.o_post)),
                1e-15);
    EXPECT_EQ(found.platform.o_post, base().o_post);
    EXPECT_EQ(found.platform.gap, base().gap);
    EXPECT_EQ(found.platform.latency, platform.latency);
  }
  // Bursts tell the gap; that posts are faster follows, but not by how much.
  const Calibration found =
      calibrate(Points(slow_gap()).pingpong().send().stream().burst().all, base());
  EXPECT_EQ(found.platform.gap, slow_gap().gap);
  expect_kept(found, CalibratedFigure::kPost, Verdict::kTogether);
  ASSERT_TRUE(found.of(CalibratedFigure::kPost).at_most.has_value());
  EXPECT_NEAR(*found.of(CalibratedFigure::kPost).at_most, 310e-9, 1e-12);
  // Where streams are slower than bursts, posts pace them.
  const Calibration slow =
      calibrate(Points(slow_post()).pingpong().send().stream().burst().all, base());
  EXPECT_EQ(slow.platform.gap, slow_post().gap);
  EXPECT_EQ(slow.platform.o_post, slow_post().o_post);
}

TEST(CalibrateGaps, OnlyTheWirePacesLargeMessages) {
  const Calibration found = calibrate(Points(slow_gap())
                                          .pingpong()
                                          .send()
                                          .post()
                                          .add(PointKind::kStream, {4000, 20'000}, {16, 32})
                                          .all,
                                      base());
  expect_kept(found, CalibratedFigure::kGap, Verdict::kNoPoints);
  ASSERT_TRUE(found.of(CalibratedFigure::kGap).at_most.has_value());
  EXPECT_NEAR(*found.of(CalibratedFigure::kGap).at_most, 800e-9, 1e-12);
  EXPECT_EQ(found.platform.rate, slow_gap().rate);
}

// Where even the smallest messages of bursts take longer on the wire, there is a time between them,
// and it is not the gap's.
TEST(CalibrateGaps, ASlowWireOnlyBoundsTheGap) {
  const auto found_on = [](std::string_view gap, double noise, std::uint64_t seed) {
    const machine::Platform platform = machine::parse_platform_spec(
        fmt::format("star:rate=1Gbps,latency=1300ns,o_post=250ns,o_complete=230ns,gap={}", gap));
    auto points = Points(platform).pingpong().send().post().stream().burst().burst().all;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(1, noise);
    for (MeasuredPoint& point : points) point.seconds *= normal(random);
    return calibrate(points, base());
  };
  std::uint64_t by_chance = 0;  // 2.5 % of seeds may show a gap
  for (std::uint64_t seed = 1; seed <= cases(100u); ++seed) {
    const Calibration found = found_on("20ns", 0.01, seed);
    const analysis::FigureFit& gap = found.of(CalibratedFigure::kGap);
    if (gap.verdict == Verdict::kMeasured) {
      ++by_chance;
      continue;
    }
    expect_kept(found, CalibratedFigure::kGap, Verdict::kNoPoints);
    EXPECT_EQ(gap.points, 0u);
    ASSERT_TRUE(gap.at_most.has_value());
    EXPECT_NEAR(*gap.at_most, 64e-9, 5e-9) << seed;
    EXPECT_EQ(found.platform.gap, base().gap);
  }
  EXPECT_LE(by_chance, 8u);
  EXPECT_EQ(found_on("70ns", 1e-6, 1).platform.gap, sched::Time{70'000});
}

// By the smallest of them, at the slowest that the wire may be.
TEST(CalibrateGaps, ARoughWireBoundsByItsSlowestRate) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal(1, 0.01);
  auto points = Points(slow_gap())
                    .pingpong()
                    .send()
                    .add(PointKind::kStream, {20'000, 4000, 60'000}, {16, 32})
                    .add(PointKind::kBurst, {5000}, {16, 32})
                    .all;
  for (MeasuredPoint& point : points) point.seconds *= normal(random);
  const Calibration found = calibrate(points, base());
  const analysis::FigureFit& rate = found.of(CalibratedFigure::kRate);
  ASSERT_EQ(rate.verdict, Verdict::kMeasured);
  EXPECT_LT(rate.low, rate.value);
  EXPECT_LT(rate.value, rate.high);
  for (const CalibratedFigure f : {CalibratedFigure::kGap, CalibratedFigure::kPost}) {
    ASSERT_TRUE(found.of(f).at_most.has_value()) << name(f);
    EXPECT_DOUBLE_EQ(*found.of(f).at_most, 4000 / rate.low) << name(f);
  }
}

TEST(CalibrateGaps, NothingVouchesForOnePoint) {
  machine::Platform platform = slow_gap();
  platform.atomic_service = us(2);
  Points points(platform);
  points.pingpong().send().post().add(PointKind::kAtomic, {8}, {1});
  const std::size_t atomic = points.all.size() - 1;
  const Calibration one = calibrate(points.all, base());
  expect_kept(one, CalibratedFigure::kAtomicService, Verdict::kOnePoint);
  EXPECT_EQ(one.of(CalibratedFigure::kAtomicService).rests_on, atomic);
  EXPECT_NEAR(one.of(CalibratedFigure::kAtomicService).value, 2e-6, 1e-12);
  EXPECT_EQ(one.platform.atomic_service, base().atomic_service);

  points.add(PointKind::kAtomic, {8}, {2});
  EXPECT_EQ(calibrate(points.all, base()).platform.atomic_service, platform.atomic_service);
  // Two that contradict each other are no better than one.
  points.all.back().seconds *= 10;
  EXPECT_NE(calibrate(points.all, base()).of(CalibratedFigure::kAtomicService).verdict,
            Verdict::kMeasured);
}

TEST(CalibrateGaps, AsManyPointsAsUnknownsAreNoMeasurement) {
  std::vector<MeasuredPoint> points =
      Points(slow_gap()).add(PointKind::kCopy, {1000, 100'000}, {1}).all;
  Calibration found = calibrate(points, base());
  EXPECT_NE(found.of(CalibratedFigure::kCopyRate).verdict, Verdict::kMeasured);
  EXPECT_EQ(found.platform.spec(), base().spec());
  points.push_back(measured(PointKind::kPost, 8, 1, slow_gap()));
  found = calibrate(points, base());
  EXPECT_EQ(found.platform.spec(), base().spec());
}

TEST(CalibrateGaps, SmallMessagesDoNotTellTheRate) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal(1, 0.02);
  auto points = Points(slow_gap()).add(PointKind::kPingpong, {8, 16, 24, 64}, {2, 4, 6, 8}).all;
  for (MeasuredPoint& point : points) point.seconds *= normal(random);
  const Calibration found = calibrate(points, base());
  expect_kept(found, CalibratedFigure::kRate, Verdict::kVague);
  EXPECT_EQ(found.platform.rate, base().rate);
}

TEST(CalibrateGaps, ZeroIsAnAnswer) {
  machine::Platform free = slow_gap();
  free.o_complete = sched::Time{0};
  free.o_post = sched::Time{0};
  const Calibration found = calibrate(Points(free)
                                          .pingpong()
                                          .send()
                                          .stream()
                                          .add(PointKind::kCopy, {1000, 50'000, 100'000}, {1, 2})
                                          .all,
                                      base());
  EXPECT_EQ(found.of(CalibratedFigure::kCopyStart).verdict, Verdict::kMeasured);
  EXPECT_NEAR(found.of(CalibratedFigure::kCopyStart).value, 0, 1e-15);
  EXPECT_EQ(found.platform.latency, free.latency);
}

TEST(CalibrateGaps, InterleavingNeedsBothSidesOfItsThreshold) {
  machine::Platform platform = slow_gap();
  platform.interleave_bytes = 4096;
  const auto with = [&](std::vector<std::uint64_t> sizes) {
    Points points(platform);
    points.pingpong().add(PointKind::kBehind, std::move(sizes), {1, 2, 3});
    return points.all;
  };
  Calibration found = calibrate(with({64, 4000, 5000, 9000}), base());
  EXPECT_EQ(found.of(CalibratedFigure::kInterleave).verdict, Verdict::kMeasured);
  EXPECT_EQ(found.platform.interleave_bytes, 4000u);
  EXPECT_EQ(found.of(CalibratedFigure::kInterleave).high, 4999);

  found = calibrate(with({64, 4000}), base());
  expect_kept(found, CalibratedFigure::kInterleave, Verdict::kVague);
  EXPECT_EQ(found.of(CalibratedFigure::kInterleave).at_least, 4000);
  found = calibrate(with({5000, 9000}), base());
  expect_kept(found, CalibratedFigure::kInterleave, Verdict::kVague);
  EXPECT_EQ(found.of(CalibratedFigure::kInterleave).at_most, 4999);

  auto odd = with({64, 4000, 5000, 9000});
  odd[odd.size() - 10].seconds *= 100;  // of 64 bytes
  found = calibrate(odd, base());
  EXPECT_EQ(found.platform.interleave_bytes, 4000u);
  EXPECT_EQ(found.outliers, 1u);

  // Without a rate, nobody can say what has waited.
  std::erase_if(odd, [](const MeasuredPoint& p) { return p.kind != PointKind::kBehind; });
  found = calibrate(odd, base());
  EXPECT_EQ(found.platform.spec(), base().spec());
  expect_kept(found, CalibratedFigure::kInterleave, Verdict::kVague);
}

TEST(CalibrateGaps, NothingIsRefused) { EXPECT_THROW(calibrate({}, base()), InputError); }

// Whatever the points, there is an answer, and the platform can be read back.
TEST(CalibrateGaps, AnyPointsHaveAnAnswer) {
  std::mt19937_64 random(5);
  const auto pick = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  for (int trial = 0; trial < cases(300); ++trial) {
    std::vector<MeasuredPoint> points;
    const int count = 1 + trial % 40;
    for (int i = 0; i < count; ++i) {
      MeasuredPoint point;
      point.kind = static_cast<PointKind>(random() % analysis::kPointKinds);
      point.bytes = point.kind == PointKind::kAtomic
                        ? 8
                        : static_cast<std::uint64_t>(pick(1, 1e15)) - (trial % 2);
      if (point.kind == PointKind::kCopy) ++point.bytes;
      point.messages = static_cast<std::uint64_t>(pick(1, 4e9));
      point.seconds = pick(1e-12, 1e6);
      if (trial % 3 == 0 && !points.empty()) point.seconds = points[0].seconds;
      points.push_back(point);
    }
    const Calibration found = calibrate(points, base());
    EXPECT_EQ(machine::parse_platform_spec(found.platform.spec()).spec(), found.platform.spec());
    EXPECT_EQ(found.points.size(), points.size());
    for (const analysis::FigureFit& figure : found.figures) {
      EXPECT_FALSE(std::isnan(figure.value)) << trial;
      if (figure.verdict != Verdict::kMeasured) continue;
      EXPECT_TRUE(std::isfinite(figure.value) && std::isfinite(figure.high)) << trial;
      EXPECT_LE(figure.low, figure.value) << trial;
      EXPECT_LE(figure.value, figure.high) << trial;
    }
  }
}

}  // namespace
}  // namespace slackline::testing
