// DCQCN's equations, and what they come to in a network of queues.
#include "analysis/engines/dcqcn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/unit/engines/incast.h"

namespace slackline::analysis {
namespace {

constexpr double kLine = 5e9;  // 40 Gb/s, in bytes per second

// Where all derivatives are 0 ("ECN or Delay", section 3.1, theorem 1): N flows have C/N each, and
// p is the root of
//   a² alpha / ((b + d) (c + e)) = tau² R_AI C/N
// with a = 1 − (1 − p)^(tau C/N), alpha the same of tau', b = p / ((1 − p)^(−B) − 1),
// c = b (1 − p)^(FB), d = p / ((1 − p)^(−T C/N) − 1), e = d (1 − p)^(FT C/N). Here with the papers'
// figures at 40 Gb/s and 1000 bytes a packet; the left side grows with p.
double fixed_point_chance(double flows) {
  constexpr double kTau = 50e-6, kAlphaTau = 55e-6, kTimer = 55e-6, kCounter = 10e6 / 1000;
  constexpr double kRecovery = 5, kIncrease = 40e6 / 8 / 1000;
  const double rate = kLine / 1000 / flows;
  const auto surplus = [&](double p) {
    const double a = 1 - std::pow(1 - p, kTau * rate);
    const double alpha = 1 - std::pow(1 - p, kAlphaTau * rate);
    const double b = p / (std::pow(1 - p, -kCounter) - 1);
    const double c = b * std::pow(1 - p, kRecovery * kCounter);
    const double d = p / (std::pow(1 - p, -kTimer * rate) - 1);
    const double e = d * std::pow(1 - p, kRecovery * kTimer * rate);
    return a * a * alpha / ((b + d) * (c + e)) - kTau * kTau * kIncrease * rate;
  };
  double low = 1e-7, high = 0.01;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (surplus(middle) < 0 ? low : high) = middle;
  }
  return low;
}

// By RED's line, of 5 KB, 200 KB and 1 %.
double fixed_point_queue(double flows) { return 5e3 + fixed_point_chance(flows) / 0.01 * 195e3; }

TEST(Dcqcn, MarksByTheLineBetweenKminAndKmax) {
  const machine::Congestion congestion;
  for (const auto& [queue, chance] : std::vector<std::pair<double, double>>{
           {0, 0}, {5'000, 0}, {102'500, 0.005}, {200'000, 0.01}, {200'001, 1}, {1e9, 1}}) {
    EXPECT_NEAR(marking_chance(congestion, queue), chance, 1e-12) << queue;
  }
}

TEST(Dcqcn, StandsStillAtTheFixedPoint) {
  const machine::Congestion congestion;
  const DcqcnFigures figures(congestion, 1000);
  for (const double flows : {2.0, 10.0, 12.0}) {
    const double p = fixed_point_chance(flows);
    const double rate = kLine / 1000 / flows;
    // From the line's rate, under the marks of the fixed point and at its rate of packets, all of
    // the equations lead there: they are linear in R_T and R_C but for R_C alpha.
    DcqcnRate sender(figures, kLine / 1000);
    for (int step = 0; step < 300'000; ++step) sender.advance(5e-6, {p, rate});
    EXPECT_NEAR(sender.current(), rate, 1e-3 * rate) << flows;
    EXPECT_GT(sender.target(), sender.current()) << flows;
    EXPECT_NEAR(sender.alpha(), 1 - std::pow(1 - p, 55e-6 * rate), 1e-6) << flows;
  }
}

// Twice, from below: the exact rest against the same by small steps.
TEST(Dcqcn, RestsAsTheEquationsDoWithoutPackets) {
  const machine::Congestion congestion;
  const DcqcnFigures figures(congestion, 1000);
  DcqcnRate rests(figures, kLine / 1000);
  for (int step = 0; step < 300; ++step) rests.advance(1e-6, {1, kLine / 1000});
  EXPECT_LT(rests.current(), 0.1 * kLine / 1000);
  DcqcnRate steps = rests;
  for (const int count : {100'000, 900'000}) {
    rests.rest(count * 1e-7);
    for (int step = 0; step < count; ++step) steps.advance(1e-7, {});
    EXPECT_NEAR(rests.current(), steps.current(), 2e-3 * kLine / 1000) << count;
    EXPECT_NEAR(rests.target(), steps.target(), 2e-3 * kLine / 1000) << count;
    EXPECT_NEAR(rests.alpha(), steps.alpha(), 1e-3) << count;
  }
  EXPECT_NEAR(rests.current(), kLine / 1000, 1e-6 * kLine);
}

// Written down before anything was run: over 20 ms, from 0.18 s on, the queue's mean is within 5 %
// of the fixed point's and stays within 10 % of it, and each of the flows, which began a
// millisecond apart, may send C/N to 5 %.
TEST(Dcqcn, LeadsQueueAndRatesToTheFixedPoint) {
  for (const std::uint32_t flows : {2u, 10u}) {
    std::vector<double> starts_s;
    for (std::uint32_t f = 0; f < flows; ++f) starts_s.push_back(f * 1e-3);
    testing::Incast incast(starts_s, "congestion=dcqcn,congestion_step=1us");
    incast.go_on(0.18);
    incast.forget();
    incast.go_on(0.2);
    ASSERT_FALSE(incast.has_sent());
    const double queue = fixed_point_queue(flows);
    EXPECT_GT(queue, 5e3);
    EXPECT_LT(queue, 200e3);
    EXPECT_NEAR(incast.mean(), queue, 0.05 * queue) << flows;
    EXPECT_NEAR(incast.least(), queue, 0.1 * queue) << flows;
    EXPECT_NEAR(incast.most(), queue, 0.1 * queue) << flows;
    for (std::uint32_t f = 0; f < flows; ++f) {
      const double share = kLine / flows;
      EXPECT_NEAR(incast.rate_bytes_per_s(f), share, 0.05 * share) << flows;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
