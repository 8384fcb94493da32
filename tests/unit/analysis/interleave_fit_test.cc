// What points of kind `behind` say of the interleave size.
#include "analysis/fit/interleave_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace slackline::analysis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kByteS = 1e-9;

// Behind two messages of 1 MiB: the bound is the time of one of them and of its own bytes.
constexpr std::uint64_t kMessages = 2;
double bound_s(std::uint64_t bytes) {
  return (static_cast<double>(bytes) + static_cast<double>(kAheadBytes)) * kByteS;
}
MeasuredPoint point(std::uint64_t bytes, bool waited) {
  return {PointKind::kBehind, bytes, kMessages, bound_s(bytes) * (waited ? 1.001 : 0.999)};
}
std::vector<MeasuredPoint> points(
    std::initializer_list<std::pair<std::uint64_t, std::vector<bool>>> all) {
  std::vector<MeasuredPoint> made;
  for (const auto& [bytes, waited] : all) {
    for (const bool w : waited) made.push_back(point(bytes, w));
  }
  return made;
}

TEST(InterleaveFit, IsBetweenTheLargestThatTravelsAndTheLeastThatWaits) {
  const InterleaveFit fit = fit_interleave(points({{100, {false, false, false}},
                                                   {200, {false, false, false}},
                                                   {300, {true, true, true}},
                                                   {400, {true, true, true}}}),
                                           kByteS);
  EXPECT_EQ(fit.travels, 200u);
  EXPECT_EQ(fit.waits, 300u);
  EXPECT_EQ(fit.points, 12u);
  EXPECT_THAT(fit.odd, Each(false));
}

TEST(InterleaveFit, WaitedIsWhatTakesLongerThanHalfOfWhatWasAhead) {
  MeasuredPoint at = point(300, false);
  at.seconds = bound_s(300);
  EXPECT_EQ(fit_interleave(std::vector(3, at), kByteS).travels, 300u);
  EXPECT_EQ(fit_interleave(std::vector(3, point(300, true)), kByteS).waits, 300u);
}

TEST(InterleaveFit, ThreePointsOfASizeSayAndMostOfThemDecide) {
  const auto fit = [](const std::vector<bool>& waited) {
    return fit_interleave(points({{100, waited}}), kByteS);
  };
  EXPECT_EQ(fit({true, true}).waits, std::nullopt);
  EXPECT_EQ(fit({false, false}).travels, std::nullopt);
  EXPECT_EQ(fit({true, true, false}).waits, 100u);
  EXPECT_EQ(fit({true, true, false}).travels, std::nullopt);
  EXPECT_EQ(fit({false, true, false}).travels, 100u);
  EXPECT_EQ(fit({false, true, false}).waits, std::nullopt);
  // As many for as against say nothing.
  EXPECT_EQ(fit({false, true, false, true}).travels, std::nullopt);
  EXPECT_EQ(fit({false, true, false, true}).waits, std::nullopt);
  EXPECT_THAT(fit({true, false, true}).odd, ElementsAre(false, true, false));
  EXPECT_THAT(fit({false, false, true}).odd, ElementsAre(false, false, true));
}

TEST(InterleaveFit, SizesThatContradictEachOtherSayNothing) {
  const InterleaveFit fit =
      fit_interleave(points({{100, {true, true, true}}, {200, {false, false, false}}}), kByteS);
  EXPECT_EQ(fit.travels, std::nullopt);
  EXPECT_EQ(fit.waits, std::nullopt);
}

TEST(InterleaveFit, OtherKindsAndUnknownRatesAreLeftOut) {
  std::vector<MeasuredPoint> all = points({{100, {true, true, true}}});
  all.insert(all.begin(), {PointKind::kSend, 100, kMessages, 1});
  InterleaveFit fit = fit_interleave(all, kByteS);
  EXPECT_EQ(fit.points, 3u);
  EXPECT_THAT(fit.odd, ElementsAre(false, false, false, false));
  fit = fit_interleave(all, 0);
  EXPECT_EQ(fit.points, 3u);
  EXPECT_EQ(fit.travels, std::nullopt);
  EXPECT_EQ(fit.waits, std::nullopt);
  EXPECT_THAT(fit.odd, ElementsAre(false, false, false, false));
}

}  // namespace
}  // namespace slackline::analysis
