// The hosts that a trace tells of: by its platform, or what a real run says behind its transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "machine/platform.h"
#include "machine/timeline_nics.h"
#include "sched/compile.h"

namespace slackline::machine {
namespace {

sched::Trace trace(const std::string& engine, const std::string& platform = "") {
  sched::Trace trace;
  trace.engine = engine;
  trace.platform = platform;
  return trace;
}

TEST(TraceNics, OfARealRunAreReadAsTheyWereWritten) {
  for (const RailRule rule : {RailRule::kRank, RailRule::kChannel, RailRule::kPair}) {
    Node node;
    node.ranks = 4;
    node.rails.count = 3;
    node.rails.rule = rule;
    const Node read = node_of_trace(trace("run:tcp;ofi_rxm" + rails_of_run(node)));
    EXPECT_EQ(read.rails, node.rails);
    EXPECT_EQ(read.ranks, node.ranks);
  }
  Node node;
  node.rails.count = 2;
  EXPECT_EQ(rails_of_run(node), ",rails=2,rail=rank,ranks_per_node=1");
  EXPECT_EQ(rails_of_run(Node()), "");
}

TEST(TraceNics, OthersHaveOne) {
  EXPECT_FALSE(node_of_trace(trace("run:shm")).rails.are_several());
  // A platform's file may have gone: it is not looked for.
  EXPECT_FALSE(node_of_trace(trace("simgrid", "simgrid:file=/no/such.xml")).rails.are_several());
  EXPECT_EQ(node_of_trace(trace("flow", "star:rate=1Gbps,rails=2")).rails.count, 2u);
  EXPECT_THROW(node_of_trace(trace("run:net,rails=none")), InputError);
}

TEST(TraceNics, AStripedChannelTakesBoth) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("chain:ranks=2,bytes=4KiB,block=1KiB,stripes=2"));
  const sched::TimelineNics nics = timeline_nics(
      schedule, node_of_trace(trace("run:net,rails=2,rail=channel,ranks_per_node=1")));
  ASSERT_EQ(nics.at_source.size(), schedule.channels().size());
  EXPECT_NE(std::ranges::find(nics.at_source, 1u), nics.at_source.end());
  EXPECT_NE(std::ranges::find(nics.at_source, 0u), nics.at_source.end());
}

}  // namespace
}  // namespace slackline::machine
