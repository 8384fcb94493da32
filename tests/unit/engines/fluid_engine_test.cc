// Runs of the fluid engine: against the event engine where nothing is shared, against closed forms
// where PFC stops links, and against what every link must have carried.
#include "analysis/engines/fluid_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/fluid_network.h"
#include "analysis/engines/link_load.h"
#include "base/error.h"
#include "engines/engines.h"
#include "machine/congestion.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "tests/support/error_of.h"
#include "tests/unit/engines/puts.h"

namespace slackline::analysis {
namespace {

using machine::Platform;
using machine::Setting;
using ::testing::HasSubstr;
using testing::Put;
using testing::schedule_of_puts;

constexpr double kLine = 5e9;  // 40 Gb/s, in bytes per second
constexpr double kLatency_s = 2e-6;
const std::string kFigures = "nic=fair,rate=40Gbps,latency=2us";
// Each with what it takes beside: default steps of 100 ns.
const std::vector<std::string> kControls = {"pfc", "dcqcn", "dcqcn+pfc"};

Platform platform(const std::string& network, const std::string& congestion) {
  const char last = network.find(':') == std::string::npos ? ':' : ',';
  return machine::parse_platform_spec(network + last + kFigures + ",congestion=" + congestion);
}

// From the start to when the last byte of each put has left.
std::vector<double> left_s(const sched::Trace& trace) {
  std::vector<double> times;
  for (const sched::OpTimes& op : trace.ops) times.push_back(op.done_s - 2 * kLatency_s);
  return times;
}

std::vector<double> left_s(const sched::Schedule& schedule, const Platform& on) {
  return left_s(run_fluid({schedule, on}));
}

TEST(FluidEngine, TakesWhatEventsTakeWhereNothingIsShared) {
  // One message over links of one rate: no queue. Steps end where it ends, so but for rounding the
  // times are the same.
  for (const std::string& network :
       {std::string("star"), std::string("two-level:racks=2,hosts=2"),
        std::string("fat-tree:arity=4"), std::string("torus:dims=4")}) {
    for (const std::uint64_t bytes : {10'000u, 1'000'003u}) {
      const sched::Schedule schedule = schedule_of_puts(4, {{0, 3, bytes}});
      const double expected_s = run_events({schedule, platform(network, "off")}).makespan_s();
      for (const std::string& control : kControls) {
        const double found_s = run_fluid({schedule, platform(network, control)}).makespan_s();
        EXPECT_NEAR(found_s, expected_s, 1e-9 * expected_s) << network << " " << control;
      }
    }
  }
  // Blocks of a chain follow each other, and never share a port.
  const sched::Schedule chain = compile(sched::parse_spec("chain:ranks=4,bytes=1MiB,block=128KiB"));
  const double expected_s = run_events({chain, platform("star", "off")}).makespan_s();
  for (const std::string& control : kControls) {
    EXPECT_NEAR(run_fluid({chain, platform("star", control)}).makespan_s(), expected_s,
                1e-9 * expected_s)
        << control;
  }
}

// Uplinks have half of a NIC's rate: PFC stops the NIC, and never the uplink, which is busy from
// the first byte on. What leaves its queue within a step ends with the step.
TEST(FluidEngine, KeepsASlowLinkBusy) {
  const std::string network = "two-level:racks=2,hosts=2,uplink=20Gbps";
  const sched::Schedule schedule = schedule_of_puts(4, {{0, 3, 4'000'000}});
  const double expected_s = run_events({schedule, platform(network, "off")}).makespan_s();
  const Platform on = platform(network, "pfc");
  const Setting setting(schedule, on);
  const FluidRun run = run_fluid_with_links(setting);
  EXPECT_NEAR(run.trace.makespan_s(), expected_s, 1.01 * 100e-9);
  const LinkCongestion& nic = run.links[setting.wiring.find_link("host-0.out")->value];
  const LinkCongestion& uplink = run.links[setting.wiring.find_link("rack-0.up")->value];
  EXPECT_GT(nic.pauses, 100u);
  EXPECT_GT(nic.paused_s, 0.4 * expected_s);
  EXPECT_EQ(uplink.pauses, 0u);
  // What the switch holds is XOFF, and what comes in a step.
  EXPECT_GT(uplink.largest_queue_bytes, 24'475);
  EXPECT_LT(uplink.largest_queue_bytes, 24'475 + kLine * 100e-9);
}

// Four hosts send to one, one of them from another rack, whose neighbour there sends to an idle
// host. Everybody's ports, and the uplink of twice the rate, would have room for that one. Under
// PFC each of the four links into the busy host's switch is stopped until it has had its quarter;
// the uplink's two senders are behind each other there. So the fifth gets a quarter of its rate,
// too. (The victim flow of Zhu et al., 2015, section 2.2.)
struct Victim {
  static constexpr std::uint64_t kBytes = 8'000'000;
  static constexpr std::uint32_t kOp = 1;
  std::string network = "two-level:racks=2,hosts=5,uplink=80Gbps";
  sched::Schedule schedule = schedule_of_puts(10, {{0, 5, 40'000'000},
                                                   {1, 6, kBytes},
                                                   {7, 5, 40'000'000},
                                                   {8, 5, 40'000'000},
                                                   {9, 5, 40'000'000}});
  double alone_s = static_cast<double>(kBytes) / kLine;
};

// The 3 % are for what is under way before the first pause: less than 3 XOFF of 8 MB.
TEST(FluidEngine, SlowsAVictimUnderPfc) {
  const Victim victim;
  const double by_flows_s =
      left_s(run_flows({victim.schedule, platform(victim.network, "off")}))[Victim::kOp];
  EXPECT_NEAR(by_flows_s, victim.alone_s, 1e-6 * victim.alone_s);
  const std::vector<double> times = left_s(victim.schedule, platform(victim.network, "pfc"));
  EXPECT_NEAR(times[Victim::kOp], 4 * victim.alone_s, 0.03 * 4 * victim.alone_s);
}

TEST(FluidEngine, LetsTheVictimGoUnderDcqcn) {
  const Victim victim;
  const double dcqcn_s =
      left_s(victim.schedule, platform(victim.network, "dcqcn,congestion_step=500ns"))[Victim::kOp];
  EXPECT_NEAR(dcqcn_s, victim.alone_s, 0.01 * victim.alone_s);
  // Pauses come before the rates have come down, and fewer later.
  const double both_s = left_s(
      victim.schedule, platform(victim.network, "dcqcn+pfc,congestion_step=500ns"))[Victim::kOp];
  EXPECT_LT(both_s, 2 * victim.alone_s);
  EXPECT_GT(both_s, victim.alone_s);
}

// Three hosts of another rack and a neighbour send to one host. Max-min fair shares are quarters;
// PFC shares by links, so the neighbour has a half. (The same section's parking lot.)
TEST(FluidEngine, SharesByLinksUnderPfc) {
  const std::string network = "two-level:racks=2,hosts=5,uplink=40Gbps";
  const std::uint64_t bytes = 4'000'000;
  const sched::Schedule schedule = schedule_of_puts(
      10, {{0, 5, 8 * bytes}, {1, 5, 8 * bytes}, {2, 5, 8 * bytes}, {6, 5, bytes}});
  const double alone_s = static_cast<double>(bytes) / kLine;
  EXPECT_NEAR(left_s(run_flows({schedule, platform(network, "off")}))[3], 4 * alone_s,
              1e-6 * alone_s);
  EXPECT_NEAR(left_s(schedule, platform(network, "pfc"))[3], 2 * alone_s, 0.03 * 2 * alone_s);
}

// What waits for a full link waits in the switch, and leaves the sender's port to what comes later.
// By max-min fair shares it waits at the sender. No link carries more than it can.
TEST(FluidEngine, MayEndSoonerThanByFairShares) {
  std::string text = "slackline schedule 1\nranks 4\n";
  for (int r = 0; r < 4; ++r)
    text += "buffer " + std::to_string(r) + " rank " + std::to_string(r) + " bytes 30MB\n";
  text +=
      "channel 0 from 0 to 2\nchannel 1 from 0 to 3\nchannel 2 from 1 to 2\nrank 0\n"
      "  0 put on 0 reads 0[0+10000000] writes 2[0+10000000]\n"
      "  1 calc for 1ms\n"
      "  2 put on 1 reads 0[10000000+20000000] writes 3[0+20000000] after done:1\n"
      "rank 1\n"
      "  3 put on 2 reads 1[0+10000000] writes 2[10000000+10000000]\n";
  const sched::Schedule schedule = sched::read_text(text, "sooner");
  const auto makespan_s = [&](const Platform& on) {
    return run_fluid({schedule, on}).makespan_s() - 2 * kLatency_s;
  };
  EXPECT_NEAR(makespan_s(platform("star", "off")), 6.5e-3, 1e-9);
  const double port_s = 30e6 / kLine;  // of host 0
  EXPECT_NEAR(makespan_s(platform("star", "pfc,pfc_xoff=100MB")), port_s, 2e-7);
  EXPECT_NEAR(makespan_s(platform("star", "pfc")), 6.5e-3, 2e-5);
}

// Of one queue pair messages go one after the other, at its rate; two queue pairs share the NIC.
TEST(FluidEngine, HasOneRateForAChannel) {
  const double one_s = 1e6 / kLine;
  for (const std::string& control : kControls) {
    const Platform on = platform("star", control);
    const std::vector<double> same =
        left_s(schedule_of_puts(2, {{0, 1, 1'000'000}, {0, 1, 1'000'000, true}}), on);
    EXPECT_NEAR(same[0], one_s, 1e-9 * one_s) << control;
    EXPECT_NEAR(same[1], 2 * one_s, 1e-9 * one_s) << control;
    const std::vector<double> two =
        left_s(schedule_of_puts(2, {{0, 1, 1'000'000}, {0, 1, 1'000'000}}), on);
    EXPECT_NEAR(two[0], 2 * one_s, 1e-9 * one_s) << control;
    EXPECT_NEAR(two[1], 2 * one_s, 1e-9 * one_s) << control;
  }
}

// What DCQCN took from a queue pair stays taken for its next message, and a rest gives it back.
TEST(FluidEngine, KeepsTheRateFromMessageToMessage) {
  const sched::Schedule schedule =
      schedule_of_puts(3, {{0, 2, 4'000'000}, {0, 2, 1'000, true}, {1, 2, 4'000'000}});
  const Platform on = platform("star", "dcqcn");
  const Setting setting(schedule, on);
  const machine::Paths paths(setting);
  FluidNetwork network(setting, paths);
  network.start(0, 4'000'000, sched::OpId(0));
  network.start(2, 4'000'000, sched::OpId(2));
  EXPECT_EQ(network.allowed_bytes_per_s(0), kLine);
  std::vector<sched::OpId> sent;
  while (!network.is_idle()) network.step(1, sent);
  ASSERT_EQ(sent.size(), 2u);
  const double after = network.allowed_bytes_per_s(0);
  EXPECT_LT(after, 0.9 * kLine);
  network.start(0, 1'000, sched::OpId(1));
  EXPECT_EQ(network.allowed_bytes_per_s(0), after);
  while (!network.is_idle()) network.step(1, sent);
  network.skip_to(network.now_s() + 1);
  network.start(0, 1'000, sched::OpId(1));
  EXPECT_NEAR(network.allowed_bytes_per_s(0), kLine, 1e-6 * kLine);
}

// Every large message's bytes go over each link of its way, once, and none is faster than its
// slowest link.
TEST(FluidEngine, CarriesEveryByteOverEveryLink) {
  const std::vector<std::string> networks = {"star", "two-level:racks=3,hosts=3,uplink=50Gbps",
                                             "fat-tree:down=3x3,up=1x2"};
  for (std::uint32_t seed = 0; seed < 18; ++seed) {
    std::mt19937_64 random(seed);
    const auto host = [&] { return static_cast<std::uint32_t>(random() % 9); };
    std::vector<Put> all;
    for (std::uint32_t src = 0; src < 9; ++src) {
      for (std::uint32_t n = host() % 3; n > 0; --n) {
        const bool again = !all.empty() && all.back().src == src && random() % 3 == 0;
        all.push_back({src, again ? all.back().dst : host() % 2, 1 + random() % 1'000'000, again});
      }
    }
    const sched::Schedule schedule = schedule_of_puts(9, all);
    const std::string& network = networks[seed % networks.size()];
    const std::string& control = kControls[seed / networks.size() % kControls.size()];
    const Platform on = platform(network, control + ",congestion_step=500ns,interleave=0");
    const Setting setting(schedule, on);
    const FluidRun run = run_fluid_with_links(setting);
    const machine::Paths paths(setting);
    const std::vector<LinkLoad> loads = link_load(setting, paths, run.trace);
    const std::string what = on.spec() + " seed " + std::to_string(seed);
    for (std::size_t l = 0; l < loads.size(); ++l) {
      EXPECT_NEAR(run.links[l].bytes, loads[l].wire_bytes, 1e-6 * loads[l].wire_bytes + 1e-3)
          << setting.wiring.links()[l].name << " of " << what;
    }
    for (std::size_t op = 0; op < all.size(); ++op) {
      const double least_s = static_cast<double>(all[op].bytes) / kLine;
      EXPECT_GE(left_s(run.trace)[op], least_s * (1 - 1e-9)) << op << " of " << what;
      EXPECT_TRUE(std::isfinite(run.trace.ops[op].done_s)) << what;
    }
    EXPECT_EQ(sched::digest_of(run_fluid(setting)), sched::digest_of(run.trace)) << what;
  }
}

// On a ring each sends to the third behind it, so that two of three bytes that wait for a link came
// over the link before it: all links of the ring stop each other.
TEST(FluidEngine, SaysWhenPfcStopsEverything) {
  std::vector<Put> all;
  for (std::uint32_t h = 0; h < 7; ++h) all.push_back({h, (h + 3) % 7, 4'000'000});
  const sched::Schedule schedule = schedule_of_puts(7, all);
  EXPECT_THAT(testing::error_of([&] {
                run_fluid({schedule, platform("torus:dims=7", "pfc")});
              }),
              HasSubstr("PFC has stopped all that is under way for ever"));
  EXPECT_TRUE(std::isfinite(run_fluid({schedule, platform("torus:dims=7", "dcqcn")}).makespan_s()));
}

// Half of the rate from the middle on.
TEST(FluidEngine, FollowsLinksThatChange) {
  const sched::Schedule schedule = schedule_of_puts(2, {{0, 1, 1'000'000}});
  machine::DelayPlan plan;
  plan.link_rates.push_back({"host-1.in", {20'000'000'000}, sched::Time{100'000'000}});
  const Platform on = platform("star", "pfc");
  EXPECT_NEAR(left_s(run_fluid({schedule, on, plan}))[0], 100e-6 + 200e-6, 100e-9);
}

TEST(FluidEngine, RefusesWhatItDoesNotModel) {
  const sched::Schedule schedule = schedule_of_puts(2, {{0, 1, 1'000'000}});
  const Platform on = platform("star", "dcqcn");
  machine::DelayPlan failing;
  failing.failures.push_back({.link = "host-0.out", .at = sched::Time{1}});
  machine::DelayPlan slow;
  slow.pairs.push_back({sched::RankId(0), sched::RankId(1), {1'000'000'000}});
  for (const machine::DelayPlan* plan : {&failing, &slow}) {
    const Setting setting(schedule, on, *plan);
    EXPECT_THAT(kFluidEngine.why_refused(setting).value_or(""), HasSubstr("the fluid engine: "));
    EXPECT_THROW(run_fluid(setting), Unsupported);
    const Platform off = platform("star", "off");
    EXPECT_FALSE(kFluidEngine.why_refused(Setting(schedule, off, *plan)).has_value());
  }
  // A NIC's link is slow enough for the step, and the uplink is not.
  EXPECT_THROW(
      run_fluid({schedule_of_puts(4, {{0, 3, 100'000}}),
                 platform("two-level:racks=2,hosts=2,uplink=400Gbps", "pfc,congestion_step=1us")}),
      InputError);
}

TEST(FluidEngine, AnswersAsTheFlowEngineWithoutCongestion) {
  const sched::Schedule schedule = schedule_of_puts(3, {{0, 2, 1'000'000}, {1, 2, 1'000'000}});
  const Platform off = platform("star", "off");
  const sched::Trace trace = run_fluid({schedule, off});
  EXPECT_EQ(trace.engine, "flow");
  EXPECT_EQ(sched::digest_of(trace), sched::digest_of(run_flows({schedule, off})));
  EXPECT_TRUE(run_fluid_with_links({schedule, off}).links.empty());
}

TEST(FluidEngine, EndsARunIfWhoWatchesThrows) {
  const sched::Schedule schedule = schedule_of_puts(3, {{0, 2, 50'000'000}, {1, 2, 50'000'000}});
  const Platform on = platform("star", "dcqcn");
  const machine::RunWatch gives_up = [] { throw InputError("given up"); };
  const Setting setting(schedule, on);
  EXPECT_THROW(run_fluid(setting.watched(&gives_up)), InputError);
}

// No engine but this one leaves congestion out without a word.
TEST(Congestion, IsRefusedByEveryOtherEngine) {
  const sched::Schedule schedule =
      compile(sched::parse_spec("chain:ranks=3,bytes=64KiB,block=16KiB"));
  for (const std::string& control : kControls) {
    const Platform on = platform("star", control);
    const Setting setting(schedule, on);
    for (const machine::Engine* engine : engines::engines()) {
      if (engine == &kFluidEngine) continue;
      const std::string why = engine->why_refused(setting).value_or("");
      EXPECT_THAT(why, HasSubstr("congestion=" + control + ": this engine has no queues"))
          << engine->name;
      EXPECT_THROW(engine->run(setting), Unsupported) << engine->name;
      EXPECT_THROW(engine->samples(setting, {1, 1, {}}), Unsupported) << engine->name;
      const std::vector<machine::OpDelay> delays = {{sched::OpId(0), sched::Time{1}}};
      machine::PlanRuns runs;
      const machine::TraceReading reading{1, [](const sched::Trace& trace, std::span<double> kept) {
                                            kept[0] = trace.makespan_s();
                                          }};
      EXPECT_THROW(engine->delayed_runs(setting, delays, runs, reading), Unsupported)
          << engine->name;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
