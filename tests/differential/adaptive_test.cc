// Routing by load: makespans by hand in both engines that share links, and one against the other.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/advice/link_capacity.h"
#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/analytic.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/link_load.h"
#include "analysis/slack/constraint_graph.h"
#include "base/error.h"
#include "machine/paths.h"
#include "sched/compile.h"
#include "sched/program_writer.h"
#include "sim/simgrid_engine.h"
#include "tests/property/random_runs.h"
#include "tests/support/error_of.h"
#include "tests/support/permutation.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::Platform;
using machine::Setting;
using testing::Pairs;

constexpr std::uint64_t kBytes = 10'000'000;
constexpr double kWire_s = 1e-3;  // of one message at the NIC's rate

void expect_makespan(const std::string& spec, const Pairs& pairs, double expected_s,
                     const DelayPlan& plan = {}) {
  const Platform platform = machine::parse_platform_spec(spec);
  const sched::Schedule schedule = testing::permutation(20, pairs, kBytes);
  const Setting setting(schedule, platform, plan);
  const sched::Trace flows = analysis::run_flows(setting);
  EXPECT_NEAR(flows.makespan_s(), expected_s, 1e-9 * expected_s) << spec;
  EXPECT_NEAR(sim::run_simgrid(setting).makespan_s(), expected_s, 2.5e-9 * expected_s) << spec;
  analysis::require_within_capacity(setting, machine::Paths(setting), flows);
}

// Five leaves of four hosts, and k switches above.
std::string tree(std::uint32_t k, const std::string& routing, const std::string& more = "") {
  return "fat-tree:down=4x5,up=1x" + std::to_string(k) +
         ",rate=80Gbps,latency=0,routing=" + routing + more;
}

// The hosts of a leaf, each to the first host of another leaf: by d-mod-k all on one port.
const Pairs kSameDigit = {{0, 4}, {1, 8}, {2, 12}, {3, 16}};

TEST(AdaptiveRuns, TwoMessagesOverTwoWaysNeverMeet) {
  expect_makespan(tree(2, "d-mod-k"), {{0, 4}, {1, 8}}, 2 * kWire_s);
  for (std::uint32_t a = 4; a < 20; ++a) {
    for (std::uint32_t b = 4; b < 20; ++b) {
      if (a != b) expect_makespan(tree(2, "adaptive"), {{0, a}, {1, b}}, kWire_s);
    }
  }
}

// n messages over k ways: ⌈n / k⌉ on the fullest, which share it.
TEST(AdaptiveRuns, MessagesAreBalanced) {
  for (std::uint32_t k = 1; k <= 5; ++k) {
    for (std::uint32_t n = 1; n <= 4; ++n) {
      const Pairs pairs(kSameDigit.begin(), kSameDigit.begin() + n);
      expect_makespan(tree(k, "adaptive"), pairs, (n + k - 1) / k * kWire_s);
    }
  }
  // Parallel cables are ways, too.
  expect_makespan("fat-tree:down=4x5,up=1x2,parallel=1x2,rate=80Gbps,latency=0,routing=adaptive",
                  kSameDigit, kWire_s);
}

// The way down counts as the way up does: hosts of different leaves to hosts of one.
TEST(AdaptiveRuns, TheFullestLinkOfAWayCounts) {
  const Pairs to_one = {{4, 0}, {8, 1}, {12, 2}, {16, 3}};
  expect_makespan(tree(4, "adaptive"), to_one, kWire_s);
  expect_makespan(tree(2, "adaptive"), to_one, 2 * kWire_s);
  // Over three levels.
  expect_makespan("fat-tree:down=2x2x5,up=1x2x2,rate=80Gbps,latency=0,routing=adaptive",
                  {{0, 4}, {1, 8}, {2, 12}, {3, 16}}, kWire_s);
}

