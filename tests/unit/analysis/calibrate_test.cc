// Calibration on points from the event engine: what goes in comes out, and nothing else does.
#include "analysis/fit/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <tuple>

#include "tests/support/sanitized.h"
#include "tests/unit/analysis/measured.h"

namespace slackline::testing {
namespace {

using analysis::calibrate;
using analysis::CalibratedFigure;
using analysis::Calibration;
using analysis::FigureFit;
using analysis::kFigures;
using analysis::Verdict;

// Far from the base in every figure; a gap longer than a post, so that streams show it.
constexpr const char* kMachine =
    "star:rate=40Gbps,latency=1.3us,o_post=150ns,o_complete=230ns,gap=310ns,atomic_service=420ns,"
    "copy_rate=9GBps,interleave=8KiB";

machine::Platform machine_of(const std::string& spec) { return machine::parse_platform_spec(spec); }
machine::Platform base() {
  return machine_of(
      "star:rate=17Gbps,latency=11us,o_post=13ns,o_complete=17ns,gap=19ns,atomic_service=23ns,"
      "copy_rate=29Gbps,interleave=31B");
}

std::vector<MeasuredPoint> measured_on(const machine::Platform& platform,
                                       std::initializer_list<PointKind> kinds) {
  std::vector<MeasuredPoint> points;
  for (const PointKind kind : kinds) {
    const auto add = [&](std::uint64_t bytes, std::uint64_t messages) {
      points.push_back(measured(kind, bytes, messages, platform));
    };
    switch (kind) {
      case PointKind::kPost:
        for (const std::uint64_t m : {8u, 16u, 64u}) add(8, m);
        break;
      case PointKind::kAtomic:
        for (const std::uint64_t m : {1u, 4u, 10u}) add(8, m);
        break;
      case PointKind::kStream:
      case PointKind::kBurst:
        for (const std::uint64_t b : {8u, 64u, 512u, 2048u, 16'384u, 262'144u}) {
          add(b, 16);
          add(b, 32);
        }
        break;
      case PointKind::kBehind:
        for (const std::uint64_t b : {64u, 4096u, 8192u, 8200u, 100'000u}) {
          for (const std::uint64_t m : {1u, 2u, 3u}) add(b, m);
        }
        break;
      default:
        for (const std::uint64_t b : {8u, 1024u, 65'536u, 500'000u}) {
          add(b, 2);
          add(b, 6);
        }
    }
  }
  return points;
}

std::vector<MeasuredPoint> all_kinds(const machine::Platform& platform) {
  return measured_on(platform, {PointKind::kPost, PointKind::kPingpong, PointKind::kSend,
                                PointKind::kGet, PointKind::kAtomic, PointKind::kStream,
                                PointKind::kBurst, PointKind::kCopy, PointKind::kBehind});
}

// Of which no point here speaks: calibrate_completions_test.cc has those.
bool of_completions(CalibratedFigure figure) {
  return figure >= CalibratedFigure::kPostRecv && figure <= CalibratedFigure::kMatch;
}

void add_noise(std::vector<MeasuredPoint>& points, std::mt19937_64& random, double relative) {
  std::normal_distribution<double> normal(0, relative);
  for (MeasuredPoint& point : points) point.seconds *= std::max(0.2, 1 + normal(random));
}

// A share of them 10 to 100 times too long, as where somebody else had the core.
void preempt(std::vector<MeasuredPoint>& points, std::mt19937_64& random, double share) {
  std::uniform_real_distribution<double> uniform(0, 1);
  for (MeasuredPoint& point : points) {
    const bool struck = uniform(random) < share;
    const double times = std::pow(10, 1 + uniform(random));
    if (struck) point.seconds *= times;
  }
}

std::vector<MeasuredPoint> repeated(const std::vector<MeasuredPoint>& points, int times) {
  std::vector<MeasuredPoint> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), points.begin(), points.end());
  return all;
}

void expect_measured(const Calibration& found, const machine::Platform& platform, double tolerance,
                     const std::string& what) {
  for (std::size_t f = 0; f < kFigures; ++f) {
    const FigureFit& figure = found.figures[f];
    if (of_completions(figure.figure)) continue;
    const double truth = truth_of(figure.figure, platform);
    EXPECT_EQ(figure.verdict, Verdict::kMeasured) << what << ' ' << name(figure.figure);
    const double scale = figure.figure == CalibratedFigure::kCopyStart ? 1e-6 : truth;
    EXPECT_NEAR(figure.value, truth, tolerance * scale) << what << ' ' << name(figure.figure);
    EXPECT_LE(figure.low, figure.value) << what << ' ' << name(figure.figure);
    EXPECT_GE(figure.high, figure.value) << what << ' ' << name(figure.figure);
  }
}

TEST(Calibrate, FindsTheFiguresOfTheEngine) {
  for (const char* spec :
       {kMachine,
        // o_post longer than the gap: only bursts show it
        "star:rate=100Gbps,latency=600ns,o_post=200ns,o_complete=200ns,gap=20ns,"
        "atomic_service=250ns,copy_rate=64Gbps,interleave=8KiB",
        // the wire is slower than either for all but the smallest
        "star:rate=1Gbps,latency=20us,o_post=90ns,o_complete=1us,gap=100ns,atomic_service=5us,"
        "copy_rate=3GBps,interleave=4KiB"}) {
    const machine::Platform platform = machine_of(spec);
    const Calibration found = calibrate(all_kinds(platform), base());
    expect_measured(found, platform, 1e-9, spec);
    EXPECT_EQ(found.platform.spec(), platform.spec());
    EXPECT_EQ(found.outliers, 0u);
    EXPECT_LT(found.worst_relative, 1e-9);
  }
}

// A line code takes its share of every byte, so that messages have another rate than the line: that
// is what is found, and the base's own packets, codes and PCIe are none of the machine's.
TEST(Calibrate, FindsTheRateThatMessagesGet) {
  machine::Platform coded = machine_of(kMachine);
  coded.framing.coding_payload_bits = 4;
  coded.framing.coding_line_bits = 5;
  machine::Platform with_code = base();
  with_code.framing = {1'500, 82, 64, 66};
  with_code.pcie = {sched::Rate{20'000'000'000}, 256, 24};
  const Calibration found = calibrate(all_kinds(coded), with_code);
  machine::Platform plain = machine_of(kMachine);
  plain.rate = sched::Rate{32'000'000'000};
  EXPECT_EQ(found.platform.spec(), plain.spec());
}

// A post and a latency that were measured have in them whoever shared the queue pair, and the hops.
TEST(Calibrate, LeavesNeitherSharersNorHopsBehind) {
  machine::Platform shared = base();
  shared.node.qp_sharer = shared.node.numa_hop = sched::Time{100'000};
  const machine::Platform truth = machine_of(kMachine);
  EXPECT_EQ(calibrate(all_kinds(truth), shared).platform.spec(), truth.spec());
}

// What was measured has in it whatever the base said of signals and looks.
TEST(Calibrate, LeavesNoCostOfCompletionsBehind) {
  machine::Platform costly = base();
  costly.o_poll = costly.o_match = costly.o_signal = sched::Time{100'000};
  costly.poll_batch = 4;
  costly.service_thread = true;
  costly.switch_cost = sched::Time{300'000};
  const machine::Platform truth = machine_of(kMachine);
  EXPECT_EQ(calibrate(all_kinds(truth), costly).platform.spec(), truth.spec());
}

// Nor of acknowledgements and of a NIC's reads.
TEST(Calibrate, LeavesNoTimeOfAnswersBehind) {
  machine::Platform slow = base();
  slow.ack_bytes = 64;
  slow.nic_read = sched::Time{500'000};
  const machine::Platform truth = machine_of(kMachine);
  EXPECT_EQ(calibrate(all_kinds(truth), slow).platform.spec(), truth.spec());
}

TEST(Calibrate, RepeatsItself) {
  std::mt19937_64 random(1);
  std::vector<MeasuredPoint> points = all_kinds(machine_of(kMachine));
  add_noise(points, random, 0.02);
  const Calibration a = calibrate(points, base());
  const Calibration b = calibrate(points, base());
  for (std::size_t f = 0; f < kFigures; ++f) {
    EXPECT_EQ(a.figures[f].value, b.figures[f].value);
    EXPECT_EQ(a.figures[f].high, b.figures[f].high);
  }
}

// How often an interval holds the truth, over seeded trials.
struct Coverage {
  std::array<int, kFigures> held{};
  std::array<int, kFigures> measured{};
  std::array<double, kFigures> worst{};  // relative error
  int trials = 0;
};

Coverage coverage_of(const machine::Platform& platform, const std::vector<MeasuredPoint>& exact,
                     double noise, double struck, int trials) {
  Coverage coverage;
  coverage.trials = trials;
  for (int trial = 0; trial < trials; ++trial) {
    std::mt19937_64 random(static_cast<std::uint64_t>(trial) + 1);
    std::vector<MeasuredPoint> points = exact;
    add_noise(points, random, noise);
    preempt(points, random, struck);
    const Calibration found = calibrate(points, base());
    for (std::size_t f = 0; f < kFigures; ++f) {
      const FigureFit& figure = found.figures[f];
      if (figure.verdict != Verdict::kMeasured) continue;
      const double truth = truth_of(figure.figure, platform);
      ++coverage.measured[f];
      if (figure.low <= truth && truth <= figure.high) ++coverage.held[f];
      if (truth > 0) {
        coverage.worst[f] = std::max(coverage.worst[f], std::abs(figure.value / truth - 1));
      }
    }
  }
  return coverage;
}

// Also where rounding decides: of so few points, whether they vouch for each other.
TEST(Calibrate, TheOrderOfThePointsDoesNotMatter) {
  std::vector<MeasuredPoint> points = {
      {PointKind::kGet, 65'536, 1, 1e-6},
      {PointKind::kGet, 4096, 4, 1e-6},
      {PointKind::kSend, 4096, 4, 1e-6},
  };
  const auto by_size = [](const MeasuredPoint& a, const MeasuredPoint& b) {
    return std::tie(a.kind, a.bytes) < std::tie(b.kind, b.bytes);
  };
  std::sort(points.begin(), points.end(), by_size);
  const Calibration first = calibrate(points, base());
  while (std::next_permutation(points.begin(), points.end(), by_size)) {
    const Calibration found = calibrate(points, base());
    for (std::size_t f = 0; f < kFigures; ++f) {
      EXPECT_EQ(found.figures[f].verdict, first.figures[f].verdict)
          << name(first.figures[f].figure);
      EXPECT_EQ(found.figures[f].value, first.figures[f].value) << name(first.figures[f].figure);
    }
  }
}

TEST(Calibrate, IntervalsHoldTheTruth) {
  const machine::Platform platform = machine_of(kMachine);
  const auto exact = repeated(all_kinds(platform), 3);
  constexpr int kTrials = cases(500);
  constexpr double kWider = kSanitized ? 3 : 1;  // the bounds on shares, of a tenth of the trials
  for (const double struck : {0.0, 0.1}) {
    const Coverage found = coverage_of(platform, exact, 0.01, struck, kTrials);
    int held = 0;
    int measured = 0;
    for (std::size_t f = 0; f < kFigures; ++f) {
      const auto figure = static_cast<CalibratedFigure>(f);
      if (of_completions(figure)) continue;
      EXPECT_GE(found.measured[f], kTrials * 9 / 10) << name(figure);
      // Five standard deviations of a count whose mean is 95 %.
      EXPECT_GE(found.held[f], (1 - 0.1 * kWider) * found.measured[f]) << name(figure);
      if (figure == CalibratedFigure::kInterleave) continue;
      held += found.held[f];
      measured += found.measured[f];
    }
    EXPECT_GE(held, (0.955 - 0.02 * kWider) * measured);
    EXPECT_LE(held, (0.955 + 0.02 * kWider) * measured) << "wider than they need be";
    for (const CalibratedFigure f :
         {CalibratedFigure::kPost, CalibratedFigure::kGap, CalibratedFigure::kLatency,
          CalibratedFigure::kRate, CalibratedFigure::kCopyRate, CalibratedFigure::kInterleave}) {
      EXPECT_LT(found.worst[static_cast<std::size_t>(f)], 0.04) << name(f);
    }
    // The rest are small parts of what they are measured by.
    EXPECT_LT(found.worst[static_cast<std::size_t>(CalibratedFigure::kComplete)], 0.4);
    EXPECT_LT(found.worst[static_cast<std::size_t>(CalibratedFigure::kAtomicService)], 0.4);
  }
}

TEST(Calibrate, WhatIsTooNoisyIsRatherKeptThanWrong) {
  const machine::Platform platform = machine_of(kMachine);
  const Coverage found =
      coverage_of(platform, repeated(all_kinds(platform), 3), 0.1, 0.1, cases(200));
  for (std::size_t f = 0; f < kFigures; ++f) {
    EXPECT_LT(found.worst[f], 0.6) << name(static_cast<CalibratedFigure>(f));
  }
  EXPECT_EQ(found.measured[static_cast<std::size_t>(CalibratedFigure::kRate)], cases(200));
  EXPECT_LT(found.measured[static_cast<std::size_t>(CalibratedFigure::kComplete)], 20);
}

TEST(Calibrate, OutliersAreNamed) {
  std::mt19937_64 random(3);
  std::vector<MeasuredPoint> points = repeated(all_kinds(machine_of(kMachine)), 2);
  add_noise(points, random, 0.01);
  std::vector<std::size_t> struck;
  for (std::size_t i = 5; i < points.size(); i += 11) {
    if (points[i].kind == PointKind::kBehind) continue;
    struck.push_back(i);
    points[i].seconds *= 10;
  }
  const Calibration found = calibrate(points, base());
  std::vector<std::size_t> outliers;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (found.points[i].weight == 0) outliers.push_back(i);
  }
  EXPECT_EQ(outliers, struck);
  EXPECT_EQ(found.outliers, struck.size());
  EXPECT_NEAR(found.median_relative, 0.00674, 0.002);
  EXPECT_LT(found.worst_relative, 0.05);
}

}  // namespace
}  // namespace slackline::testing
