// Ranks that are switches: makespans by hand in every engine, and engines against each other.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/advice/link_capacity.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "machine/paths.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/support/error_of.h"
#include "tests/support/permutation.h"
#include "tests/unit/analysis/program.h"

namespace slackline {
namespace {

using machine::Platform;
using machine::Setting;
using sched::Schedule;

// Blocks of 10 MB take 1 ms where ports have 80 Gb/s.
constexpr double kBlock_s = 1e-3;

Schedule compiled(const std::string& spec) { return sched::compile(sched::parse_spec(spec)); }

// Flow and SimGrid; and the event engine, which shares no links, where it says that it may.
void expect_makespan(const Schedule& schedule, const std::string& platform, double expected_s) {
  const Platform p = machine::parse_platform_spec(platform);
  const Setting setting(schedule, p);
  const sched::Trace flows = analysis::run_flows(setting);
  EXPECT_NEAR(flows.makespan_s(), expected_s, 1e-9 * expected_s) << platform;
  EXPECT_NEAR(sim::run_simgrid(setting).makespan_s(), expected_s, 2.5e-9 * expected_s) << platform;
  const sched::Trace events = analysis::run_events(setting);
  if (!events.contended) {
    EXPECT_NEAR(events.makespan_s(), expected_s, 1e-9 * expected_s) << platform;
  }
  analysis::require_within_capacity(setting, machine::Paths(setting), flows);
}

constexpr const char* kStar = "star:rate=80Gbps,latency=0,switches=switch";

// k + 1 block times, however many members: the switch passes on what it has while more comes.
TEST(SwitchTimes, OneSwitchAddsABlock) {
  for (const char* nic : {"", ",nic=fair"}) {
    for (const char* ranks : {"3", "5", "17"}) {
      for (const int blocks : {1, 16}) {
        for (const char* pattern : {"switch-multicast", "switch-allreduce", "switch-reduce"}) {
          const Schedule schedule = compiled(std::string(pattern) + ":ranks=" + ranks + ",bytes=" +
                                             std::to_string(10 * blocks) + "MB,block=10MB");
          expect_makespan(schedule, std::string(kStar) + nic, (blocks + 1) * kBlock_s);
        }
      }
    }
  }
}

// Two levels of links as fast as NICs are four hops: three blocks more. Of uplinks that are twice
// as fast, two of the hops take half a block.
TEST(SwitchTimes, EachHopAddsABlock) {
  for (const char* pattern : {"switch-multicast", "switch-allreduce"}) {
    const Schedule schedule =
        compiled(std::string(pattern) + ":ranks=11,fan-out=4x2,bytes=160MB,block=10MB");
    const std::string racks =
        "two-level:racks=2,hosts=4,rate=80Gbps,latency=0,switches=rack-0..1+core,uplink=";
    expect_makespan(schedule, racks + "80Gbps", 19 * kBlock_s);
    expect_makespan(schedule, racks + "160Gbps", 18 * kBlock_s);
    expect_makespan(
        schedule,
        "fat-tree:down=4x2,up=1x2,rate=80Gbps,latency=0,switches=switch-1-0..1+switch-2-1",
        19 * kBlock_s);
    const Schedule three =
        compiled(std::string(pattern) + ":ranks=15,fan-out=2x2x2,bytes=160MB,block=10MB");
    expect_makespan(three,
                    "fat-tree:arity=4,rate=80Gbps,latency=0,"
                    "switches=switch-1-0..3+switch-2-1+switch-2-3+switch-3-3",
                    21 * kBlock_s);
  }
}

// A credit comes to the root in half a latency, a block takes the other halves, and the switch
// learns of it half of one after that. Hosts pay for posts and completions, switches do not: a host
// that receives has posted long since, and sees the block 3 us after it.
TEST(SwitchTimes, HostsPayAndSwitchesDoNot) {
  const std::string figures = ",o_post=1us,o_complete=3us,gap=2us";
  const std::string star = "star:rate=80Gbps,latency=4us,switches=switch";
  const Schedule ready = compiled("switch-multicast:ranks=4,bytes=10MB,block=10MB");
  expect_makespan(ready, star, 2 * kBlock_s + 4 * 2e-6);
  const Schedule unready = compiled("switch-multicast:ranks=4,bytes=10MB,block=10MB,ready=none");
  expect_makespan(unready, star, 2 * kBlock_s + 3 * 2e-6);
  // The root's post, two hops, and what the members see.
  expect_makespan(unready, star + figures, 1e-6 + 2 * kBlock_s + 2 * 2e-6 + 3e-6);
  // 80 ns a hop between switches, four of which lie between members of different pods.
  const Schedule far =
      compiled("switch-multicast:ranks=15,fan-out=2x2x2,bytes=10MB,block=10MB,ready=none");
  expect_makespan(far,
                  "fat-tree:arity=4,rate=80Gbps,latency=4us,hop_latency=80ns,"
                  "switches=switch-1-0..3+switch-2-0+switch-2-2+switch-3-0",
                  6 * kBlock_s + 3 * 2e-6 + 4 * 8e-8);
}

// A request reaches a switch in half a latency, and the answer a host in the other half; no NIC
// reads a host's memory for it.
TEST(SwitchTimes, GetsFromSwitchesReadNoHost) {
  testing::Program program(2);
  program.get(program.channel(0, 1), 1'000'000);
  const Schedule schedule = program.build();
  const std::string star = "star:rate=80Gbps,latency=4us,nic_read=5us";
  expect_makespan(schedule, star, 4e-6 + 5e-6 + 1e-4 + 4e-6);
  expect_makespan(schedule, star + ",switches=switch", 2e-6 + 1e-4 + 2e-6);
}

// What a switch sends up shares the uplink with what passes it.
TEST(SwitchTimes, SwitchesShareTheirLinks) {
  const std::string racks =
      "two-level:racks=2,hosts=2,rate=80Gbps,uplink=80Gbps,latency=0,switches=rack-0+core";
  const auto together = [](const testing::Pairs& pairs) {
    return testing::permutation(6, pairs, 10'000'000);
  };
  expect_makespan(together({{0, 2}}), racks, kBlock_s);
  expect_makespan(together({{4, 5}}), racks, kBlock_s);
  expect_makespan(together({{4, 3}}), racks, kBlock_s);
  // Both on rack-0.up.
  expect_makespan(together({{0, 2}, {4, 5}}), racks, 2 * kBlock_s);
  // All its cables at once, and one message on each, on serial ports.
  expect_makespan(together({{4, 0}, {4, 1}, {4, 5}}), racks, kBlock_s);
  expect_makespan(together({{4, 0}, {4, 0}, {4, 5}, {4, 5}}), racks, 2 * kBlock_s);
  // A host's NIC takes one message at a time, whoever sends.
  expect_makespan(together({{4, 0}, {1, 0}}), racks, 2 * kBlock_s);
}

// Engines, on networks that are shared unevenly and with blocks that do not divide.
TEST(SwitchTimes, FlowIsSimgrid) {
  const std::vector<std::string> platforms = {
      "two-level:racks=3,hosts=4,rate=80Gbps,oversubscription=6,latency=1us,hop_latency=100ns,"
      "switches=rack-0..2+core,o_post=200ns,o_complete=300ns,gap=50ns",
      "two-level:racks=3,hosts=4,nic=fair,rate=80Gbps,uplink=30Gbps,latency=1us,o_poll=100ns,"
      "o_match=50ns,switches=rack-0..2+core",
      "fat-tree:down=4x3,up=1x2,rate=40Gbps,link_rate=20Gbps,latency=700ns,interleave=0,"
      "switches=switch-1-0..2+switch-2-0",
      "fat-tree:down=4x3,up=1x2,rate=40Gbps,latency=700ns,placement=random:3,"
      "switches=switch-1-2+switch-1-0+switch-1-1+switch-2-1"};
  for (const std::string& text : platforms) {
    const Platform platform = machine::parse_platform_spec(text);
    for (const char* spec :
         {"switch-multicast:ranks=16,fan-out=4x3,bytes=100100KB,block=7MB,root=5",
          "switch-allreduce:ranks=16,fan-out=4x3,bytes=100100KB,block=7MB,window=2,in-flight=3",
          "switch-reduce:ranks=16,fan-out=4x3,bytes=33333333,block=5MB,ready=write,root=11",
          "circulant:ranks=16,bytes=100100KB,block=7MB"}) {
      const Schedule schedule = compiled(spec);
      const Setting setting(schedule, platform);
      const double flow_s = analysis::run_flows(setting).makespan_s();
      EXPECT_NEAR(sim::run_simgrid(setting).makespan_s(), flow_s, 2.5e-9 * flow_s)
          << text << " " << spec;
    }
  }
}

// Questions about lost blocks: the messages without bytes where there are no credits.
std::size_t questions(const Schedule& schedule) {
  std::size_t count = 0;
  for (const sched::Op& op : schedule.ops()) {
    if (op.kind == sched::OpKind::kSend && schedule.payload_bytes(op) == 0) ++count;
  }
  return count;
}

// A member that misses one block gets it once more through its NIC, which is never idle: one block
// time. The last block is missed when the timer says so, which is before the neighbour has it.
TEST(SwitchTimes, ABlockThatIsLostOnceCostsABlock) {
  const std::string spec =
      "switch-multicast:ranks=6,bytes=80MB,block=10MB,ready=none,loss=20000,seed=";
  std::vector<std::string> losing_one;
  for (int seed = 0; losing_one.size() < 8; ++seed) {
    const std::string lossy = spec + std::to_string(seed);
    if (questions(compiled(lossy)) == 1) losing_one.push_back(lossy);
  }
  for (const std::string& lossy : losing_one) {
    expect_makespan(compiled(lossy), kStar, (8 + 2) * kBlock_s);
  }
}

// All is lost: behind its 4 blocks, and the time in which the last of them passes the switch, the
// root gives the ring of members 4 blocks again, which pass along 3 of them.
TEST(SwitchTimes, WhatAllLoseGoesRoundTheRing) {
  expect_makespan(
      compiled("switch-multicast:ranks=5,bytes=40MB,block=10MB,ready=none,loss=1000000"), kStar,
      (4 + 1 + 4 + 3 - 1) * kBlock_s);
}

TEST(SwitchTimes, RefusesWhatNoWayJoins) {
  const Platform platform =
      machine::parse_platform_spec("fat-tree:arity=4,switches=switch-2-0+switch-2-1");
  const Schedule schedule = testing::permutation(6, {{4, 5}}, 10'000'000);
  EXPECT_EQ(testing::error_of([&] {
              analysis::run_flows({schedule, platform});
            }),
            "rank 4 on switch-2-0 to rank 5 on switch-2-1: no way leads up to a switch and down "
            "again; expected channels between switches that are above or below each other");
}

}  // namespace
}  // namespace slackline
