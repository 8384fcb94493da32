#include "analysis/advice/bus_bandwidth.h"

#include <gtest/gtest.h>

#include <string>

#include "sched/compile.h"
#include "sched/pattern/pattern.h"

namespace slackline::analysis {
namespace {

TEST(BusBandwidth, Factors) {
  EXPECT_EQ(bus_factor("allreduce", 2), 1);
  EXPECT_EQ(bus_factor("allreduce", 8), 1.75);
  EXPECT_EQ(bus_factor("allgather", 2), 0.5);
  EXPECT_EQ(bus_factor("allgather", 8), 0.875);
  for (const char* const other : {"reduce-scatter", "scatter", "gather", "alltoall"}) {
    EXPECT_EQ(bus_factor(other, 8), 0.875) << other;
  }
  EXPECT_EQ(bus_factor("reduce", 8), 1);
  EXPECT_EQ(bus_factor("ring-buffer", 8), 1);
  EXPECT_EQ(bus_factor("table-multicast", 8), 1);
  for (const sched::PatternEntry& entry : sched::plan_patterns()) {
    EXPECT_EQ(bus_factor(entry.name, 5), 1) << entry.name;
  }
  for (const char* const other : {"barrier", "call", "queue", "random-access", "nonesuch", ""}) {
    EXPECT_EQ(bus_factor(other, 4), std::nullopt) << other;
  }
}

TEST(BusBandwidth, OfOneRankAlone) {
  EXPECT_EQ(bus_factor("allreduce", 1), 0);
  EXPECT_EQ(bus_factor("allgather", 1), 0);
}

// The factor of nccl-tests is of the bytes that a rank has in the end.
TEST(BusBandwidth, AnAllgathersMessageIsThatOfAllRanks) {
  const sched::Schedule gathered =
      sched::compile(sched::parse_spec("allgather:ranks=4,bytes=1000"));
  EXPECT_EQ(gathered.message_bytes(), 4000u);
  const sched::Schedule reduced = sched::compile(sched::parse_spec("allreduce:ranks=4,bytes=1000"));
  EXPECT_EQ(reduced.message_bytes(), 1000u);
  // Of an alltoall, of what it sends, whatever memory it has beside.
  for (const char* const by : {"pairwise", "bruck"}) {
    const std::string text = std::string("alltoall:ranks=4,bytes=1000,by=") + by;
    EXPECT_EQ(sched::compile(sched::parse_spec(text)).message_bytes(), 4000u);
  }
}

}  // namespace
}  // namespace slackline::analysis
