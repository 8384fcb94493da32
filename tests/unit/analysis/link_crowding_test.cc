// Whether messages of dynamic schedules met on a link, which their traces do not tell.
#include "analysis/engines/link_crowding.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "analysis/engines/event_engine.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::ChannelId;
using testing::Program;
using testing::us;

// Racks of two hosts, whose uplink has the rate of one NIC. 10,000 bytes take 10 us.
bool is_contended(const sched::Schedule& schedule) {
  const machine::Platform platform = machine::parse_platform_spec(
      "two-level:racks=2,hosts=2,rate=8Gbps,oversubscription=2,latency=10us");
  return run_events({schedule, platform}).contended;
}

// Rank 0 sends three times, from 0, from 30 and from 60 us on; a trace has the last.
TEST(LinkCrowding, EachAttemptCounts) {
  for (const auto& [at_us, contended] :
       {std::pair(0.0, true), std::pair(15.0, false), std::pair(35.0, true), std::pair(65.0, true),
        std::pair(75.0, false)}) {
    Program p(4);
    const ChannelId mine = p.channel(0, 2);
    const ChannelId other = p.channel(1, 3);
    sched::Region repeat;
    repeat.kind = sched::RegionKind::kRepeat;
    repeat.entry = p.put(mine, 10'000);
    repeat.count = 1;
    repeat.max_attempts = 3;
    p.builder().add_region(repeat);
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
      EXPECT_EQ(is_contended(p.build()), with_another) << parts;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
