// Where one pass of longest path must not answer: what it says is what the event engine says.
#include "analysis/longest_path.h"

#include <gtest/gtest.h>

#include "analysis/event_engine.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using testing::Program;
using testing::us;

// An empty message takes no time on a port; one of 10 kB takes 10 us, on the same port, since both
// are within the interleave size.
machine::Platform platform() {
  return machine::parse_platform_spec(
      "star:nic=serial,rate=8Gbps,latency=1us,o_post=1us,o_complete=0,gap=0,interleave=1MiB");
}

// Two lanes of rank 0 send; the empty message stands first in program order, and is posted at
// `empty` + 1 us, the other at `full` + 1 us.
sched::Schedule two_lanes(sched::Time empty, sched::Time full) {
  Program p(3);
  const sched::ChannelId to_1 = p.channel(0, 1);
  const sched::ChannelId to_2 = p.channel(0, 2);
  const sched::OpId wait_empty = p.delay(0, empty);
  const sched::OpId wait_full = p.delay(0, full);
  p.after({wait_empty}, p.send(to_1, 0, 0));
  p.after({wait_full}, p.send(to_2, 10'000, 1));
  p.recv(to_1, 0);
  p.recv(to_2, 10'000);
  return p.build();
}

TEST(LongestPath, AnEmptyMessageBehindOneOfALaterPlaceIsNotItsToTell) {
  int answered = 0;
  for (int empty = 0; empty <= 16; ++empty) {
    for (int full = 0; full <= 6; ++full) {
      const sched::Schedule schedule = two_lanes(us(empty), us(full));
      const auto trace = longest_path(schedule, platform());
      const sched::Trace expected = run_events(schedule, platform());
      if (empty > full && empty < full + 10) {
        EXPECT_FALSE(trace) << empty << " and " << full;
      }
      if (!trace) continue;
      ++answered;
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        EXPECT_NEAR(trace->ops[i].wire_s, expected.ops[i].wire_s, 1e-15)
            << empty << " and " << full << ", op " << i;
        EXPECT_NEAR(trace->ops[i].done_s, expected.ops[i].done_s, 1e-15)
            << empty << " and " << full << ", op " << i;
      }
    }
  }
  EXPECT_GT(answered, 10);
}

}  // namespace
}  // namespace slackline::analysis
