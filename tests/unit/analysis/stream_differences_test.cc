// The rate by streams, and points that contradict it.
#include "analysis/fit/stream_differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analysis/fit/calibrate.h"
#include "machine/platform.h"
#include "tests/unit/analysis/measured.h"

namespace slackline::analysis {
namespace {

using testing::measured;

constexpr double kByteS = 8 / 100e6;
constexpr const char* kShaped =
    "star:rate=100Mbps,latency=80us,o_post=10us,o_complete=10us,gap=15us,atomic_service=5us";

machine::Platform shaped() { return machine::parse_platform_spec(kShaped); }

Paces wire_from(std::uint64_t bytes) {
  Paces paces;
  paces.stream_wire = paces.burst_wire = bytes;
  return paces;
}

MeasuredPoint stream(std::uint64_t bytes, std::uint64_t messages, double seconds) {
  return {PointKind::kStream, bytes, messages, seconds, 0};
}

// As calibrate measures them, with errors of half a percent, and single messages now and
// then up to `late_s` late. A single message comes sooner by `early_s`, or by nearly all of its
// bytes' time; so does a stream, once.
std::vector<MeasuredPoint> points_of_network(double early_s, double late_s = 0, int repeats = 8) {
  struct MeasuredSetting {
    PointKind kind;
    std::uint64_t bytes, messages;
  };
  std::vector<MeasuredSetting> settings = {{PointKind::kPost, 8, 16}, {PointKind::kPost, 8, 48}};
  for (const std::uint64_t bytes : {8u, 512u, 4096u, 32768u, 262144u, 1048576u}) {
    settings.push_back({PointKind::kPingpong, bytes, 8});
    settings.push_back({PointKind::kSend, bytes, 4});
    settings.push_back({PointKind::kStream, bytes, bytes > 262144 ? 4u : 16u});
  }
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 0.005);
  std::uniform_real_distribution<double> late(0, late_s);
  std::vector<MeasuredPoint> points;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const MeasuredSetting& setting : settings) {
      MeasuredPoint point = measured(setting.kind, setting.bytes, setting.messages, shaped());
      if (setting.kind != PointKind::kPost) {
        const double early = std::min(early_s, 0.9 * kByteS * static_cast<double>(setting.bytes));
        const bool once = setting.kind == PointKind::kStream;
        point.seconds -= early * static_cast<double>(once ? 1 : setting.messages);
      }
      point.seconds *= 1 + normal(random);
      const bool single = setting.kind == PointKind::kPingpong || setting.kind == PointKind::kSend;
      if (single) point.seconds += late(random) * static_cast<double>(setting.messages);
      points.push_back(point);
    }
  }
  return points;
}

TEST(StreamDifferences, AreOfTheLongestAgainstShortOnes) {
  const std::vector<MeasuredPoint> points = {
      stream(1000, 2, 0.5),  stream(1000, 10, 1),
      stream(1000, 40, 4),   stream(1000, 20, 2),
      stream(1000, 10, 1.5), stream(20000, 2, 5),
      stream(10, 40, 0.1),   {PointKind::kPingpong, 1000, 40, 9, 0}};
  const auto found = stream_differences(points, wire_from(1000));
  // 10,000 bytes are a quarter of 40,000; two streams of so many meet two short ones in turn, and
  // 20,000 bytes are half of 40,000.
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].longer, 3u);
  EXPECT_EQ(found[0].bytes, 10000);
  EXPECT_EQ(found[0].seconds, 1);
  EXPECT_EQ(found[1].longer, 2u);
  EXPECT_EQ(found[1].bytes, 30000);
  EXPECT_EQ(found[1].seconds, 3);
  EXPECT_EQ(found[2].longer, 5u);
  EXPECT_EQ(found[2].seconds, 3.5);
}

TEST(StreamDifferences, WhatTakesNoLongerSaysNothing) {
  const std::vector<MeasuredPoint> points = {stream(1000, 10, 2), stream(1000, 40, 2)};
  EXPECT_TRUE(stream_differences(points, wire_from(1000)).empty());
  EXPECT_TRUE(stream_differences(points, wire_from(1001)).empty());
  EXPECT_TRUE(stream_differences({}, wire_from(1)).empty());
}

