// What links carry, by hand for small networks, and in sum for random ones.
#include "analysis/engines/link_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::DelayPlan;
using machine::Platform;
using machine::Wiring;
using sched::Schedule;
using testing::Dice;
using testing::Program;
using testing::us;

struct Ran {
  Wiring wiring;
  machine::Paths paths;
  sched::Trace trace;
  std::vector<LinkLoad> loads;

  Ran(const Schedule& schedule, const Platform& platform, const DelayPlan& plan = {})
      : wiring(platform, schedule.rank_count()),
        paths(schedule, wiring, plan),
        trace(run_events({schedule, platform, plan})),
        loads(link_load({schedule, platform, wiring}, paths, trace)) {}

  const LinkLoad& operator[](std::string_view name) const {
    return loads.at(wiring.find_link(name).value().value);
  }
  /// The links that carried anything, and the bytes.
  std::map<std::string, std::uint64_t> used() const {
    std::map<std::string, std::uint64_t> result;
    for (std::size_t l = 0; l < loads.size(); ++l) {
      EXPECT_EQ(loads[l].bytes == 0, loads[l].messages == 0);
      if (loads[l].bytes != 0) result[wiring.links()[l].name] = loads[l].bytes;
    }
    return result;
  }
};

// Rank 0 sends 10,000 bytes to each other rank of two racks of two, one after another, at 1 GB/s.
TEST(LinkLoad, OfTwoRacksByHand) {
  Program p(4);
  const sched::ChannelId to[] = {p.channel(0, 1), p.channel(0, 2), p.channel(0, 3)};
  for (const sched::ChannelId c : to) p.send(c, 10'000);
  for (const sched::ChannelId c : to) p.recv(c, 10'000);
  const Ran run(p.build(),
                machine::parse_platform_spec("two-level:racks=2,hosts=2,rate=8Gbps,latency=1us"));
  const std::map<std::string, std::uint64_t> expected = {
      {"host-0.out", 30'000}, {"host-1.in", 10'000}, {"host-2.in", 10'000},
      {"host-3.in", 10'000},  {"rack-0.up", 20'000}, {"rack-1.down", 20'000}};
  EXPECT_EQ(run.used(), expected);
  EXPECT_EQ(run["host-0.out"].messages, 3u);
  EXPECT_NEAR(run["host-0.out"].busy_s, 30e-6, 1e-12);
  EXPECT_EQ(run["rack-0.up"].messages, 2u);
  EXPECT_NEAR(run["rack-0.up"].busy_s, 20e-6, 1e-12);
  EXPECT_NEAR(run["host-3.in"].busy_s, 10e-6, 1e-12);
}

// Four leaf switches of two hosts, two switches above. d-mod-k: hosts 0, 2, 4, 6 are reached over
// port 0 of the leaf switch, the others over port 1. Within a leaf nothing goes up.
TEST(LinkLoad, OfAFatTreeByHand) {
  Program p(8);
  const std::pair<std::uint32_t, std::uint32_t> pairs[] = {{0, 1}, {0, 2}, {1, 3},
                                                           {1, 4}, {6, 3}, {7, 2}};
  std::vector<sched::ChannelId> channels;
  for (const auto& [src, dst] : pairs) channels.push_back(p.channel(src, dst));
  for (const sched::ChannelId c : channels) p.send(c, 5'000);
  for (const sched::ChannelId c : channels) p.recv(c, 5'000);
  const Ran run(p.build(),
                machine::parse_platform_spec("fat-tree:down=2x4,up=1x2,rate=8Gbps,latency=1us"));
  const std::map<std::string, std::uint64_t> expected = {
      {"host-0.out", 10'000},        {"host-1.out", 10'000},
      {"host-6.out", 5'000},         {"host-7.out", 5'000},
      {"host-1.in", 5'000},          {"host-2.in", 10'000},
      {"host-3.in", 10'000},         {"host-4.in", 5'000},
      {"switch-1-0.up-0", 10'000},    // to 2 and 4
      {"switch-1-0.up-1", 5'000},     // to 3
      {"switch-1-3.up-0", 5'000},     // to 2
      {"switch-1-3.up-1", 5'000},     // to 3
      {"switch-1-1.down-0", 10'000},  // 2, from 0 and 7
      {"switch-1-1.down-1", 10'000},  // 3, from 1 and 6
      {"switch-1-2.down-0", 5'000}};  // 4
  EXPECT_EQ(run.used(), expected);
}

// What messages take of a wire is added up to the same number, bit by bit, as one after another:
// also where each takes a part of a byte, or a part of it passes a link.
TEST(LinkLoad, WireBytesAreThoseOfEachMessageInTurn) {
  Dice dice(1);
  Program p(8);
  for (std::uint32_t n = 0; n < 300; ++n) {
    const std::uint32_t src = dice.below(8);
    const sched::ChannelId c = p.channel(src, (src + 1 + dice.below(7)) % 8);
    const std::uint64_t bytes = dice.below(3) == 0 ? 0 : 1 + dice.below(20'000);
    p.send(c, bytes);
    p.recv(c, bytes);
  }
  const Schedule schedule = p.build();
  for (const std::string framing : {"", ",mtu=1KiB,packet_overhead=90B", ",coding=64/66"}) {
    for (const std::string routing : {"", ",routing=spray"}) {
      const Ran run(schedule,
                    machine::parse_platform_spec("fat-tree:down=2x4,up=1x3,rate=8Gbps,latency=1us" +
                                                 framing + routing));
      std::vector<LinkLoad> expected(run.loads.size());
      for (const sched::Op& op : schedule.ops()) {
        const std::uint64_t bytes = schedule.payload_bytes(op);
        if (!sched::is_initiator(op.kind) || bytes == 0) continue;
        const machine::PathId path = run.paths.of(op.channel, false);
        for (std::size_t l = 0; l < run.paths.links(path).size(); ++l) {
          LinkLoad& load = expected[run.paths.links(path)[l].value];
          load.bytes += run.paths.bytes_over(path, l, bytes);
          load.wire_bytes += run.paths.wire_bytes(path, bytes) * run.paths.share(path, l);
          ++load.messages;
        }
      }
      for (std::size_t l = 0; l < expected.size(); ++l) {
        EXPECT_EQ(run.loads[l].bytes, expected[l].bytes);
        EXPECT_EQ(run.loads[l].wire_bytes, expected[l].wire_bytes) << framing << routing;
        EXPECT_EQ(run.loads[l].messages, expected[l].messages);
      }
    }
  }
}

// Overlapping messages keep a link busy once; what stands apart adds up.
TEST(LinkLoad, BusyTimeIsAUnion) {
  Program p(4);
  const sched::ChannelId a = p.channel(0, 2);
  const sched::ChannelId b = p.channel(1, 3);
  const sched::OpId at_50 = p.delay(0, us(50));
  const sched::OpId at_4 = p.delay(1, us(4));
  p.send(a, 10'000);                    // 0 to 10 us
  p.after({at_50}, p.send(a, 10'000));  // 50 to 60 us
  p.after({at_4}, p.send(b, 10'000));   // 4 to 14 us
  p.recv(a, 10'000);
  p.recv(a, 10'000);
  p.recv(b, 10'000);
  const Ran run(p.build(),
                machine::parse_platform_spec("two-level:racks=2,hosts=2,rate=8Gbps,latency=1us"));
  EXPECT_NEAR(run["rack-0.up"].busy_s, 24e-6, 1e-12);
  EXPECT_EQ(run["rack-0.up"].messages, 3u);
  EXPECT_EQ(run["rack-0.up"].bytes, 30'000u);
}

// The same of many, message by message: of each link, what is covered by the times in which one of
// its messages was under way. Some begin together, and some long after all others.
TEST(LinkLoad, BusyTimeIsAUnionOfManyInAnyOrder) {
  for (std::uint32_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    Dice dice(seed);
    constexpr std::uint32_t kRanks = 8;
    Program p(kRanks);
    for (std::uint32_t n = 60 + dice.below(200); n != 0; --n) {
      const std::uint32_t src = dice.below(kRanks);
      const sched::ChannelId c = p.channel(src, (src + 1 + dice.below(kRanks - 1)) % kRanks);
      const std::uint64_t bytes = 1 + dice.below(20'000);
      const std::uint32_t late_us = dice.one_in(40) ? 90'000 : dice.below(4) * 100;
      p.after({p.delay(src, us(late_us))}, p.send(c, bytes));
      p.recv(c, bytes);
    }
    const Schedule schedule = p.build();
    const Ran run(schedule, machine::parse_platform_spec(
                                "two-level:racks=2,hosts=4,rate=8Gbps,latency=1us,nic=fair"));
    std::map<std::uint32_t, std::vector<std::pair<double, double>>> under_way;  // by link
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const sched::Op& op = schedule.ops()[i];
      if (!sched::is_initiator(op.kind)) continue;
      const machine::PathId path = run.paths.of(op.channel, false);
      const double end_s = run.trace.ops[op.match.value].wire_s - run.paths[path].latency_s;
      for (const machine::LinkId link : run.paths.links(path)) {
        under_way[link.value].emplace_back(run.trace.ops[i].wire_s, end_s);
      }
    }
    for (auto& [link, times] : under_way) {
      // Between two moments next to each other, nothing changes.
      std::vector<double> moments;
      for (const auto& [begin_s, end_s] : times) moments.insert(moments.end(), {begin_s, end_s});
      std::sort(moments.begin(), moments.end());
      double busy_s = 0;
      for (std::size_t m = 1; m < moments.size(); ++m) {
        const bool covered = std::any_of(times.begin(), times.end(), [&](const auto& time) {
          return time.first <= moments[m - 1] && moments[m] <= time.second;
        });
        if (covered) busy_s += moments[m] - moments[m - 1];
      }
      EXPECT_NEAR(run.loads[link].busy_s, busy_s, 1e-12) << run.wiring.links()[link].name;
    }
  }
}

// Puts that nothing meets, and gets, which share a port: each has left when the run says so, and
// not when it would have left alone.
TEST(LinkLoad, SharedPortsAreBusyForAsLongAsTheRunHadThem) {
  Program p(6);
  p.put(p.channel(0, 1), 10'000);
  p.put(p.channel(0, 2), 10'000);
  p.get(p.channel(4, 3), 10'000);
  p.get(p.channel(5, 3), 10'000);
  const Schedule schedule = p.build();
  for (const std::string more : {"", ",o_complete=3us"}) {
    const Platform platform =
        machine::parse_platform_spec("star:nic=fair,rate=8Gbps,latency=1us" + more);
    const machine::Setting setting(schedule, platform);
    const machine::Paths paths(setting);
    const auto loads = link_load(setting, paths, run_flows(setting));
    for (const char* const link : {"host-0.out", "host-1.in", "host-3.out", "host-5.in"}) {
      const std::uint32_t place = setting.wiring.find_link(link).value().value;
      EXPECT_NEAR(loads[place].busy_s, 20e-6, 1e-11) << link << more;
    }
  }
}

// Where completions wait to be seen, nothing tells when such a put had left: it counts as carried.
TEST(LinkLoad, WhatNobodyTellsIsNotMadeUp) {
  Program p(3);
  p.put(p.channel(0, 1), 10'000);
  p.put(p.channel(0, 2), 10'000);
  const Schedule schedule = p.build();
  const Platform platform =
      machine::parse_platform_spec("star:nic=fair,rate=8Gbps,latency=1us,o_poll=1us");
  const machine::Setting setting(schedule, platform);
  const machine::Paths paths(setting);
  const sched::Trace trace = run_flows(setting);
  EXPECT_FALSE(std::isfinite(sent_s(setting, paths, trace, sched::OpId(0), 10'000)));
  EXPECT_EQ(link_load(setting, paths, trace)[0].bytes, 20'000u);
  // Alone on its ports it takes what it takes, whatever its completion waits for.
  EXPECT_NEAR(sent_s(setting, paths, run_events(setting), sched::OpId(0), 10'000), 10e-6, 1e-12);
}

// Of gets and atomics the reply counts, on its way back; empty messages count nowhere.
TEST(LinkLoad, CountsRepliesAndNoEmptyMessages) {
  Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  p.get(c, 7'000);
  p.fetch_add(c, 3);
  p.send(c, 0);
  p.put(c, 600);
  p.recv(c, 0);
  const Ran run(p.build(), machine::parse_platform_spec("star:rate=8Gbps,latency=1us"));
  const std::map<std::string, std::uint64_t> expected = {
      {"host-1.out", 7'008}, {"host-0.in", 7'008}, {"host-0.out", 600}, {"host-1.in", 600}};
  EXPECT_EQ(run.used(), expected);
  EXPECT_EQ(run["host-1.out"].messages, 2u);
}

// What a host that fails has still queued never leaves: the receiver's link is free for others.
TEST(LinkLoad, CountsNothingThatAGoneHostHadQueued) {
  Program p(3);
  const sched::ChannelId a = p.channel(0, 2);
  const sched::ChannelId b = p.channel(1, 2);
  p.send(a, 10'000);
  p.send(a, 10'000);
  const sched::OpId at_20 = p.delay(1, us(20));
  p.after({at_20}, p.send(b, 10'000));
  p.recv(a, 10'000);
  p.recv(a, 10'000);
  p.recv(b, 10'000);
  DelayPlan plan;
  plan.failures.push_back({"", sched::RankId(0), us(5)});
  const Schedule schedule = p.build();
  for (const char* nic : {"serial", "fair"}) {
    const Ran run(schedule,
                  machine::parse_platform_spec(
                      std::string("star:rate=8Gbps,latency=1us,gap=10us,nic=") + nic),
                  plan);
    const std::map<std::string, std::uint64_t> expected = {
        {"host-0.out", 10'000}, {"host-1.out", 10'000}, {"host-2.in", 20'000}};
    EXPECT_EQ(run.used(), expected);
    EXPECT_NEAR(run["host-2.in"].busy_s, 10e-6, 1e-12);  // of what was lost nobody knows
  }
}

// What had begun counts, what never left does not; of what was lost nobody knows how long it took.
TEST(LinkLoad, CountsWhatBeganBeforeAFailure) {
  Program p(3);
  const sched::ChannelId a = p.channel(0, 1);
  const sched::ChannelId b = p.channel(1, 2);
  p.send(a, 10'000);
  p.after({p.recv(a, 10'000)}, p.send(b, 10'000));
  p.recv(b, 10'000);
  DelayPlan plan;
  plan.failures.push_back({"host-1.in", sched::RankId::none(), us(5)});
  const Ran run(p.build(), machine::parse_platform_spec("star:rate=8Gbps,latency=1us"), plan);
  const std::map<std::string, std::uint64_t> expected = {{"host-0.out", 10'000},
                                                         {"host-1.in", 10'000}};
  EXPECT_EQ(run.used(), expected);
  EXPECT_EQ(run["host-1.in"].busy_s, 0);
}

// Nor of a put that no receive waits for, whose end is elsewhere that of its bytes alone.
TEST(LinkLoad, KnowsNoEndOfALostPut) {
  Program p(3);
  p.put(p.channel(0, 1), 10'000);
  p.put(p.channel(0, 2), 10'000);
  DelayPlan plan;
  plan.failures.push_back({"host-1.in", sched::RankId::none(), us(5)});
  const Ran run(p.build(), machine::parse_platform_spec("star:rate=8Gbps,latency=1us"), plan);
  const std::map<std::string, std::uint64_t> expected = {
      {"host-0.out", 20'000}, {"host-1.in", 10'000}, {"host-2.in", 10'000}};
  EXPECT_EQ(run.used(), expected);
  EXPECT_EQ(run["host-1.in"].busy_s, 0);
  EXPECT_NEAR(run["host-0.out"].busy_s, 10e-6, 1e-12);
}

// Of what runs several times each attempt counts, and the trace tells when the last one was; what
// was passed over counts nowhere.
TEST(LinkLoad, CountsEveryAttempt) {
  Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  sched::Region repeat;
  repeat.kind = sched::RegionKind::kRepeat;
  repeat.entry = p.put(c, 1'000);
  repeat.count = 1;
  repeat.max_attempts = 3;
  p.builder().add_region(repeat);
  sched::Region alt;
  alt.kind = sched::RegionKind::kAlt;
  alt.entry = p.put(c, 5'000);
  alt.count = 1;
  alt.p.value = 1;
  p.builder().add_region(alt);
  const Ran run(p.build(), machine::parse_platform_spec("star:rate=8Gbps,latency=1us"));
  const std::map<std::string, std::uint64_t> expected = {{"host-0.out", 3'000},
                                                         {"host-1.in", 3'000}};
  EXPECT_EQ(run.used(), expected);
  EXPECT_EQ(run["host-1.in"].messages, 3u);
  EXPECT_NEAR(run["host-1.in"].wire_bytes, 3'000, 1e-9);
  EXPECT_NEAR(run["host-1.in"].busy_s, 1e-6, 1e-12);
}

// What is gathered is one message on its links, with one packet here.
TEST(LinkLoad, CountsABundleAsOneMessage) {
  Program p(2);
  const sched::ChannelId c = p.channel(0, 1);
  p.builder().channel(c).bundle = sched::Bundle::kTraditional;
  p.builder().channel(c).bundle_bytes = 4'000;
  for (int i = 0; i < 8; ++i) p.send(c, 1'000);
  for (int i = 0; i < 8; ++i) p.recv(c, 1'000);
  const Ran run(p.build(),
                machine::parse_platform_spec("star:rate=8Gbps,latency=1us,packet_overhead=100B"));
  const std::map<std::string, std::uint64_t> expected = {{"host-0.out", 8'000},
                                                         {"host-1.in", 8'000}};
  EXPECT_EQ(run.used(), expected);
  EXPECT_EQ(run["host-1.in"].messages, 2u);
  EXPECT_NEAR(run["host-1.in"].wire_bytes, 8'200, 1e-9);
  EXPECT_NEAR(run["host-1.in"].busy_s, 8.2e-6, 1e-12);
}

const char* const kNetworks[] = {
    "star:rate=100Gbps",
    "two-level:racks=4,hosts=5,oversubscription=3",
    "fat-tree:down=5x4,up=1x2",
    "fat-tree:down=4x2x3,up=1x2x2,parallel=1x1x2",
    "dragonfly:groups=3,chassis=2,routers=2,hosts=2",
    "torus:dims=4x3x2",
};

// Every byte leaves by one NIC and comes in by one; no link is busy longer than the run.
TEST(LinkLoad, NicsCarryEveryByteTwice) {
  for (std::uint32_t seed = 0; seed < 600 && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::string network = kNetworks[seed % std::size(kNetworks)];
    const auto nic =
        dice.one_in(2) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial;
    Platform platform = testing::random_platform(dice, nic);
    platform.topology = machine::parse_platform_spec(network).topology;
    const std::string spec = testing::random_spec(
        dice, sched::plan_patterns()[seed % sched::plan_patterns().size()].name, 20, 8);
    const Schedule schedule = seed % 4 == 0 ? testing::RandomSchedule(dice, 12, 40).build()
                                            : compile(sched::parse_spec(spec));
    const Ran run(schedule, platform);
    std::uint64_t sent = 0;
    for (const sched::Op& op : schedule.ops()) {
      if (sched::is_initiator(op.kind)) sent += schedule.payload_bytes(op);
    }
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    for (std::size_t l = 0; l < run.loads.size(); ++l) {
      const std::string& name = run.wiring.links()[l].name;
      if (name.starts_with("host-")) (name.ends_with(".out") ? out : in) += run.loads[l].bytes;
      EXPECT_LE(run.loads[l].busy_s, run.trace.makespan_s() * (1 + 1e-9)) << name;
      // Nothing passes faster than the link, where the engine has left out no sharing and no small
      // messages travel between the packets of larger ones.
      if (!run.trace.contended && platform.interleave_bytes == 0) {
        EXPECT_GE(run.loads[l].busy_s * run.wiring.links()[l].rate.bytes_per_second(),
                  static_cast<double>(run.loads[l].bytes) * (1 - 1e-6))
            << name;
      }
    }
    EXPECT_EQ(out, sent) << network << ", seed " << seed;
    EXPECT_EQ(in, sent) << network << ", seed " << seed;
  }
}

// Above the leaves of a fat tree, what goes up on a level comes down on it.
TEST(LinkLoad, WhatGoesUpComesDown) {
  for (const char* network : {"two-level:racks=4,hosts=4", "fat-tree:arity=4",
                              "fat-tree:down=4x2x2,up=1x2x2,parallel=1x1x2"}) {
    const Schedule schedule =
        compile(sched::parse_spec("binomial-pipeline:ranks=16,bytes=1MiB,block=64KiB"));
    const Ran run(schedule, machine::parse_platform_spec(network));
    std::map<std::string, std::int64_t> balance;  // by level
    std::uint64_t inner = 0;
    for (const auto& [name, bytes] : run.used()) {
      const bool up = name.find(".up") != std::string::npos;
      const bool down = name.find(".down") != std::string::npos;
      if (!up && !down) continue;
      inner += bytes;
      balance[name.substr(0, name.find('-') + 2)] +=
          up ? static_cast<std::int64_t>(bytes) : -static_cast<std::int64_t>(bytes);
    }
    EXPECT_GT(inner, 0u);
    if (std::string(network).starts_with("two-level")) {
      std::int64_t all = 0;
      for (const auto& [rack, bytes] : balance) all += bytes;
      EXPECT_EQ(all, 0);
    } else {
      for (const auto& [level, bytes] : balance) EXPECT_EQ(bytes, 0) << network << ", " << level;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
