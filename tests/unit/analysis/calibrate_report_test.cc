// What a calibration says of its points, against the definitions of its fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "analysis/fit/calibrate.h"
#include "analysis/fit/calibration_model.h"
#include "analysis/fit/standard_measurements.h"
#include "tests/unit/analysis/measured.h"

namespace slackline::analysis {
namespace {

machine::Platform slow() {
  return machine::parse_platform_spec(
      "star:rate=10Gbps,latency=2us,o_post=300ns,o_complete=400ns,gap=500ns,atomic_service=700ns,"
      "copy_rate=20Gbps,interleave=8KiB");
}

// Three rounds of the standard measurements, with noise; every 17th takes seven times as long.
std::vector<MeasuredPoint> noisy(std::uint32_t seed) {
  const MeasuringSchedule measuring = measuring_schedule(standard_measurements(3, true, 4 << 20));
  std::vector<MeasuredPoint> points =
      points_of(measuring, run_events({measuring.schedule, slow()}));
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].seconds *= 1 + 0.0001 * static_cast<double>(random() % 100);
    if (i % 17 == 9) points[i].seconds *= 7;
  }
  return points;
}

// The upper one of the two in the middle.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST(CalibrateReport, IsOfThePointsThatAreNoOutliers) {
  for (const std::uint32_t seed : {1, 2, 3}) {
    const std::vector<MeasuredPoint> points = noisy(seed);
    const Calibration found = calibrate(points, machine::Platform{});
    ASSERT_EQ(found.points.size(), points.size());
    const Unknowns figures = unknowns_of(found.platform);
    std::vector<double> all;
    std::size_t outliers = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const PointFit& fit = found.points[i];
      outliers += fit.weight == 0 ? 1 : 0;
      if (points[i].kind == PointKind::kBehind) {
        EXPECT_EQ(fit.fitted_s, 0);
        EXPECT_EQ(fit.relative, 0);
        continue;
      }
      EXPECT_EQ(fit.platform_s, predicted_s(points[i], figures));
      EXPECT_DOUBLE_EQ(fit.relative, points[i].seconds / fit.fitted_s - 1);
      // All figures but a copy's start come from the points, so the platform is the fit.
      EXPECT_NEAR(fit.platform_s, fit.fitted_s, 0.02 * fit.fitted_s);
      if (fit.weight != 0) all.push_back(std::abs(fit.relative));
    }
    EXPECT_GT(outliers, 3u);
    EXPECT_EQ(found.outliers, outliers);
    EXPECT_EQ(found.median_relative, median(all));
    EXPECT_EQ(found.worst_relative, *std::max_element(all.begin(), all.end()));
    EXPECT_EQ(std::abs(found.points[found.worst].relative), found.worst_relative);
    EXPECT_NE(found.points[found.worst].weight, 0);

    // The standard measurements have no kind that is of completions.
    constexpr int kStandardKinds = static_cast<int>(PointKind::kBehind) + 1;
    ASSERT_EQ(found.kinds.size(), static_cast<std::size_t>(kStandardKinds));
    for (int k = 0; k < kStandardKinds; ++k) {
      const KindFit& kind = found.kinds[static_cast<std::size_t>(k)];
      EXPECT_EQ(kind.kind, static_cast<PointKind>(k));
      std::size_t count = 0;
      std::size_t of_outliers = 0;
      std::vector<double> relative;
      std::vector<double> off;
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i].kind != kind.kind) continue;
        ++count;
        of_outliers += found.points[i].weight == 0 ? 1 : 0;
        if (found.points[i].weight == 0 || kind.kind == PointKind::kBehind) continue;
        relative.push_back(std::abs(found.points[i].relative));
        off.push_back(found.points[i].platform_s / points[i].seconds - 1);
      }
      EXPECT_EQ(kind.points, count);
      EXPECT_EQ(kind.outliers, of_outliers);
      EXPECT_EQ(kind.median_relative, median(relative));
      EXPECT_EQ(kind.platform_off, median(off));
    }
  }
}

TEST(CalibrateReport, CountsThePointsThatSpeakOfAFigure) {
  const std::vector<MeasuredPoint> points = noisy(4);
  const Calibration found = calibrate(points, machine::Platform{});
  const auto count = [&](const auto& speaks) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (found.points[i].weight != 0 && speaks(points[i].kind)) ++n;
    }
    return n;
  };
  using Kind = PointKind;
  EXPECT_EQ(found.of(CalibratedFigure::kAtomicService).points,
            count([](Kind k) { return k == Kind::kAtomic; }));
  EXPECT_EQ(found.of(CalibratedFigure::kCopyRate).points,
            count([](Kind k) { return k == Kind::kCopy; }));
  EXPECT_EQ(found.of(CalibratedFigure::kCopyStart).points,
            count([](Kind k) { return k == Kind::kCopy; }));
  EXPECT_EQ(found.of(CalibratedFigure::kLatency).points, count([](Kind k) {
              return k != Kind::kPost && k != Kind::kCopy && k != Kind::kBehind;
            }));
  std::size_t behind = 0;
  for (const MeasuredPoint& point : points) behind += point.kind == Kind::kBehind ? 1 : 0;
  EXPECT_EQ(found.of(CalibratedFigure::kInterleave).points, behind);
}

// A post that no point tells alone is no longer than the gap that paced a stream.
TEST(CalibrateReport, AStreamPacedByAGapBoundsThePost) {
  std::vector<MeasuredPoint> points;
  for (const PointKind kind : {PointKind::kPingpong, PointKind::kSend}) {
    for (const std::uint64_t bytes : {8, 1024, 65'536, 500'000}) {
      for (const std::uint64_t m : {2, 6}) {
        points.push_back(testing::measured(kind, bytes, m, slow()));
      }
    }
  }
  for (const std::uint64_t bytes : {8, 16, 32}) {
    for (const std::uint64_t m : {16, 32, 64}) {
      points.push_back(testing::measured(PointKind::kBurst, bytes, m, slow()));
      points.push_back(testing::measured(PointKind::kStream, bytes, m, slow()));
    }
  }
  const Calibration found = calibrate(points, machine::Platform{});
  ASSERT_EQ(found.of(CalibratedFigure::kGap).verdict, Verdict::kMeasured);
  EXPECT_NEAR(found.of(CalibratedFigure::kGap).value, 500e-9, 1e-12);
  EXPECT_FALSE(found.of(CalibratedFigure::kGap).at_most);
  if (found.of(CalibratedFigure::kPost).verdict != Verdict::kMeasured) {
    ASSERT_TRUE(found.of(CalibratedFigure::kPost).at_most);
    EXPECT_EQ(*found.of(CalibratedFigure::kPost).at_most, found.of(CalibratedFigure::kGap).high);
  }
}

}  // namespace
}  // namespace slackline::analysis
