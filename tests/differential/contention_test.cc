// Messages that share: every engine against closed forms, derived by hand above each test. Times
// are counted from when the first message may begin, o_post after the start. R is the NIC's rate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "machine/platform.h"
#include "sched/schedule.h"
#include "sim/simgrid_engine.h"
#include "tests/property/random_runs.h"
#include "tests/unit/analysis/program.h"

namespace slackline {
namespace {

using machine::NicDiscipline;
using machine::Platform;
using sched::Schedule;
using sched::Trace;
using testing::ChannelId;
using testing::Dice;
using testing::us;

constexpr double kRate = 1e9;  // bytes per second, of every NIC here
constexpr NicDiscipline kDisciplines[] = {NicDiscipline::kSerial, NicDiscipline::kFair};

Platform platform_of(const std::string& network, NicDiscipline nic) {
  return machine::parse_platform_spec(network +
                                      "rate=8Gbps,latency=1us,o_post=100ns,o_complete=200ns,nic=" +
                                      (nic == NicDiscipline::kFair ? "fair" : "serial"));
}

struct Flow {
  std::uint32_t src;
  std::uint32_t dst;
  std::uint64_t bytes;
  sched::Time start{0};
};

double seconds(std::uint64_t bytes) { return static_cast<double>(bytes) / kRate; }

// Each flow is a channel with one message. Receives have a lane of their own, so that every send
// that is ready is issued o_post later; a start is a delay before the send. Sends of one rank have
// a lane each if `own_lanes`, or else one together.
Schedule schedule_of(std::uint32_t ranks, const std::vector<Flow>& flows, bool own_lanes = true) {
  testing::Program program(ranks);
  std::vector<ChannelId> channels;
  for (const Flow& flow : flows) channels.push_back(program.channel(flow.src, flow.dst));
  for (std::size_t i = 0; i < flows.size(); ++i) program.recv(channels[i], flows[i].bytes, 1);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto lane = static_cast<std::uint16_t>(own_lanes ? 2 + i : 2);
    const auto wait = program.delay(flows[i].src, flows[i].start);
    program.after({wait}, program.send(channels[i], flows[i].bytes, lane));
  }
  return program.build();
}

// When the last byte of each flow had left. Also holds that the receiver saw it and the sender
// learnt of it when they should, given that.
std::vector<double> ends_of(const Schedule& schedule, const Platform& platform,
                            const Trace& trace) {
  const double latency_s = sched::seconds(platform.latency);
  const double complete_s = sched::seconds(platform.o_complete);
  std::vector<double> ends(schedule.channels().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (op.kind != sched::OpKind::kSend) continue;
    const sched::OpTimes& seen = trace.ops[op.match.value];
    ends[op.channel.value] = seen.wire_s - latency_s - sched::seconds(platform.o_post);
    EXPECT_NEAR(seen.done_s, seen.wire_s + complete_s, 1e-12);
    EXPECT_NEAR(trace.ops[i].done_s, seen.wire_s + latency_s + complete_s, 1e-12);
  }
  return ends;
}

// SimGrid begins a flow 2 ps into its instant with so much less to carry: exact if it is alone, and
// early by as much as 2 ps for each that it shares with. The other engines are exact, but that what
// ends less than a picosecond apart ends at once.
void expect_ends(const std::vector<double>& ends, const std::vector<double>& expected,
                 const std::string& what) {
  ASSERT_EQ(ends.size(), expected.size()) << what;
  const double last_s = *std::max_element(expected.begin(), expected.end());
  const double near_s = 1e-9 * last_s + 4e-12 * static_cast<double>(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_NEAR(ends[i], expected[i], near_s) << what << ", flow " << i;
  }
}

// Both engines that share.
void expect_shared(const Schedule& schedule, const Platform& platform,
                   const std::vector<double>& expected, const std::string& what,
                   const machine::DelayPlan& plan = {}) {
  expect_ends(ends_of(schedule, platform, sim::run_simgrid({schedule, platform, plan})), expected,
              what + ", SimGrid");
  const machine::Wiring wiring(platform, schedule.rank_count());
  const Trace flows = analysis::run_flows({schedule, platform, wiring, plan});
  EXPECT_FALSE(flows.contended) << what;
  expect_ends(ends_of(schedule, platform, flows), expected, what + ", flow");
}

// All engines; nothing is contended.
void expect_everywhere(const Schedule& schedule, const Platform& platform,
                       const std::vector<double>& expected, const std::string& what) {
  expect_shared(schedule, platform, expected, what);
  for (const Trace& trace :
       {analysis::run_events({schedule, platform}), analysis::run_analytic({schedule, platform})}) {
    expect_ends(ends_of(schedule, platform, trace), expected, what + ", " + trace.engine);
    EXPECT_FALSE(trace.contended) << what << ", " << trace.engine;
  }
}

// Two engines share; the others give every flow its full rate, `alone`, and say so.
void expect_contended(const Schedule& schedule, const Platform& platform,
                      const std::vector<double>& expected, const std::vector<double>& alone,
                      const std::string& what) {
  expect_shared(schedule, platform, expected, what);
  for (const Trace& trace :
       {analysis::run_events({schedule, platform}), analysis::run_analytic({schedule, platform})}) {
    expect_ends(ends_of(schedule, platform, trace), alone, what + ", " + trace.engine);
    EXPECT_TRUE(trace.contended) << what << ", " << trace.engine;
  }
}

std::vector<std::uint64_t> random_sizes(Dice& dice, std::uint32_t count) {
  std::vector<std::uint64_t> sizes(count);
  for (std::uint64_t& bytes : sizes) bytes = 20'000 + dice.below(1'000'000);
  return sizes;
}

std::vector<double> alone(const std::vector<Flow>& flows) {
  std::vector<double> ends;
  for (const Flow& flow : flows) ends.push_back(sched::seconds(flow.start) + seconds(flow.bytes));
  return ends;
}

// Flows that begin together and share a rate R alike until they end. While the (j+1)-th smallest is
// carried, those as large or larger get as much each, and the smaller have all they want: with
// sizes sorted, b_0 <= … <= b_{m-1},
//   end of j = (b_0 + … + b_{j-1} + (m - j) b_j) / R.
std::vector<double> shared_ends(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return sizes[a] < sizes[b]; });
  std::vector<double> ends(sizes.size());
  std::uint64_t smaller = 0;
  for (std::size_t j = 0; j < order.size(); ++j) {
    ends[order[j]] = seconds(smaller + (sizes.size() - j) * sizes[order[j]]);
    smaller += sizes[order[j]];
  }
  return ends;
}

