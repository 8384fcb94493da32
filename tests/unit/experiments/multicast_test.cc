#include "experiments/multicast.h"

#include <gtest/gtest.h>

#include "analysis/engines/analytic.h"
#include "experiments/cpu_load.h"

namespace slackline::experiments {
namespace {

TEST(Multicast, DeliveryIsTheLastReceipt) {
  // A chain of 3, 2 blocks: receipts after 2 and after 3 block times.
  const machine::Platform bare = bare_machine();
  const sched::Schedule schedule = schedule_of({"chain", 3, 2 * kMiB, kMiB, ""});
  const sched::Trace trace = analysis::run_analytic({schedule, bare});
  const std::vector<double> receipts = receipts_s(schedule, trace);
  ASSERT_EQ(receipts.size(), 3u);
  EXPECT_EQ(receipts[0], 0);
  EXPECT_NEAR(receipts[1] / block_time_s(bare), 2, 1e-9);
  EXPECT_NEAR(receipts[2] / block_time_s(bare), 3, 1e-9);
  EXPECT_EQ(delivered_s(schedule, trace), receipts[2]);
  EXPECT_NEAR(block_times({"chain", 3, 2 * kMiB, kMiB, ""}), 3, 1e-9);
}

TEST(Multicast, TheRootsLastAcknowledgementIsNotWaitedFor) {
  const machine::Platform platform = machine::parse_platform_spec(
      "star:rate=8Gbps,latency=2us,o_post=0,o_complete=1us,gap=0,interleave=0");
  // One block of 1000 bytes: 1 us on the wire, 2 us on the way, 1 us until it is seen.
  EXPECT_NEAR(delivery_s({"chain", 2, 1000, 1000, "ready=none"}, platform), 4e-6, 1e-15);
}

TEST(CpuLoad, OfOneBlock) {
  machine::Platform polling = machine::parse_platform_spec(
      "star:rate=8Gbps,latency=2us,o_post=1us,o_complete=1us,gap=0,interleave=0");
  polling.interrupt_cost = sched::Time{3'000'000};
  const machine::Platform sleeping = with_interrupts(polling);
  EXPECT_EQ(sleeping.poll_for, sched::Time{0});
  const sched::Schedule schedule = schedule_of({"chain", 2, 10'000, 10'000, "ready=none"});
  const sched::Trace trace = analysis::run_analytic({schedule, sleeping});
  const double end_s = delivered_s(schedule, trace);
  EXPECT_NEAR(end_s, 17e-6, 1e-15);  // post 1, wire 10, latency 2, seen 4
  const std::vector<Work> copy = {{sched::RankId(1), end_s, end_s + 5e-6}};
  const auto awake = awake_shares(schedule, trace, polling, copy, end_s + 5e-6);
  // The sender posts for 1 us, and is awake for 4 us until 19 us, when it has seen its last send
  // done. The receiver posts for 1 us, is awake from 13 to 17 us and copies for 5 us.
  EXPECT_NEAR(awake[0], 5.0 / 22, 1e-9);
  EXPECT_NEAR(awake[1], 10.0 / 22, 1e-9);
  // Until the delivery alone, the copy is not seen.
  const auto earlier = awake_shares(schedule, trace, polling, copy, end_s);
  EXPECT_NEAR(earlier[0], 3.0 / 17, 1e-9);
  EXPECT_NEAR(earlier[1], 5.0 / 17, 1e-9);
}

TEST(Multicast, Titles) { EXPECT_EQ(title_of("binomial-pipeline"), "binomial pipeline"); }

}  // namespace
}  // namespace slackline::experiments
