// Rates and queues over time: senders that go to one port, against the curves of the authors of
// DCQCN's fluid model (Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
// TIMELY", CoNEXT 2016, section 3).
//
// Two sources. *Published*: the curves of the paper's figure "Impact of delay and number of flows
// on DCQCN stability", read off the vector graphics that the authors keep with the paper
// (github.com/jitupadhye-zz/rdma, paper/figures/stable_{rate,q}_{4,85}.pdf): rates to 0.01 Gb/s;
// the queue's axis is logarithmic and begins at 1 KB. *Solved*: the equations of the paper's
// figure "DCQCN fluid model", integrated apart from this project, by Heun's rule in steps of 25 ns.
// That program gives what the authors' own right-hand side gives (fluidmodel/dcqcn/dcqcn2.m,
// without PI) by Euler's rule in steps of 100 ns, but for the steps, and their published curves to
// 1 %. Figures are C = 40 Gb/s, packets of 1000 bytes, tau = 50 us, tau' = T = 55 us, F = 5, B = 10
// MB, R_AI = 40 Mb/s, g = 1/256, Kmin = 5 KB; senders begin at C with alpha = 1. Kmax, Pmax and
// tau* stand with each case: all curves of the figure but two senders' at 4 us have Kmax = 2000 KB
// and Pmax = 10 %, though the text has 200 KB and 1 %.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/engines/incast.h"

namespace slackline::analysis {
namespace {

using testing::Incast;

// Of one sender, and of the queue before the port.
struct Point {
  double ms;
  double rate_gbps;
  double queue_kb;
};

// Written down before anything was run: rates to 1 % of the fair share, queues to 2 % and 1 KB.
// Steps are 100 ns by Euler's rule.
void expect_near(const Incast& incast, std::uint32_t flow, double share_gbps, const Point& point,
                 const std::string& what) {
  EXPECT_NEAR(incast.rate_bytes_per_s(flow) * 8e-9, point.rate_gbps, 0.01 * share_gbps)
      << what << " at " << point.ms << " ms";
  EXPECT_NEAR(incast.queue_bytes() * 1e-3, point.queue_kb, 1 + 0.02 * point.queue_kb)
      << what << " at " << point.ms << " ms";
}

struct Case {
  std::uint32_t flows;
  std::string figures;
  std::vector<Point> solved;
  std::vector<Point> published;  // at the same times
};

TEST(DcqcnCurves, AreTheAuthors) {
  const std::vector<Case> cases = {
      // The queue fills, empties while rates are low, and comes to its fixed point.
      {2,
       "congestion=dcqcn,dcqcn_delay=4us",
       {{1, 16.7174, 0},
        {3, 18.1930, 0},
        {5, 19.6665, 0},
        {8, 20.0012, 12.391},
        {10, 20.0009, 12.860},
        {15, 20.0009, 13.959},
        {20, 20.0009, 15.085},
        {30, 20.0007, 17.176}},
       {{1, 16.706, 0},
        {3, 18.178, 0},
        {5, 19.657, 0},
        {8, 20.004, 12.37},
        {10, 20.004, 12.87},
        {15, 20.004, 13.97},
        {20, 20.004, 15.06},
        {30, 20.004, 17.16}}},
      // Rates and queue swing, and never come to rest.
      {10,
       "congestion=dcqcn,dcqcn_delay=85us,ecn_kmax=2000KB,ecn_pmax=10%",
       {{2, 0.2227, 0},
        {4, 1.6741, 0},
        {6, 3.1310, 0},
        {8, 3.9613, 116.803},
        {9, 4.1122, 75.642},
        {10, 3.9724, 58.640},
        {12, 4.0474, 83.625},
        {15, 4.0189, 82.051},
        {20, 3.9973, 91.359},
        {25, 3.9976, 108.248},
        {30, 3.9979, 104.774}},
       {{2, 0.222, 0},
        {4, 1.676, 0},
        {6, 3.122, 0},
        {8, 3.966, 116.56},
        {9, 4.110, 75.17},
        {10, 3.971, 58.45},
        {12, 4.045, 83.94},
        {15, 4.019, 81.93},
        {20, 3.997, 91.37},
        {25, 3.992, 108.08},
        {30, 4.003, 104.86}}},
  };
  for (const Case& c : cases) {
    Incast incast(std::vector<double>(c.flows, 0), c.figures);
    ASSERT_EQ(c.solved.size(), c.published.size());
    for (std::size_t i = 0; i < c.solved.size(); ++i) {
      ASSERT_EQ(c.solved[i].ms, c.published[i].ms);
      incast.go_on(c.solved[i].ms * 1e-3);
      for (const std::uint32_t flow : {0u, c.flows - 1}) {
        expect_near(incast, flow, 40.0 / c.flows, c.solved[i], c.figures + " solved");
        expect_near(incast, flow, 40.0 / c.flows, c.published[i], c.figures + " published");
      }
    }
    EXPECT_FALSE(incast.has_sent());
  }
}

// Rates that differ: two senders share the port, and at 30 ms a third begins, at C. Solved.
TEST(DcqcnCurves, AreTheAuthorsWhereASenderComesLate) {
  struct Both {
    double ms, first_gbps, third_gbps, queue_kb;
  };
  Incast incast({0, 0, 30e-3}, "congestion=dcqcn,dcqcn_delay=4us");
  for (const Both& at : std::vector<Both>{{31, 11.9480, 3.1055, 0},
                                          {32, 12.6849, 3.8381, 0},
                                          {35, 14.8874, 6.0273, 0},
                                          {40, 15.9793, 8.0468, 26.002},
                                          {50, 15.1156, 9.7698, 27.909},
                                          {60, 14.4890, 11.0228, 28.961}}) {
    incast.go_on(at.ms * 1e-3);
    expect_near(incast, 0, 40.0 / 3, {at.ms, at.first_gbps, at.queue_kb}, "first");
    expect_near(incast, 2, 40.0 / 3, {at.ms, at.third_gbps, at.queue_kb}, "third");
  }
}

// Before the port the queue of two senders grows by 500 bytes in each step of 100 ns. After the
// tenth it is above Kmin for the first time. So the eleventh is the first step whose packets are
// marked, and after the step that begins tau* later the rate is below C for the first time.
TEST(DcqcnCurves, SendersHearOfMarksAfterTheDelayToTheStep) {
  for (const int steps : {3, 10, 40, 41, 500, 850}) {
    Incast incast({0, 0},
                  "congestion=dcqcn,ecn_kmin=4900,dcqcn_delay=" + std::to_string(steps) + "00ns");
    int step = 0;
    do {
      incast.go_on(incast.now_s() + 100e-9);
      ++step;
    } while (incast.rate_bytes_per_s(0) == 5e9 && step < 1000);
    EXPECT_EQ(step, 10 + steps + 1);
  }
}

}  // namespace
}  // namespace slackline::analysis
