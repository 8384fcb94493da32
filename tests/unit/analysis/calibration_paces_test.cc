// What paces measured streams and bursts: the bounds, and the search for it.
#include "analysis/fit/calibration_paces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace slackline::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MeasuredPoint point(PointKind kind, std::uint64_t bytes, std::uint64_t messages,
                    double seconds = 1) {
  return {kind, bytes, messages, seconds};
}

TEST(Paces, TheWirePacesFromItsSizeOn) {
  Paces paces;
  paces.stream_wire = 100;
  paces.burst_wire = 200;
  const auto of = [&](PointKind kind, std::uint64_t bytes) {
    return paces.of(point(kind, bytes, 4));
  };
  for (const bool posting : {false, true}) {
    paces.posting = posting;
    EXPECT_EQ(of(PointKind::kStream, 99), posting ? Pace::kPost : Pace::kGap);
    EXPECT_EQ(of(PointKind::kStream, 100), Pace::kWire);
    EXPECT_EQ(of(PointKind::kBurst, 199), Pace::kGap);
    EXPECT_EQ(of(PointKind::kBurst, 200), Pace::kWire);
  }
}

TEST(Paces, PacedSizesAreOfStreamsAndBurstsOfSeveral) {
  EXPECT_THAT(paced_sizes(std::vector<MeasuredPoint>{
                  point(PointKind::kStream, 30, 2), point(PointKind::kBurst, 10, 5),
                  point(PointKind::kStream, 30, 9), point(PointKind::kStream, 40, 1),
                  point(PointKind::kBurst, 50, 1), point(PointKind::kSend, 60, 4),
                  point(PointKind::kBurst, 20, 2), point(PointKind::kPingpong, 70, 2)}),
              ElementsAre(10, 20, 30));
  EXPECT_THAT(paced_sizes({}), IsEmpty());
}

TEST(Paces, UnderFiguresAreOfTheFirstSizeThatTakesLonger) {
  Unknowns figures{};
  figures[index_of(Unknown::kByte)] = 1;
  figures[index_of(Unknown::kGap)] = 20;
  figures[index_of(Unknown::kPost)] = 30;
  const std::vector<std::uint64_t> sizes = {10, 20, 21, 30, 31};
  const Paces gap = paces_under(figures, false, sizes);
  EXPECT_EQ(gap, (Paces{false, 21, 21}));
  EXPECT_EQ(paces_under(figures, true, sizes), (Paces{true, 31, 21}));
  figures[index_of(Unknown::kPost)] = 31;
  EXPECT_EQ(paces_under(figures, true, sizes), (Paces{true, Paces::kNever, 21}));
  figures[index_of(Unknown::kGap)] = 31;
  EXPECT_EQ(paces_under(figures, false, sizes), (Paces{false, Paces::kNever, Paces::kNever}));
  EXPECT_EQ(paces_under(figures, false, {}), (Paces{false, Paces::kNever, Paces::kNever}));
}

TEST(Paces, EquationsAreTheModelsRowsInGroupsByKind) {
  const std::vector<MeasuredPoint> points = {point(PointKind::kStream, 50, 4, 7),
                                             point(PointKind::kBurst, 150, 3, 8),
                                             point(PointKind::kCopy, 9, 2, 9)};
  const Paces paces{true, 100, 100};
  const LinearModel model = equations_of(points, paces);
  const Pace expected[] = {Pace::kPost, Pace::kWire, Pace::kGap};
  ASSERT_EQ(model.rows(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Unknowns row = row_of(points[i], expected[i]);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), model.row(i).begin(), model.row(i).end())) << i;
    EXPECT_EQ(model.observed[i], points[i].seconds);
    EXPECT_EQ(model.group[i], static_cast<std::uint32_t>(points[i].kind));
  }
}

// Points as the model has them.
std::vector<MeasuredPoint> exact(const Unknowns& figures, std::vector<MeasuredPoint> points) {
  for (MeasuredPoint& p : points) p.seconds = predicted_s(p, figures);
  return points;
}

Unknowns figures(double post, double complete, double gap, double latency, double byte) {
  Unknowns all{};
  all[index_of(Unknown::kPost)] = post;
  all[index_of(Unknown::kComplete)] = complete;
  all[index_of(Unknown::kGap)] = gap;
  all[index_of(Unknown::kLatency)] = latency;
  all[index_of(Unknown::kByte)] = byte;
  return all;
}