// One after another, in order: end of j = (b_0 + … + b_j) / R.
std::vector<double> queued_ends(const std::vector<std::uint64_t>& sizes) {
  std::vector<double> ends;
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : sizes) ends.push_back(seconds(sum += bytes));
  return ends;
}

std::vector<Flow> incast(const std::vector<std::uint64_t>& sizes) {
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < sizes.size(); ++i) flows.push_back({i + 1, 0, sizes[i]});
  return flows;
}

// m senders into one receiver: its in-port is what they share. Fair: shared_ends(); with equal
// sizes all end at m b / R. Serial: all head their queues in one instant, so the order is that of
// the operations, hence of the senders: queued_ends(), and the i-th of equal ones ends at
// (i + 1) b / R.
TEST(Contention, Incast) {
  for (std::uint32_t m = 2; m <= 16; ++m) {
    Dice dice(m);
    for (const bool equal : {true, false}) {
      const std::vector<std::uint64_t> sizes =
          equal ? std::vector<std::uint64_t>(m, 100'000) : random_sizes(dice, m);
      const std::vector<Flow> flows = incast(sizes);
      const Schedule schedule = schedule_of(m + 1, flows);
      const std::string what = std::to_string(m) + (equal ? " equal" : " unequal");
      const std::vector<double> fair = shared_ends(sizes);
      if (equal) {
        EXPECT_EQ(fair, std::vector<double>(m, seconds(m * 100'000u)));
      }
      expect_contended(schedule, platform_of("star:", NicDiscipline::kFair), fair, alone(flows),
                       what + ", fair");
      expect_everywhere(schedule, platform_of("star:", NicDiscipline::kSerial), queued_ends(sizes),
                        what + ", serial");
    }
  }
}

// One sender to m receivers, all issued at once: as an incast, but that it is the sender's
// out-port, and its queue, that they share.
TEST(Contention, Outcast) {
  for (std::uint32_t m = 2; m <= 16; ++m) {
    Dice dice(100 + m);
    const std::vector<std::uint64_t> sizes = random_sizes(dice, m);
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i < m; ++i) flows.push_back({0, i + 1, sizes[i]});
    const Schedule schedule = schedule_of(m + 1, flows);
    const std::string what = std::to_string(m);
    expect_contended(schedule, platform_of("star:", NicDiscipline::kFair), shared_ends(sizes),
                     alone(flows), what + ", fair");
    expect_everywhere(schedule, platform_of("star:", NicDiscipline::kSerial), queued_ends(sizes),
                      what + ", serial");
  }
}

// The same from one lane, which posts them o_post apart, on a serial NIC with a gap g that some of
// the messages are shorter than: the i-th (from 0) begins at
//   s_i = max(i o_post, s_{i-1} + max(g, b_{i-1} / R)), s_0 = 0, and ends at s_i + b_i / R.
TEST(Contention, OutcastOfOneLaneWithAGap) {
  for (std::uint32_t m = 2; m <= 16; ++m) {
    Dice dice(200 + m);
    Platform platform = platform_of("star:", NicDiscipline::kSerial);
    platform.gap = us(30);
    platform.o_post = us(20);
    std::vector<Flow> flows;
    std::vector<double> expected;
    double start_s = 0;
    for (std::uint32_t i = 0; i < m; ++i) {
      flows.push_back({0, i + 1, 10'000 + dice.below(40'000)});
      start_s = std::max(start_s, i * 20e-6);
      expected.push_back(start_s + seconds(flows[i].bytes));
      start_s += std::max(30e-6, seconds(flows[i].bytes));
    }
    // Receives are posted within 20 us each on ranks of their own: never last.
    expect_everywhere(schedule_of(m + 1, flows, false), platform, expected, std::to_string(m));
  }
}

// Two flows from one rack to another over an uplink of rate C = R, b1 bytes from 0 on and b2 from t
// on, by NICs of their own. If b1 <= C t they never meet: ends b1 / C and t + b2 / C. Otherwise
// r = b1 - C t is left of the first at t, and both go on at C / 2. The one with less left, min(r,
// b2) = x, ends at t + 2 x / C. The uplink has not idled since 0, so the other ends when all has
// passed, at (b1 + b2) / C.
TEST(Contention, TwoFlowsThatBeginAtDifferentTimes) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const std::vector<std::uint64_t> sizes = random_sizes(dice, 2);
    const std::vector<Flow> flows = {{0, 2, sizes[0]}, {1, 3, sizes[1], us(1 + dice.below(1'000))}};
    const double t = sched::seconds(flows[1].start);
    const double b1_s = seconds(sizes[0]);
    const double b2_s = seconds(sizes[1]);
    const bool meet = b1_s > t;
    std::vector<double> expected = alone(flows);
    if (meet) {
      const double r_s = b1_s - t;
      expected = {r_s <= b2_s ? t + 2 * r_s : b1_s + b2_s,
                  r_s <= b2_s ? b1_s + b2_s : t + 2 * b2_s};
    }
    for (const NicDiscipline nic : kDisciplines) {
      const Platform platform = platform_of("two-level:racks=2,hosts=2,uplink=8Gbps,", nic);
      const Schedule schedule = schedule_of(4, flows);
      const std::string what = "seed " + std::to_string(seed);
      if (meet) {
        expect_contended(schedule, platform, expected, alone(flows), what);
      } else {
        expect_everywhere(schedule, platform, expected, what);
      }
    }
  }
}

// k flows of b bytes over an uplink of rate C, the i-th from i d on. With n under way each has
// p(n) = min(R, C / n). Let none end before the last has begun, at T = (k - 1) d: d (p(1) + … +
// p(k-1)) <= b. By T flow i has carried d (p(i+1) + … + p(k-1)), which leaves
//   r_i = b - d (p(i+1) + … + p(k-1)),
// least for the first. From T on they end in order, i when k - i are under way:
//   end of i = end of (i-1) + (r_i - r_{i-1}) / p(k-i), with end of -1 = T and r_{-1} = 0.
TEST(Contention, FlowsThatBeginOneAfterAnother) {
  for (std::uint32_t k = 2; k <= 12; ++k) {
    for (const std::uint64_t uplink_gbps : {8, 20, 32}) {
      const double uplink = static_cast<double>(uplink_gbps) / 8 * 1e9;
      const auto rate = [&](std::uint32_t n) { return std::min(kRate, uplink / n); };
      double until_last = 0;  // bytes that the first carries by then, per second of d
      for (std::uint32_t n = 1; n < k; ++n) until_last += rate(n);
      const std::uint64_t bytes = 900'000;
      // Two thirds of the most that d may be, in whole nanoseconds.
      const auto d_ns = static_cast<std::int64_t>(bytes / until_last * 1e9 * 2 / 3);
      std::vector<Flow> flows;
      std::vector<double> left(k, static_cast<double>(bytes));
      for (std::uint32_t i = 0; i < k; ++i) {
        flows.push_back({i, k + i, bytes, sched::Time{i * d_ns * 1'000}});
        for (std::uint32_t n = i + 1; n < k; ++n)
          left[i] -= rate(n) * static_cast<double>(d_ns) / 1e9;
      }
      std::vector<double> expected;
      double end_s = sched::seconds(flows.back().start);
      double before = 0;
      for (std::uint32_t i = 0; i < k; ++i) {
        end_s += (left[i] - before) / rate(k - i);
        before = left[i];
        expected.push_back(end_s);
      }
      const std::string network = "two-level:racks=2,hosts=" + std::to_string(k) +
                                  ",uplink=" + std::to_string(uplink_gbps) + "Gbps,";
      const std::string what = std::to_string(k) + " flows, " + std::to_string(uplink_gbps);
      for (const NicDiscipline nic : kDisciplines) {
        const Platform platform = platform_of(network, nic);
        if (uplink < k * kRate) {
          expect_contended(schedule_of(2 * k, flows), platform, expected, alone(flows), what);
        } else {
          expect_everywhere(schedule_of(2 * k, flows), platform, expected, what);
        }
      }
    }
  }
}

// The fair NIC's gap g makes the same staircase of an outcast that is issued at once: d = g and C =
// R, so p(n) = R / n.
TEST(Contention, AFairNicBeginsMessagesAGapApart) {
  for (std::uint32_t k = 2; k <= 8; ++k) {
    Platform platform = platform_of("star:", NicDiscipline::kFair);
    platform.gap = us(5);
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i < k; ++i) flows.push_back({0, i + 1, 100'000});
    std::vector<double> expected;
    double end_s = (k - 1) * 5e-6;
    double before_s = 0;
    for (std::uint32_t i = 0; i < k; ++i) {
      double left_s = seconds(100'000);
      for (std::uint32_t n = i + 1; n < k; ++n) left_s -= 5e-6 / n;
      end_s += (left_s - before_s) * (k - i);
      before_s = left_s;
      expected.push_back(end_s);
    }
    expect_shared(schedule_of(k + 1, flows), platform, expected, std::to_string(k));
  }
}

// A rack of h hosts, a of them sending to a partner each in another rack, the uplink's rate being
// U = h R / s at an oversubscription of s: each has min(R, U / a), so it takes b / R max(1, a s /
// h). The uplinks are full duplex: the other rack may do the same at the same time.
TEST(Contention, TheUplinkOfARack) {
  for (const std::uint32_t h : {1u, 2u, 4u, 7u, 16u}) {
    for (const std::uint32_t s : {1u, 2u, 4u, 8u}) {
      for (const std::uint32_t a : {1u, (h + 1) / 2, h}) {
        for (const bool both_ways : {false, true}) {
          std::vector<Flow> flows;
          for (std::uint32_t i = 0; i < a; ++i) {
            flows.push_back({i, h + i, 100'000});
            if (both_ways) flows.push_back({h + i, i, 100'000});
          }
          const double slower = std::max(1.0, static_cast<double>(a * s) / h);
          const std::vector<double> expected(flows.size(), seconds(100'000) * slower);
          const Schedule schedule = schedule_of(2 * h, flows);
          const std::string what = std::to_string(a) + " of " + std::to_string(h) +
                                   " hosts, oversubscription " + std::to_string(s);
          for (const NicDiscipline nic : kDisciplines) {
            const Platform platform =
                platform_of("two-level:racks=2,hosts=" + std::to_string(h) +
                                ",oversubscription=" + std::to_string(s) + ",",
                            nic);
            // A flow alone has the rate of its slowest link: the uplink's if that is below R.
            const double alone_slower = std::max(1.0, static_cast<double>(s) / h);
            if (slower == alone_slower) {
              expect_everywhere(schedule, platform, expected, what);
            } else {
              const std::vector<double> full(flows.size(), seconds(100'000) * alone_slower);
              expect_contended(schedule, platform, expected, full, what);
            }
          }
        }
      }
    }
  }
}

// Within a rack nobody meets the uplink, however slow it is.
TEST(Contention, TheUplinkDoesNotSlowTheRack) {
  const std::vector<Flow> flows = {{0, 1, 100'000}, {2, 3, 100'000}, {4, 5, 70'000}};
  for (const NicDiscipline nic : kDisciplines) {
    expect_everywhere(schedule_of(8, flows),
                      platform_of("two-level:racks=2,hosts=4,oversubscription=64,", nic),
                      alone(flows), "in the rack");
  }
}

// What passes one way takes nothing from the other: both have R. A ring of n, where every port is
// in use both ways, too.
TEST(Contention, OppositeWaysDoNotShare) {
  for (const NicDiscipline nic : kDisciplines) {
    const std::vector<Flow> pair = {{0, 1, 500'000}, {1, 0, 800'000}};
    expect_everywhere(schedule_of(2, pair), platform_of("star:", nic), alone(pair), "pair");
    expect_everywhere(schedule_of(4, {{0, 2, 500'000}, {2, 0, 800'000}}),
                      platform_of("two-level:racks=2,hosts=2,uplink=8Gbps,", nic), alone(pair),
                      "racks");
    for (std::uint32_t n = 3; n <= 16; ++n) {
      std::vector<Flow> ring;
      for (std::uint32_t i = 0; i < n; ++i) ring.push_back({i, (i + 1) % n, 60'000 + 1'000 * i});
      expect_everywhere(schedule_of(n, ring), platform_of("star:", nic), alone(ring),
                        "ring of " + std::to_string(n));
    }
  }
}

// Max-min, where equal shares of each port would do less: rank 0 sends to 1, 2 and 3, so each has
// R / 3; rank 4, which sends to 3 as well, has the 2 R / 3 that are left of 3's in-port. With b
// bytes for 0's flows and 2 b for 4's, all end at 3 b / R. A pair's own rate of R / 6 from 0 to 1
// leaves 5 R / 12 each for its other two, and 7 R / 12 for 4's: with sizes in proportion, all end
// at once.
TEST(Contention, IsMaxMinFair) {
  const Platform platform = platform_of("star:", NicDiscipline::kFair);
  const std::vector<Flow> flows = {
      {0, 1, 120'000}, {0, 2, 120'000}, {0, 3, 120'000}, {4, 3, 240'000}};
  expect_contended(schedule_of(5, flows), platform, std::vector<double>(4, seconds(360'000)),
                   alone(flows), "shares");

  const std::vector<Flow> slow = {{0, 1, 20'000}, {0, 2, 50'000}, {0, 3, 50'000}, {4, 3, 70'000}};
  machine::DelayPlan plan;
  // In whole bits per second, 2/3 of one above it: 5e-10 of the time.
  plan.pairs.push_back({sched::RankId(0), sched::RankId(1), {1'333'333'334}});
  const Schedule schedule = schedule_of(5, slow);
  expect_shared(schedule, platform, std::vector<double>(4, seconds(120'000)), "slow pair", plan);
}

}  // namespace
}  // namespace slackline
