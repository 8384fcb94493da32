// What completions cost, from points of the event engine with noise: each figure comes back within
// its interval where points tell it apart, and is said to be in another where none do.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analysis/fit/calibrate.h"
#include "tests/support/sanitized.h"
#include "tests/unit/analysis/measured.h"

namespace slackline::testing {
namespace {

using analysis::calibrate;
using analysis::CalibratedFigure;
using analysis::Calibration;
using analysis::FigureFit;
using analysis::Verdict;

constexpr std::array kOfCompletions = {CalibratedFigure::kPostRecv, CalibratedFigure::kSignal,
                                       CalibratedFigure::kPoll, CalibratedFigure::kMatch};

machine::Platform machine_of(const std::string& spec) { return machine::parse_platform_spec(spec); }

void add(std::vector<MeasuredPoint>& points, const machine::Platform& platform, PointKind kind,
         std::initializer_list<std::uint64_t> sizes,
         std::initializer_list<std::uint64_t> messages) {
  for (const std::uint64_t bytes : sizes) {
    for (const std::uint64_t m : messages) points.push_back(measured(kind, bytes, m, platform));
  }
}

// What a program has without looking at single completions.
std::vector<MeasuredPoint> plain_points(const machine::Platform& platform) {
  std::vector<MeasuredPoint> points;
  add(points, platform, PointKind::kPost, {8}, {16, 48});
  for (const PointKind kind : {PointKind::kPingpong, PointKind::kSend}) {
    add(points, platform, kind, {8, 1024, 65'536, 500'000}, {2, 6});
  }
  add(points, platform, PointKind::kStream, {8, 512, 16'384, 262'144}, {16, 32});
  add(points, platform, PointKind::kBurst, {8, 512, 16'384}, {16, 32});
  return points;
}

std::vector<MeasuredPoint> all_points(const machine::Platform& platform) {
  std::vector<MeasuredPoint> points = plain_points(platform);
  add(points, platform, PointKind::kPostRecv, {8}, {16, 48});
  add(points, platform, PointKind::kSignaled, {1 << 20}, {8, 16});
  add(points, platform, PointKind::kDrain, {1 << 17}, {1, 8, 16});
  add(points, platform, PointKind::kDrainRecv, {64}, {1, 8, 16});
  return points;
}

std::vector<MeasuredPoint> noisy(const std::vector<MeasuredPoint>& exact, int times,
                                 double relative, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, relative);
  std::vector<MeasuredPoint> points;
  for (int i = 0; i < times; ++i) {
    for (MeasuredPoint point : exact) {
      point.seconds *= 1 + normal(random);
      points.push_back(point);
    }
  }
  return points;
}

// Each of another shape: what matters of a receive, of a look, of a signal; batches.
constexpr std::array kMachines = {
    "star:rate=40Gbps,latency=1.3us,o_post=150ns,o_complete=630ns,gap=310ns,o_post_recv=60ns,"
    "o_signal=70ns,o_poll=240ns,o_match=130ns",
    "star:rate=100Gbps,latency=600ns,o_post=200ns,o_complete=900ns,gap=20ns,o_signal=110ns,"
    "o_poll=90ns,o_match=400ns",
    "star:rate=25Gbps,latency=2us,o_post=100ns,o_complete=800ns,gap=50ns,o_post_recv=300ns,"
    "o_signal=50ns,o_poll=500ns,o_match=90ns,poll_batch=4",
};
// Far from them in every figure; batches are not fitted.
machine::Platform base_for(const machine::Platform& platform) {
  machine::Platform base = machine_of(
      "star:rate=17Gbps,latency=11us,o_post=13ns,o_complete=17ns,gap=19ns,o_post_recv=11ns,"
      "o_signal=7ns,o_poll=5ns,o_match=3ns");
  base.poll_batch = platform.poll_batch;
  return base;
}

// All but exact: differences of times of milliseconds have no more digits.
TEST(CalibrateCompletions, ExactPointsGiveTheFigures) {
  std::mt19937_64 random(1);
  for (const char* spec : kMachines) {
    const machine::Platform platform = machine_of(spec);
    const Calibration found =
        calibrate(noisy(all_points(platform), 2, 1e-7, random), base_for(platform));
    for (const CalibratedFigure f :
         {CalibratedFigure::kPost, CalibratedFigure::kComplete, CalibratedFigure::kLatency,
          CalibratedFigure::kPostRecv, CalibratedFigure::kSignal, CalibratedFigure::kPoll,
          CalibratedFigure::kMatch}) {
      EXPECT_EQ(found.of(f).verdict, Verdict::kMeasured) << name(f) << " of " << spec;
      EXPECT_NEAR(found.of(f).value, truth_of(f, platform), 1e-4 * truth_of(f, platform))
          << name(f) << " of " << spec;
    }
    const auto near = [&](sched::Time got, sched::Time expected) {
      EXPECT_NEAR(sched::seconds(got), sched::seconds(expected), 1e-4 * sched::seconds(expected));
    };
    near(found.platform.post_of_receive(), platform.post_of_receive());
    near(found.platform.o_signal, platform.o_signal);
    near(found.platform.o_poll, platform.o_poll);
    near(found.platform.o_match, platform.o_match);
    EXPECT_EQ(found.platform.poll_batch, platform.poll_batch);
  }
}

TEST(CalibrateCompletions, EachFigureIsWithinItsIntervalUnderNoise) {
  const int trials = cases(60);
  for (const char* spec : kMachines) {
    const machine::Platform platform = machine_of(spec);
    const std::vector<MeasuredPoint> exact = all_points(platform);
    std::mt19937_64 random(7);
    std::array<int, kOfCompletions.size()> within{};
    for (int trial = 0; trial < trials; ++trial) {
      const Calibration found = calibrate(noisy(exact, 4, 0.01, random), base_for(platform));
      for (std::size_t i = 0; i < kOfCompletions.size(); ++i) {
        const FigureFit& fit = found.of(kOfCompletions[i]);
        const double truth = truth_of(kOfCompletions[i], platform);
        EXPECT_EQ(fit.verdict, Verdict::kMeasured) << name(fit.figure) << " of " << spec;
        EXPECT_NEAR(fit.value, truth, 0.2 * truth) << name(fit.figure) << " of " << spec;
        within[i] += fit.low <= truth && truth <= fit.high ? 1 : 0;
      }
    }
    if (trials < 60) continue;  // too few to count, under a sanitizer
    for (std::size_t i = 0; i < kOfCompletions.size(); ++i) {
      // 95 %, less four standard deviations of such a count.
      const double least = 0.95 * trials - 4 * std::sqrt(0.95 * 0.05 * trials);
      EXPECT_GE(within[i], least) << name(kOfCompletions[i]) << " of " << spec;
    }
  }
}

// Without points of their own, o_complete is all that passes until a completion was seen, and what
// the platform says of it is no cost of the processor's.
TEST(CalibrateCompletions, AreInOCompleteWhereNothingTellsThemApart) {
  const machine::Platform platform = machine_of(
      "star:rate=100Gbps,latency=600ns,o_post=200ns,o_complete=300ns,gap=20ns,o_signal=50ns,"
      "o_poll=90ns");
  const Calibration found = calibrate(plain_points(platform), base_for(platform));
  for (const CalibratedFigure f : kOfCompletions) {
    EXPECT_EQ(found.of(f).verdict,
              f == CalibratedFigure::kPostRecv ? Verdict::kNoPoints : Verdict::kWithin)
        << name(f);
    EXPECT_EQ(found.of(f).points, 0u);
  }
  EXPECT_NEAR(found.of(CalibratedFigure::kLatency).value, 600e-9, 60e-9);
  EXPECT_NEAR(found.of(CalibratedFigure::kComplete).value, 440e-9, 60e-9);
  EXPECT_EQ(found.platform.o_signal.count() + found.platform.o_poll.count() +
                found.platform.o_match.count(),
            0);
}

TEST(CalibrateCompletions, SaysWhatItCannotTellApart) {
  const machine::Platform platform = machine_of(kMachines[0]);
  std::vector<MeasuredPoint> points = plain_points(platform);
  add(points, platform, PointKind::kDrainRecv, {64}, {4, 8, 16});
  const Calibration one_each = calibrate(points, base_for(platform));
  // One look for each: only the sum is seen. Signals are nowhere apart.
  for (const CalibratedFigure f : {CalibratedFigure::kPoll, CalibratedFigure::kMatch}) {
    EXPECT_EQ(one_each.of(f).verdict, Verdict::kTogether) << name(f);
  }
  EXPECT_EQ(one_each.of(CalibratedFigure::kSignal).verdict, Verdict::kWithin);
  // What is kept is the base's.
  EXPECT_EQ(one_each.platform.o_poll, base_for(platform).o_poll);

  add(points, platform, PointKind::kDrain, {1 << 17}, {4, 8, 16});
  const Calibration both = calibrate(points, base_for(platform));
  for (const CalibratedFigure f : {CalibratedFigure::kPoll, CalibratedFigure::kMatch}) {
    EXPECT_EQ(both.of(f).verdict, Verdict::kMeasured) << name(f);
    EXPECT_NEAR(both.of(f).value, truth_of(f, platform), 0.01 * truth_of(f, platform)) << name(f);
  }
}

}  // namespace
}  // namespace slackline::testing
