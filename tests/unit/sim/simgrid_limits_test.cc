// Messages of any size that a schedule may have, in SimGrid, whose payloads end at 2^64 bytes of
// its own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "sched/builder.h"
#include "sim/grain.h"
#include "sim/simgrid_engine.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/program.h"

namespace slackline::sim {
namespace {

using sched::ChannelId;

constexpr double kRate = 12.5e9;     // bytes per second
constexpr double kOverheads = 3e-6;  // two latencies and o_complete

machine::Platform platform(const std::string& more) {
  return machine::parse_platform_spec("star:rate=12.5GBps,latency=1us,o_post=0,o_complete=1us," +
                                      more);
}

// From each rank but the last a put of as many bytes to the last.
sched::Schedule puts(std::uint32_t senders, std::uint64_t bytes) {
  sched::ScheduleBuilder builder(senders + 1);
  for (std::uint32_t r = 0; r <= senders; ++r) builder.add_buffer(sched::RankId(r), bytes);
  for (std::uint32_t r = 0; r < senders; ++r) {
    sched::Channel channel;
    channel.src = sched::RankId(r);
    channel.dst = sched::RankId(senders);
    sched::Op put;
    put.kind = sched::OpKind::kPut;
    put.rank = channel.src;
    put.channel = builder.add_channel(channel);
    put.reads = builder.add_slice({sched::BufferId(r), 0, bytes});
    put.writes = builder.add_slice({sched::BufferId(senders), 0, bytes});
    builder.add(put);
  }
  return builder.build();
}

double off(double time_s, double expected_s) { return std::abs(time_s / expected_s - 1); }

TEST(SimgridLimits, AMessageOfAnySizeTakesItsTime) {
  for (int bits = 30; bits < 63; ++bits) {
    for (const std::int64_t more : {-1, 0, 1}) {
      const std::uint64_t bytes = (std::uint64_t{1} << bits) + static_cast<std::uint64_t>(more);
      const double w_s = static_cast<double>(bytes) / kRate;
      for (const std::string nic : {"nic=serial", "nic=fair"}) {
        SCOPED_TRACE(nic + " " + std::to_string(bytes));
        EXPECT_LT(off(run_simgrid({puts(1, bytes), platform(nic)}).makespan_s(), w_s + kOverheads),
                  1e-9);
      }
    }
  }
}

// Packets and lines add to a message. What they add may be more than SimGrid can count.
TEST(SimgridLimits, AMessageIsRefusedThatIsTooLargeOnTheWire) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 61;
  const double w_s = 4 * static_cast<double>(kBytes) / kRate;
  EXPECT_LT(
      off(run_simgrid({puts(1, kBytes), platform("mtu=1,packet_overhead=3")}).makespan_s(), w_s),
      1e-9);
  for (const std::string nic : {"nic=serial", "nic=fair"}) {
    EXPECT_EQ(testing::error_of([&] {
                run_simgrid({puts(1, kBytes), platform("mtu=1,packet_overhead=4," + nic)});
              }),
              "simgrid: a message of 2305843009213693952 bytes has 1.153e+19 on the wire, with "
              "what packets and lines add; expected at most 2^63, or another engine");
  }
}

// On both sides of 2^43 bytes, where 2^20 grains of each would no longer fit.
TEST(SimgridLimits, LargeMessagesShare) {
  for (const int bits : {41, 42, 43, 44, 50, 60}) {
    const std::uint64_t bytes = std::uint64_t{1} << bits;
    const double w_s = static_cast<double>(bytes) / kRate;
    EXPECT_LT(off(run_simgrid({puts(3, bytes), platform("nic=fair")}).makespan_s(), 3 * w_s), 1e-6)
        << bits;
    machine::DelayPlan slow;
    slow.pairs = {{sched::RankId(0), sched::RankId(1), {1'000'000'000}}};
    EXPECT_LT(
        off(run_simgrid({puts(1, bytes), platform("nic=fair"), slow}).makespan_s(), 100 * w_s),
        1e-6)
        << bits;
  }
}

TEST(SimgridLimits, GrainsAreAsFineAsAMessageAllows) {
  EXPECT_EQ(grains_per_byte(0), 1 << 20);
  EXPECT_EQ(grains_per_byte(1), 1 << 20);
  for (int bits = 0; bits < 64; ++bits) {
    const std::uint64_t bytes = std::uint64_t{1} << bits;
    for (const std::uint64_t each : {bytes - 1, bytes, bytes + 1}) {
      const double grains = grains_per_byte(each);
      EXPECT_GE(grains, 1);
      EXPECT_LE(grains, 1 << 20);
      EXPECT_LE(static_cast<double>(each) * grains, 0x1p64) << each;
      // No coarser than it must be.
      EXPECT_TRUE(grains == 1 << 20 || static_cast<double>(each) * grains >= 0x1p61) << each;
    }
  }
  EXPECT_EQ(grains_per_byte(std::uint64_t{1} << 42), 1 << 20);
  EXPECT_EQ(grains_per_byte((std::uint64_t{1} << 42) + 1), 1 << 19);
}

// Bundles travel as one. Gathering copies, here in no time.
TEST(SimgridLimits, WhatAChannelGathersIsOneMessage) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 43;
  sched::ScheduleBuilder builder(2);
  const sched::BufferId from = builder.add_buffer(sched::RankId(0), 4 * kBytes);
  const sched::BufferId to = builder.add_buffer(sched::RankId(1), 4 * kBytes);
  sched::Channel channel;
  channel.src = sched::RankId(0);
  channel.dst = sched::RankId(1);
  channel.bundle = sched::Bundle::kTraditional;
  channel.bundle_bytes = 4 * kBytes;
  const ChannelId gathering = builder.add_channel(channel);
  for (std::uint64_t i = 0; i < 4; ++i) {
    sched::Op put;
    put.kind = sched::OpKind::kPut;
    put.rank = sched::RankId(0);
    put.channel = gathering;
    put.reads = builder.add_slice({from, i * kBytes, kBytes});
    put.writes = builder.add_slice({to, i * kBytes, kBytes});
    builder.add(put);
  }
  const double w_s = 4 * static_cast<double>(kBytes) / kRate;
  EXPECT_LT(
      off(run_simgrid({builder.build(), platform("copy_rate=1000000000Gbps")}).makespan_s(), w_s),
      1e-6);
}

}  // namespace
}  // namespace slackline::sim