// A way is chosen when a message starts, and free again when that has left. On a serial NIC host
// 0's second message starts with the first one's end.
TEST(AdaptiveRuns, WhatHasLeftCountsNoMore) {
  expect_makespan(tree(1, "adaptive"), {{0, 4}, {0, 8}}, 2 * kWire_s);
  expect_makespan(tree(2, "adaptive"), {{0, 4}, {1, 8}, {0, 12}, {1, 16}}, 2 * kWire_s);
  // Host 1's message is slow. Host 0's second one has the other port to itself when the first is
  // gone; by d-mod-k one of these two would share.
  DelayPlan slow;
  slow.pairs.push_back({sched::RankId(1), sched::RankId(8), sched::Rate{40'000'000'000}});
  for (const std::uint32_t dst : {9, 12}) {
    expect_makespan(tree(2, "adaptive"), {{0, 4}, {1, 8}, {0, dst}}, 2 * kWire_s, slow);
  }
}

// The first message keeps its slow way: loads are counted in messages, not by what links can carry.
TEST(AdaptiveRuns, SlowLinksAreNotSeen) {
  DelayPlan plan;
  plan.link_rates.push_back({"switch-1-0.up-0", sched::Rate{20'000'000'000}, sched::Time{0}});
  expect_makespan(tree(2, "adaptive"), {{0, 4}}, 4 * kWire_s, plan);
}

// Puts of different sizes: of messages that end in one moment SimGrid's rounding ends one earlier.
sched::Schedule puts(const Pairs& pairs, testing::Dice& random) {
  sched::ProgramWriter out(20);
  for (const auto& [src, dst] : pairs) {
    const sched::RankId from(src);
    const std::uint64_t bytes = kBytes + random.below(5'000'000);
    const sched::Slice read{out.add_buffer(from, bytes), 0, bytes};
    const sched::Slice written{out.add_buffer(sched::RankId(dst), bytes), 0, bytes};
    out.put({from}, out.connect(from, sched::RankId(dst)), read, written, sched::Notify::kNone);
  }
  return out.build();
}

TEST(AdaptiveRuns, FlowIsSimgrid) {
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    testing::Dice random(seed);
    const std::string shape =
        random.pick({"down=4x5,up=1x2", "down=2x2x5,up=1x2x2", "down=4x5,up=1x2,parallel=1x2"});
    const std::string more = random.pick({"", ",nic=fair", ",link_rate=30Gbps"});
    const std::string platform_text =
        "fat-tree:" + shape + ",rate=80Gbps,latency=1us,routing=adaptive,o_post=300ns" + more;
    const Platform platform = machine::parse_platform_spec(platform_text);
    Pairs pairs;
    for (std::uint32_t m = 0; m < 30; ++m) {
      const std::uint32_t src = random.below(20);
      pairs.emplace_back(src, (src + 1 + random.below(19)) % 20);
    }
    const sched::Schedule schedule = puts(pairs, random);
    const Setting setting(schedule, platform);
    const double flow_s = analysis::run_flows(setting).makespan_s();
    EXPECT_NEAR(sim::run_simgrid(setting).makespan_s(), flow_s, 2.5e-9 * flow_s)
        << seed << " " << platform_text;
  }
  const Platform platform =
      machine::parse_platform_spec("fat-tree:down=4x4,up=1x4,latency=1us,routing=adaptive");
  for (const char* spec : {"allgather:ranks=16,bytes=16MiB", "circulant:ranks=16,bytes=64MiB",
                           "alltoall:ranks=16,bytes=16MiB,in-flight=4"}) {
    const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
    const Setting setting(schedule, platform);
    const double flow_s = analysis::run_flows(setting).makespan_s();
    EXPECT_NEAR(sim::run_simgrid(setting).makespan_s(), flow_s, 5e-9 * flow_s) << spec;
  }
}

template <class What>
std::string refusal_of(What&& what) {
  return testing::error_of<Unsupported>(what);
}

TEST(AdaptiveRuns, WhoFixesWaysRefusesThem) {
  const Platform platform = machine::parse_platform_spec(tree(2, "adaptive"));
  const sched::Schedule schedule = testing::permutation(20, {{0, 4}}, kBytes);
  const Setting setting(schedule, platform);
  const std::string why =
      ": routing=adaptive, with which each message's way shows when it starts; expected another "
      "routing";
  EXPECT_EQ(refusal_of([&] { analysis::makespan_floor_s(setting); }), "floors of makespans" + why);
  EXPECT_EQ(refusal_of([&] {
              analysis::frozen_run(setting, analysis::run_flows(setting),
                                   analysis::WireTimes::kRun);
            }),
            "slack" + why);
  EXPECT_EQ(refusal_of([&] { analysis::link_load(setting, machine::Paths(setting), {}); }),
            "loads of links" + why);
  EXPECT_EQ(
      refusal_of([&] { analysis::run_analytic(setting); }),
      "routing=adaptive goes by what shares the links, which this engine leaves out; expected "
      "--engine flow or simgrid");
  DelayPlan plan;
  plan.failures.push_back({"switch-1-0.up-0", sched::RankId::none(), sched::Time{5}});
  EXPECT_EQ(refusal_of([&] { analysis::run_flows(setting.with(plan)); }),
            "delay plan: failure of link 'switch-1-0.up-0': with routing=adaptive the messages "
            "would choose ways round it, which is not modelled; expected another routing");
  EXPECT_EQ(testing::error_of(
                [] { machine::parse_platform_spec("fat-tree:arity=4,routing=adaptive:3"); }),
            "platform 'fat-tree:arity=4,routing=adaptive:3': routing: 'adaptive:3' has a seed, "
            "and adaptive routing draws nothing; expected adaptive");
  EXPECT_EQ(
      testing::error_of([] { machine::parse_platform_spec("torus:dims=4,routing=adaptive"); }),
      "platform 'torus:dims=4,routing=adaptive': routing: 'adaptive' is no routing here; "
      "expected minimal, ecmp, ecmp:SEED, valiant, valiant:SEED or spray");
}

}  // namespace
}  // namespace slackline
