// Whether messages met on a link that has not the rate for them: as the event engine finds it, of
// messages by their trace, and where schedules are dynamic as they begin.
#include "machine/run/link_crowding.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "analysis/engines/event_engine.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::ChannelId;
using testing::Program;
using testing::us;

// Racks of two hosts, whose uplink has the rate of one NIC. 10,000 bytes take 10 us.
constexpr const char* kRacks =
    "two-level:racks=2,hosts=2,rate=8Gbps,oversubscription=2,latency=10us,o_post=0,o_complete=0";

bool is_contended(const sched::Schedule& schedule, const std::string& platform = kRacks,
                  const machine::DelayPlan& plan = {}) {
  return run_events({schedule, machine::parse_platform_spec(platform), plan}).contended;
}

void repeat(Program& p, sched::OpId op, std::uint32_t times) {
  sched::Region region;
  region.kind = sched::RegionKind::kRepeat;
  region.entry = op;
  region.count = 1;
  region.max_attempts = times;
  p.builder().add_region(region);
}

// Rank 0 sends three times, from 0, from 30 and from 60 us on; a trace has the last.
TEST(LinkCrowding, EachAttemptCounts) {
  for (const auto& [at_us, contended] :
       {std::pair(0.0, true), std::pair(15.0, false), std::pair(35.0, true), std::pair(65.0, true),
        std::pair(75.0, false)}) {
    Program p(4);
    const ChannelId mine = p.channel(0, 2);
    const ChannelId other = p.channel(1, 3);
    repeat(p, p.put(mine, 10'000), 3);
    const sched::OpId wait = p.delay(1, us(at_us));
    p.after({wait}, p.put(other, 10'000));
    EXPECT_EQ(is_contended(p.build()), contended) << at_us;
  }
}

// What is gathered is one message: it shares with others, however small its parts are, and not with
// itself, however large.
TEST(LinkCrowding, ABundleIsOneMessage) {
  for (const bool with_another : {false, true}) {
    for (const int parts : {2, 16}) {
      Program p(4);
      const ChannelId gathered = p.channel(0, 2);
      p.builder().channel(gathered).bundle = sched::Bundle::kTraditional;
      p.builder().channel(gathered).bundle_bytes = 16'000;
      const ChannelId other = p.channel(1, 3);
      const auto bytes = static_cast<std::uint64_t>(16'000 / parts);
      for (int i = 0; i < parts; ++i) p.send(gathered, bytes);
      if (with_another) p.put(other, 100'000);
      for (int i = 0; i < parts; ++i) p.recv(gathered, bytes);
      EXPECT_EQ(is_contended(p.build(), std::string(kRacks) + ",interleave=4KiB"), with_another)
          << parts;
    }
  }
}

// The links between the racks.
machine::DelayPlan uplink_has(std::uint64_t bits_per_second, double from_us) {
  machine::DelayPlan plan;
  for (const char* link : {"rack-0.up", "rack-1.down"}) {
    plan.link_rates.push_back({link, {bits_per_second}, us(from_us)});
  }
  return plan;
}

// A link has the rate that it has by then, and so do the messages that pass it.
TEST(LinkCrowding, GoesByTheRateOfTheMoment) {
  for (const bool dynamic : {false, true}) {
    Program two(4);
    const ChannelId mine = two.channel(0, 2);
    const ChannelId other = two.channel(1, 3);
    const sched::OpId put = two.put(mine, 10'000);
    if (dynamic) repeat(two, put, 1);
    two.put(other, 10'000);
    const sched::Schedule both = two.build();
    const std::string wide = "two-level:racks=2,hosts=2,rate=8Gbps,latency=1us,o_post=0";
    EXPECT_FALSE(is_contended(both, wide)) << dynamic;
    EXPECT_TRUE(is_contended(both, wide, uplink_has(8'000'000'000, 0))) << dynamic;
    EXPECT_TRUE(is_contended(both, wide, uplink_has(8'000'000'000, 5))) << dynamic;
    EXPECT_FALSE(is_contended(both, wide, uplink_has(8'000'000'000, 15))) << dynamic;
    EXPECT_TRUE(is_contended(both, wide, uplink_has(4'000'000'000, 5))) << dynamic;
    EXPECT_FALSE(is_contended(both, kRacks, uplink_has(16'000'000'000, 0))) << dynamic;

    Program one(4);
    const sched::OpId alone = one.put(one.channel(0, 2), 10'000);
    if (dynamic) repeat(one, alone, 1);
    const std::string narrow = "two-level:racks=2,hosts=2,rate=32Gbps,uplink=8Gbps,latency=1us";
    EXPECT_FALSE(is_contended(one.build(), narrow, uplink_has(32'000'000'000, 0))) << dynamic;
  }
}

}  // namespace
}  // namespace slackline::analysis
