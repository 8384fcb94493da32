// What an atomic's service takes, by who used its word before.
#include "machine/atomic_service.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/program.h"

namespace slackline::machine {
namespace {

using sched::BufferId;
using sched::OpId;
using testing::Program;

// A fetch_add of each of four ranks on a word of the first rank; operations are numbered as ranks.
sched::Schedule four_atomics() {
  Program program(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) program.fetch_add(program.channel(rank, 0), 0);
  return program.build();
}

struct Served {
  explicit Served(const char* spec)
      : platform(parse_platform_spec(spec)),
        paths(schedule, Wiring(platform, 4), {}),
        service(schedule, platform, paths) {}

  double ns(std::uint32_t op, std::uint32_t buffer, std::uint64_t offset, double now_s = 0) {
    return service.serve_s(OpId(op), BufferId(buffer), offset, now_s) * 1e9;
  }

  sched::Schedule schedule = four_atomics();
  Platform platform;
  Paths paths;
  AtomicService service;
};

constexpr const char* kShared =
    "star:rate=8Gbps,latency=1us,atomic_service=100ns,ranks_per_node=4,cpu_atomic=20ns,"
    "cpu_atomic_sharer=7ns";

TEST(AtomicService, OfACpuCountsTheOtherRanksOfTheLine) {
  Served s(kShared);
  EXPECT_DOUBLE_EQ(s.ns(0, 4, 0), 20);
  EXPECT_DOUBLE_EQ(s.ns(0, 4, 56), 20);  // itself, in the same line
  EXPECT_DOUBLE_EQ(s.ns(1, 4, 8), 27);   // another word of the line
  EXPECT_DOUBLE_EQ(s.ns(2, 4, 64), 20);  // the next line
  EXPECT_DOUBLE_EQ(s.ns(2, 5, 0), 20);   // another buffer
  EXPECT_DOUBLE_EQ(s.ns(3, 4, 0), 34);
  EXPECT_DOUBLE_EQ(s.ns(0, 4, 0), 34);  // the others are still there, and none is counted twice
  EXPECT_DOUBLE_EQ(s.ns(1, 4, 0), 34);
  EXPECT_DOUBLE_EQ(s.ns(3, 4, 120), 27);
}

TEST(AtomicService, OfACpuIsTheSameForAllWithoutSharersTime) {
  Served s("star:rate=8Gbps,latency=1us,atomic_service=100ns,ranks_per_node=4,cpu_atomic=20ns");
  for (std::uint32_t op = 0; op < 4; ++op) EXPECT_DOUBLE_EQ(s.ns(op, 4, 0), 20);
  EXPECT_FALSE(service_depends_on_others(s.platform));
}

TEST(AtomicService, OfANicIsLongerForWhoHadToWait) {
  Served s("star:rate=8Gbps,latency=1us,atomic_service=100ns,atomic_service_shared=30ns");
  for (std::uint32_t op = 0; op < 4; ++op) s.service.arrived(OpId(op), 1e-6);
  EXPECT_DOUBLE_EQ(s.ns(1, 4, 0, 1e-6), 100);
  EXPECT_DOUBLE_EQ(s.ns(2, 4, 0, 1.1e-6), 130);
  s.service.arrived(OpId(3), 2e-6);
  EXPECT_DOUBLE_EQ(s.ns(3, 4, 0, 2e-6), 100);
  EXPECT_TRUE(service_depends_on_others(s.platform));
}

TEST(AtomicService, FiguresAreOfWhereItIsServed) {
  const Platform platform = parse_platform_spec(kShared);
  EXPECT_DOUBLE_EQ(service_s(platform, true), 20e-9);
  EXPECT_DOUBLE_EQ(service_s(platform, false), 100e-9);
  EXPECT_TRUE(service_depends_on_others(platform));
  EXPECT_FALSE(service_depends_on_others(
      parse_platform_spec("star:rate=8Gbps,latency=1us,cpu_atomic_sharer=7ns")));
  const Platform reading = parse_platform_spec("star:rate=8Gbps,latency=1us,nic_read=40ns");
  EXPECT_DOUBLE_EQ(read_s(reading, false), 40e-9);
  EXPECT_EQ(read_s(reading, true), 0);
  EXPECT_FALSE(service_depends_on_others(reading));
}

}  // namespace
}  // namespace slackline::machine
