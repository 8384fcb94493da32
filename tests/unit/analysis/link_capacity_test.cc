// A run in which a link carried more than it can is found out, whoever made its figures.
#include "analysis/advice/link_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::DelayPlan;
using machine::Platform;
using ::testing::HasSubstr;
using testing::Program;
using ::testing::StartsWith;

struct Case {
  sched::Schedule schedule;
  Platform platform;
  DelayPlan plan;

  std::string finding(const sched::Trace& trace) const {
    const machine::Wiring wiring(platform, schedule.rank_count());
    const machine::Paths paths(schedule, wiring, plan);
    return testing::error_of<InternalError>([&] {
      require_within_capacity({schedule, platform, wiring}, paths, trace);
    });
  }
  sched::Trace run() const { return run_events({schedule, platform, plan}); }
};

sched::Trace faster(sched::Trace trace, double times) {
  for (sched::OpTimes& op : trace.ops) {
    op.wire_s /= times;
    op.done_s /= times;
  }
  return trace;
}

Case two_puts(const std::string& platform, std::uint64_t bytes = 100'000) {
  Program p(3);
  p.put(p.channel(0, 1), bytes);
  p.put(p.channel(0, 2), bytes);
  return {p.build(), machine::parse_platform_spec(platform), {}};
}

constexpr const char* kStar = "star:rate=8Gbps,latency=0,o_post=0,o_complete=0,interleave=4KiB";

TEST(LinkCapacity, IsKeptByARunAndNotByOneCutShort) {
  const Case c = two_puts(kStar);
  const sched::Trace trace = c.run();
  EXPECT_NEAR(trace.makespan_s(), 200e-6, 1e-12);
  EXPECT_EQ(c.finding(trace), "");
  EXPECT_EQ(c.finding(faster(trace, 1 + 1e-7)), "");
  EXPECT_THAT(c.finding(faster(trace, 1.001)),
              StartsWith("200000 bytes went over host-0.out in 0.0001998"));
  EXPECT_THAT(c.finding(faster(trace, 2)), HasSubstr("at 1e+09 bytes per second takes 0.0002 s"));
}

TEST(LinkCapacity, IsThatOfInnerLinksToo) {
  const std::string racks =
      "two-level:racks=3,hosts=1,rate=80Gbps,uplink=8Gbps,latency=0,o_post=0,o_complete=0";
  const Case c = two_puts(racks);
  EXPECT_EQ(c.finding(c.run()), "");
  EXPECT_THAT(c.finding(faster(c.run(), 2)), HasSubstr("went over rack-0.up in"));
}

TEST(LinkCapacity, IsOfTheHighestRateThatALinkHad) {
  Case c = two_puts(kStar);
  for (const char* link : {"host-0.out", "host-1.in", "host-2.in"}) {
    c.plan.link_rates.push_back({link, {32'000'000'000}, sched::Time{50'000'000}});
  }
  const sched::Trace trace = c.run();
  EXPECT_NEAR(trace.makespan_s(), 87.5e-6, 1e-12);
  EXPECT_EQ(c.finding(trace), "");
}

// A bundle has one packet's overhead, which its messages alone would have had each.
TEST(LinkCapacity, IsOfBundlesAsTheyWent) {
  Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  p.builder().channel(c).bundle = sched::Bundle::kTraditional;
  p.builder().channel(c).bundle_bytes = 64'000;
  for (int i = 0; i < 64; ++i) p.send(c, 8'000);
  for (int i = 0; i < 64; ++i) p.recv(c, 8'000);
  const Case of{
      p.build(), machine::parse_platform_spec(std::string(kStar) + ",packet_overhead=1000B"), {}};
  const sched::Trace trace = of.run();
  EXPECT_LT(trace.makespan_s(), 560e-6);  // with the first bundle's copies
  EXPECT_EQ(of.finding(trace), "");
  EXPECT_THAT(of.finding(faster(trace, 1.1)), HasSubstr("520000 bytes went over host-0.out"));
}

TEST(LinkCapacity, IsNotAskedForWhereSharingIsIgnored) {
  const Case small = two_puts(kStar, 4096);
  EXPECT_EQ(small.finding(faster(small.run(), 2)), "");
  const Case c = two_puts(std::string(kStar) + ",nic=fair");
  const sched::Trace contended = c.run();
  EXPECT_TRUE(contended.contended);
  EXPECT_NEAR(contended.makespan_s(), 100e-6, 1e-12);
  EXPECT_EQ(c.finding(contended), "");
  sched::Trace hidden = contended;
  hidden.contended = false;
  EXPECT_NE(c.finding(hidden), "");
}

}  // namespace
}  // namespace slackline::analysis
