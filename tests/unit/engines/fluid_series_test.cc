// What a fluid run came to over time: intervals by hand, a queue whose growth is known, and sums
// against what the run says of itself.
#include "analysis/engines/fluid_series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/engines/fluid_engine.h"
#include "analysis/engines/fluid_network.h"
#include "machine/platform.h"
#include "tests/unit/engines/puts.h"

namespace slackline::analysis {
namespace {

using machine::LinkId;
using machine::Platform;
using machine::Setting;
using testing::schedule_of_puts;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLine = 5e9;  // 40 Gb/s, in bytes per second

TEST(FluidSeries, StepsAreCutWhereIntervalsEnd) {
  FluidSeries series(1);
  series.queue(LinkId(2), 0.5, 2, 10);
  ASSERT_EQ(series.queues().size(), 3u);
  EXPECT_TRUE(series.queues()[0].empty());
  const auto& of = series.queues()[2];
  ASSERT_EQ(of.size(), 3u);
  EXPECT_NEAR(of[0].byte_s, 5, 1e-12);
  EXPECT_NEAR(of[1].byte_s, 10, 1e-12);
  EXPECT_NEAR(of[2].byte_s, 5, 1e-12);
  EXPECT_EQ(of[2].largest_bytes, 10);
  series.queue(LinkId(2), 2.5, 0.5, 4);
  EXPECT_NEAR(of[2].byte_s, 7, 1e-12);
  EXPECT_EQ(of[2].largest_bytes, 10);
  // What waits for nobody is not told.
  series.queue(LinkId(7), 0, 1, 0);
  EXPECT_EQ(series.queues().size(), 3u);
  series.sent(1, 0.5, 1, 8, 3);
  ASSERT_EQ(series.rates()[1].size(), 2u);
  EXPECT_NEAR(series.rates()[1][0].bytes, 4, 1e-12);
  EXPECT_NEAR(series.rates()[1][1].bytes, 4, 1e-12);
  EXPECT_EQ(series.rates()[1][1].allowed_bytes_per_s, 3);
}

TEST(FluidSeries, TheWidthDoublesWhereARunIsLong) {
  FluidSeries series(1);
  constexpr double kMost = FluidSeries::kMost;
  for (int i = 0; i < kMost; ++i) {
    series.queue(LinkId(0), i, 1, i + 1);
    series.sent(0, i, 1, 2, i + 1);
  }
  EXPECT_EQ(series.width_s(), 1);
  EXPECT_EQ(series.queues()[0].size(), FluidSeries::kMost);
  series.queue(LinkId(0), kMost, 1, 7);
  EXPECT_EQ(series.width_s(), 2);
  const auto& of = series.queues()[0];
  ASSERT_EQ(of.size(), FluidSeries::kMost / 2 + 1);
  EXPECT_EQ(of[3].byte_s, 7 + 8);
  EXPECT_EQ(of[3].largest_bytes, 8);
  EXPECT_EQ(of.back().byte_s, 7);
  ASSERT_EQ(series.rates()[0].size(), FluidSeries::kMost / 2);
  EXPECT_EQ(series.rates()[0][3].bytes, 4);
  EXPECT_EQ(series.rates()[0][3].allowed_bytes_per_s, 8);  // at its end
  // At once by more than one doubling.
  series.queue(LinkId(0), 16 * kMost - 1, 1, 1);
  EXPECT_EQ(series.width_s(), 16);
  double sum = 0;
  for (const auto& interval : series.queues()[0]) sum += interval.byte_s;
  EXPECT_EQ(sum, kMost * (kMost + 1) / 2 + 7 + 1);
}

Platform platform(const std::string& control) {
  return machine::parse_platform_spec("star:nic=fair,rate=40Gbps,latency=2us,congestion=" +
                                      control);
}

// Two send to one with nothing to slow them, as DCQCN with marks that never come: the queue grows
// by one line rate until both have sent, and then shrinks by it.
TEST(FluidSeries, AQueueThatGrowsAsItMust) {
  constexpr double kBytes = 4'000'000;
  const sched::Schedule schedule = schedule_of_puts(3, {{0, 2, 4'000'000}, {1, 2, 4'000'000}});
  const Platform on = platform("dcqcn,ecn_kmin=1GB,ecn_kmax=2GB");
  const Setting setting(schedule, on);
  FluidSeries series(100e-9);
  run_fluid_with_links(setting, &series);
  const double full_s = kBytes / kLine;
  const auto queue_bytes = [&](double at_s) {
    return kLine * std::max(0.0, at_s < full_s ? at_s : 2 * full_s - at_s);
  };
  const std::uint32_t port = setting.wiring.find_link("host-2.in")->value;
  ASSERT_GT(series.queues().size(), port);
  const auto& queue = series.queues()[port];
  // 1.6 ms in steps of 100 ns: 1000 intervals of 1.6 us.
  EXPECT_NEAR(series.width_s(), 1.6e-6, 1e-15);
  ASSERT_GE(queue.size(), 999u);
  const double step_bytes = 2 * kLine * 100e-9;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const double middle_s = (static_cast<double>(i) + 0.5) * series.width_s();
    EXPECT_NEAR(queue[i].byte_s / series.width_s(), queue_bytes(middle_s),
                kLine * series.width_s() / 8 + step_bytes)
        << i;
  }
  ASSERT_GT(series.rates().size(), queue_pair(sched::ChannelId(1), false));
  for (std::uint32_t flow = 0; flow < 2; ++flow) {
    const auto& rate = series.rates()[queue_pair(sched::ChannelId(flow), false)];
    const auto whole = static_cast<std::size_t>(full_s / series.width_s());
    for (std::size_t i = 0; i < whole; ++i) {
      EXPECT_NEAR(rate[i].bytes, kLine * series.width_s(), 1e-6 * kLine * series.width_s()) << i;
    }
  }
}

TEST(FluidSeries, SumsAreWhatTheRunSaysOfItself) {
  for (const std::string control : {"pfc", "dcqcn", "dcqcn+pfc"}) {
    const sched::Schedule schedule = schedule_of_puts(
        4, {{0, 3, 3'000'000}, {0, 3, 500'000, true}, {1, 3, 2'000'000}, {2, 1, 1'000'000}});
    const Platform on = platform(control);
    const Setting setting(schedule, on);
    FluidSeries series(100e-9);
    const FluidRun run = run_fluid_with_links(setting, &series);
    // Who is told changes nothing.
    EXPECT_EQ(sched::digest_of(run.trace), sched::digest_of(run_fluid(setting))) << control;
    for (std::uint32_t link = 0; link < run.links.size(); ++link) {
      double byte_s = 0;
      double largest_bytes = 0;
      if (link < series.queues().size()) {
        for (const auto& interval : series.queues()[link]) {
          byte_s += interval.byte_s;
          largest_bytes = std::max(largest_bytes, interval.largest_bytes);
        }
      }
      EXPECT_NEAR(byte_s, run.links[link].queue_byte_s, 1e-9 * run.links[link].queue_byte_s)
          << control << " " << setting.wiring.links()[link].name;
      EXPECT_EQ(largest_bytes, run.links[link].largest_queue_bytes) << control;
    }
    const std::vector<double> bytes = {3'500'000, 2'000'000, 1'000'000};
    ASSERT_GT(series.rates().size(), queue_pair(sched::ChannelId(2), false)) << control;
    for (std::uint32_t flow = 0; flow < bytes.size(); ++flow) {
      double sent = 0;
      for (const auto& interval : series.rates()[queue_pair(sched::ChannelId(flow), false)]) {
        sent += interval.bytes;
        EXPECT_TRUE(control == "pfc" ? interval.allowed_bytes_per_s == kInfinity
                                     : interval.allowed_bytes_per_s <= kLine * (1 + 1e-9))
            << control;
      }
      EXPECT_NEAR(sent, bytes[flow], 1e-6 * bytes[flow]) << control;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