TEST(StreamPace, NeedsEightThatAgree) {
  std::vector<StreamDifference> differences(7, {0, 1000, 1});
  EXPECT_FALSE(stream_pace(differences).has_value());
  differences.push_back({0, 2000, 2});
  const auto pace = stream_pace(differences);
  ASSERT_TRUE(pace.has_value());
  EXPECT_NEAR(pace->byte_s, 1e-3, 1e-12);
  EXPECT_NEAR(pace->low, 0.995e-3, 1e-12);
  EXPECT_NEAR(pace->high, 1.005e-3, 1e-12);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i].seconds *= 1 + 0.1 * static_cast<double>(i);
  }
  EXPECT_FALSE(stream_pace(differences).has_value());
}

TEST(CalibrateContradiction, PointsThatAgreeAreFittedTogether) {
  const auto points = points_of_network(0);
  const Calibration found = calibrate(points, machine::parse_platform_spec("star:rate=1Gbps"));
  EXPECT_FALSE(found.contradiction.has_value());
  EXPECT_TRUE(std::ranges::none_of(found.points, [](const PointFit& p) { return p.left_out; }));
}

TEST(CalibrateContradiction, AShaperThatIsEarlyDoesNotMoveTheRate) {
  const auto points = points_of_network(800e-6);
  const Calibration found = calibrate(points, machine::parse_platform_spec("star:rate=1Gbps"));
  ASSERT_TRUE(found.contradiction.has_value());
  EXPECT_GT(found.contradiction->low, 100e6 / 8);
  EXPECT_LT(found.contradiction->low, found.contradiction->together);
  EXPECT_LT(found.contradiction->together, found.contradiction->high);
  const FigureFit& rate = found.of(CalibratedFigure::kRate);
  EXPECT_EQ(rate.verdict, Verdict::kMeasured);
  EXPECT_LE(rate.low, 100e6 / 8);
  EXPECT_GE(rate.high, 100e6 / 8);
  EXPECT_LT(rate.high / rate.low, 1.05);
  // What is left out is no outlier, has no weight, and was early.
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PointFit& point = found.points[i];
    if (!point.left_out) continue;
    ++left_out;
    EXPECT_EQ(point.weight, 0);
    EXPECT_GT(points[i].bytes, 8u);
  }
  EXPECT_EQ(found.contradiction->left_out, left_out);
  EXPECT_GT(left_out, points.size() / 2);
  EXPECT_LT(found.contradiction->off_low, -0.1);
  EXPECT_LE(found.contradiction->off_low, found.contradiction->off_high);
  EXPECT_LE(found.outliers + left_out, points.size());
  // Small messages still tell the rest.
  const FigureFit& post = found.of(CalibratedFigure::kPost);
  EXPECT_EQ(post.verdict, Verdict::kMeasured);
  EXPECT_NEAR(post.value, 10e-6, 1e-6);
}

// Few points, of which the single messages are now and then late: what all say together is so vague
// that it does not exclude the rate, and off all the same.
TEST(CalibrateContradiction, WhoKnowsLessDoesNotMoveTheRate) {
  const auto points = points_of_network(200e-6, 2e-3, 4);
  const Calibration found = calibrate(points, machine::parse_platform_spec("star:rate=1Gbps"));
  ASSERT_TRUE(found.contradiction.has_value());
  EXPECT_LE(found.contradiction->low, 100e6 / 8);
  EXPECT_GE(found.contradiction->high, 100e6 / 8);
  EXPECT_GT(found.contradiction->together, 1.005 * 100e6 / 8);
  const FigureFit& rate = found.of(CalibratedFigure::kRate);
  EXPECT_NEAR(rate.value, 100e6 / 8, 0.005 * 100e6 / 8);
  EXPECT_LE(rate.low, 100e6 / 8);
  EXPECT_GE(rate.high, 100e6 / 8);
}

}  // namespace
}  // namespace slackline::analysis