// Streams of one size, so many that a wire five times as slow would meet them all: what speaks
// against it are two round trips. The search must begin with streams that the wire never paces,
// too.
TEST(Paces, OneSizeMayBePacedByTheWireOrNot) {
  const std::vector<MeasuredPoint> shape = {
      point(PointKind::kPost, 1000, 8),     point(PointKind::kPost, 1000, 9),
      point(PointKind::kPingpong, 1000, 8), point(PointKind::kPingpong, 9000, 8),
      point(PointKind::kStream, 1000, 10),  point(PointKind::kStream, 1000, 20),
      point(PointKind::kStream, 1000, 30),  point(PointKind::kStream, 1000, 40),
      point(PointKind::kStream, 1000, 50),  point(PointKind::kStream, 1000, 60),
      point(PointKind::kStream, 1000, 70),  point(PointKind::kStream, 1000, 80)};
  const PacedFit by_gap = find_paces(exact(figures(1e-7, 2e-7, 5e-6, 1e-6, 1e-9), shape), false);
  EXPECT_EQ(by_gap.paces, (Paces{false, Paces::kNever, Paces::kNever}));
  EXPECT_NEAR(by_gap.x[index_of(Unknown::kGap)], 5e-6, 1e-12);
  EXPECT_NEAR(by_gap.x[index_of(Unknown::kByte)], 1e-9, 1e-15);
  EXPECT_NEAR(by_gap.loss, 0, 1e-9);
  const PacedFit by_wire = find_paces(exact(figures(1e-7, 2e-7, 2e-7, 1e-6, 1e-9), shape), false);
  EXPECT_EQ(by_wire.paces, (Paces{false, 1000, 1000}));
  EXPECT_NEAR(by_wire.loss, 0, 1e-9);
}

TEST(Paces, TheSizeFromWhichTheWirePacesIsFound) {
  const std::uint64_t sizes[] = {500, 1000, 2000, 4000, 8000, 16000};
  for (const double gap : {0.7e-6, 1.5e-6, 3e-6, 6e-6, 12e-6}) {
    std::vector<MeasuredPoint> shape = {
        point(PointKind::kPost, 500, 8),     point(PointKind::kPost, 500, 16),
        point(PointKind::kPingpong, 500, 8), point(PointKind::kPingpong, 9000, 8),
        point(PointKind::kSend, 500, 8),     point(PointKind::kSend, 9000, 8)};
    for (const std::uint64_t bytes : sizes) {
      for (const std::uint64_t messages : {8, 16}) {
        shape.push_back(point(PointKind::kStream, bytes, messages));
        shape.push_back(point(PointKind::kBurst, bytes, messages));
      }
    }
    const PacedFit found = find_paces(exact(figures(1e-7, 2e-7, gap, 1e-6, 1e-9), shape), false);
    std::uint64_t expected = 0;
    for (const std::uint64_t bytes : sizes) {
      if (expected == 0 && static_cast<double>(bytes) * 1e-9 > gap) expected = bytes;
    }
    EXPECT_EQ(found.paces.stream_wire, expected) << gap;
    EXPECT_NEAR(found.loss, 0, 1e-6) << gap;
    EXPECT_NEAR(found.x[index_of(Unknown::kGap)], gap, 1e-6 * gap);
  }
}

TEST(Paces, RepetitionsAreOnePointAsOftenAsTheyWere) {
  const auto repeated = [](std::uint64_t messages, std::vector<double> seconds) {
    std::vector<MeasuredPoint> points;
    for (const double s : seconds) points.push_back(point(PointKind::kPost, 8, messages, s));
    return points;
  };
  const auto post = [](const PacedFit& fit) { return fit.x[index_of(Unknown::kPost)]; };
  // The lower median.
  const PacedFit four = find_paces(repeated(1, {10, 1, 3, 2}), false);
  EXPECT_NEAR(post(four), 2, 1e-9);
  EXPECT_NEAR(four.loss, 0, 1e-9);
  EXPECT_NEAR(post(find_paces(repeated(1, {10, 1, 3}), false)), 3, 1e-9);
  // Three say that a post takes 1 s, two that it takes 2 s.
  std::vector<MeasuredPoint> both = repeated(1, {1, 1, 1});
  for (const MeasuredPoint& p : repeated(2, {4, 4})) both.push_back(p);
  const PacedFit found = find_paces(both, false);
  EXPECT_NEAR(post(found), 1, 1e-5);
  EXPECT_NEAR(found.loss, 2 * 0.5, 1e-5);
}

}  // namespace
}  // namespace slackline::analysis
