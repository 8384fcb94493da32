// A delay of ε costs at most ε where the arcs fix every order on lanes and at ports
// (analysis/slack/fixed_order.h): held in the event engine, at every operation, and held not to be
// so without.
#include "analysis/slack/fixed_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "analysis/engines/event_engine.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"

namespace slackline {
namespace {

using analysis::Contested;
using analysis::FixedOrder;
using machine::DelayPlan;
using machine::Platform;
using machine::Wiring;
using sched::ChannelId;
using sched::OpId;
using sched::RankId;
using sched::Schedule;
using sched::Time;
using testing::Dice;
using testing::Program;

constexpr double kRounding_s = 1e-14;

FixedOrder order_of(const Schedule& schedule, const Platform& platform,
                    const DelayPlan& plan = {}) {
  const Wiring wiring(platform, schedule.rank_count());
  return analysis::fixed_order({schedule, platform, wiring, plan},
                               analysis::run_events({schedule, platform, wiring, plan}));
}

struct Worst {
  double added_s = 0;  // beyond the delay
  std::string where;
};

// The most that a delay adds to the makespan beyond itself: every operation, with its lane or
// without, from a nanosecond up.
Worst worst_delay(const Schedule& schedule, const Platform& platform, const DelayPlan& plan = {},
                  std::initializer_list<int> delays_ns = {1, 333, 7'000}) {
  const double base_s = analysis::run_events({schedule, platform, plan}).makespan_s();
  Worst worst;
  for (std::uint32_t op = 0; op < schedule.op_count(); ++op) {
    for (const int by_ns : delays_ns) {
      for (const bool whole_lane : {false, true}) {
        DelayPlan delayed = plan;
        const Time by{by_ns * 1'000};
        delayed.ops.push_back({OpId(op), by, whole_lane, RankId::none()});
        const double added_s = analysis::run_events({schedule, platform, delayed}).makespan_s() -
                               base_s - sched::seconds(by);
        if (added_s <= worst.added_s) continue;
        worst = {added_s, fmt::format("{} by {} ns{}", describe(schedule, OpId(op)), by_ns,
                                      whole_lane ? " of its lane" : "")};
      }
    }
  }
  return worst;
}

Schedule compiled(std::string_view spec) { return compile(sched::parse_spec(spec)); }

// Where a delay costs more than itself, and what the arcs leave open there.
TEST(FixedOrder, ADelayMayCostMoreWhereTheArcsLeaveAnOrderOpen) {
  const Schedule tree =
      compiled("binomial-tree:ranks=4,bytes=320KiB,block=64KiB,window=1,in-flight=0");
  const Platform platform = machine::parse_platform_spec(
      "star:rate=12.5GBps,latency=600ns,o_post=200ns,o_complete=200ns,gap=20ns");
  DelayPlan plan;
  plan.ops.push_back({OpId(20), Time{1'000}, true, RankId::none()});
  const double base_s = analysis::run_events({tree, platform}).makespan_s();
  const double late_s = analysis::run_events({tree, platform, plan}).makespan_s();
  EXPECT_GT(late_s - base_s, 5e-6);  // of a nanosecond
  const FixedOrder of_tree = order_of(tree, platform);
  EXPECT_FALSE(of_tree.one_delay_costs_at_most_itself());
  EXPECT_TRUE(of_tree.decided);
  // Without lanes in the way, the blocks of two sends under way still meet.
  EXPECT_EQ(
      order_of(tree, machine::parse_platform_spec("star:rate=12.5GBps,latency=600ns")).contested,
      Contested::kOutPort);
}

TEST(FixedOrder, TheDefaultCirculantOfSixRanksIsOpen) {
  const Schedule circulant = compiled("circulant:ranks=6,bytes=320KiB,block=64KiB");
  const Platform platform = machine::parse_platform_spec(
      "star:rate=12.5GBps,latency=600ns,o_post=200ns,o_complete=200ns,gap=20ns");
  EXPECT_GT(worst_delay(circulant, platform, {}, {1}).added_s, 100e-9);
  EXPECT_EQ(order_of(circulant, platform).contested, Contested::kLane);
}

struct Tally {
  int fixed = 0;
  int open = 0;
};

void expect_at_most_itself(const Schedule& schedule, const Platform& platform,
                           const DelayPlan& plan, const std::string& what, Tally& tally) {
  const FixedOrder order = order_of(schedule, platform, plan);
  ASSERT_TRUE(order.decided) << what;
  if (!order.one_delay_costs_at_most_itself()) {
    ++tally.open;
    return;
  }
  ++tally.fixed;
  const Worst worst = worst_delay(schedule, platform, plan);
  ASSERT_LE(worst.added_s, kRounding_s) << what << '\n' << worst.where;
}

TEST(FixedOrder, OneDelayCostsAtMostItselfInEveryPatternThatHasIt) {
  Tally tally;
  for (const std::string_view pattern :
       {"sequential", "chain", "binomial-tree", "binomial-pipeline", "circulant", "hybrid",
        "scatter-allgather", "binary-tree", "double-tree"}) {
    const int fixed = tally.fixed;
    for (const std::uint32_t ranks : {3u, 4u, 6u}) {
      for (const std::string_view options : {"", ",window=5", ",window=1,in-flight=0", ",start=all",
                                             ",ready=write,first-block=copy"}) {
        const std::string spec =
            fmt::format("{}:ranks={},bytes=60000,block=20000{}", pattern, ranks, options);
        const Schedule schedule = compiled(spec);
        for (const std::string_view network :
             {"star:rate=10Gbps,latency=1us",
              "star:rate=10Gbps,latency=1us,o_complete=200ns,gap=100ns",
              "star:rate=10Gbps,latency=1us,o_post=300ns"}) {
          ASSERT_NO_FATAL_FAILURE(
              expect_at_most_itself(schedule, machine::parse_platform_spec(network), {},
                                    fmt::format("{} on {}", spec, network), tally));
        }
      }
    }
    EXPECT_GT(tally.fixed, fixed) << pattern;
  }
  EXPECT_GT(tally.fixed, 100);
  EXPECT_GT(tally.open, 100);
}

// Any operations, on any machine, with other delays already there.
TEST(FixedOrder, OneDelayCostsAtMostItselfInRandomRunsThatHaveIt) {
  Tally tally;
  for (std::uint32_t seed = 0; seed < 3'000; ++seed) {
    Dice random(seed);
    const Schedule schedule = testing::RandomSchedule(random, 4, 2 + random.below(10)).build();
    Platform platform = testing::random_platform(
        random, random.one_in(3) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial);
    if (random.one_in(2)) platform.o_post = {};
    if (random.one_in(2)) platform.gap = {};
    const DelayPlan plan = testing::random_delays(random, schedule);
    ASSERT_NO_FATAL_FAILURE(
        expect_at_most_itself(schedule, platform, plan, fmt::format("seed {}", seed), tally));
  }
  EXPECT_GT(tally.fixed, 1'000);
  EXPECT_GT(tally.open, 1'000);
}

// Two ranks, two operations each: a copy, or a put to either other rank, with bytes or none, the
// second after the first is issued, done, or at any time.
TEST(FixedOrder, OneDelayCostsAtMostItselfInAllShortProgramsThatHaveIt) {
  Platform platform;
  platform.rate = platform.copy_rate = {8'000'000'000};
  platform.latency = sched::Time{100'000};
  Tally tally;
  int worse = 0;  // of those that are open
  for (const int o_post_ns : {0, 500}) {
    platform.o_post = Time{o_post_ns * 1'000};
    for (std::uint32_t code = 0; code < 18 * 18 * 6 * 6; ++code) {
      std::uint32_t rest = code;
      const auto next = [&](std::uint32_t n) {
        const std::uint32_t digit = rest % n;
        rest /= n;
        return digit;
      };
      Program p(3);
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        OpId last;
        for (int i = 0; i < 2; ++i) {
          const std::uint32_t to = next(3);
          const std::uint64_t bytes = 5'000 * next(2);
          const std::uint32_t waits = i == 0 ? 0 : next(3);
          const OpId op = to == rank ? p.copy(rank, bytes) : p.put(p.channel(rank, to), bytes);
          if (waits != 0) p.after({last}, op, waits == 1 ? sched::On::kIssued : sched::On::kDone);
          last = op;
        }
      }
      const Schedule schedule = p.build();
      if (order_of(schedule, platform).one_delay_costs_at_most_itself()) {
        ++tally.fixed;
        const Worst worst = worst_delay(schedule, platform, {}, {1});
        ASSERT_LE(worst.added_s, kRounding_s) << "program " << code << '\n' << worst.where;
      } else {
        ++tally.open;
        if (tally.open % 8 == 0) worse += worst_delay(schedule, platform, {}, {1}).added_s > 0;
      }
    }
  }
  EXPECT_GT(tally.fixed, 3'000);
  EXPECT_GT(tally.open, 3'000);
  EXPECT_GT(worse, 100);  // it does not say no for nothing
}

// What is named: who competes, and where.
TEST(FixedOrder, NamesWhatIsOpen) {
  const auto of = [](std::string_view spec, std::string_view network) {
    return order_of(compiled(spec), machine::parse_platform_spec(network)).contested;
  };
  constexpr std::string_view kBare = "star:rate=100Gbps,latency=1us";
  constexpr std::string_view kPipeline = "binomial-pipeline:ranks=8,bytes=8MiB,block=1MiB";
  const auto pipeline = [&](std::string_view options) {
    return of(fmt::format("{}{}", kPipeline, options), kBare);
  };
  EXPECT_EQ(pipeline(""), Contested::kNothing);
  EXPECT_EQ(pipeline(",start=all"), Contested::kInPort);
  EXPECT_EQ(pipeline(",window=5"), Contested::kInPort);
  EXPECT_EQ(pipeline(",in-flight=0"), Contested::kOutPort);
  EXPECT_EQ(of(kPipeline, "star:rate=100Gbps,latency=1us,o_post=1ns"), Contested::kLane);
  EXPECT_EQ(of(kPipeline, "star:nic=fair,rate=100Gbps,latency=1us"), Contested::kNothing);
  EXPECT_EQ(of("binomial-pipeline:ranks=8,bytes=8MiB,block=1MiB,start=all",
               "star:nic=fair,rate=100Gbps,latency=1us"),
            Contested::kLink);
  EXPECT_EQ(of(kPipeline, "two-level:racks=2,hosts=4,oversubscription=4"), Contested::kLink);
  EXPECT_EQ(of(kPipeline, "two-level:racks=2,hosts=4"), Contested::kNothing);
  EXPECT_EQ(analysis::place_of(compiled(kPipeline), {Contested::kLane, OpId(30), OpId(31), true}),
            "a lane of rank 1");
}

// What leaves one NIC in a fixed order comes in that order to every other.
TEST(FixedOrder, AnOutPortsOrderIsItsTargetsOrder) {
  const auto contested = [](sched::On on) {
    Program p(3);
    const OpId first = p.put(p.channel(0, 1), 9'000);
    const OpId between = p.put(p.channel(0, 2), 9'000);
    const OpId last = p.put(p.channel(0, 1), 9'000);
    p.after({first}, between, on);
    if (on == sched::On::kIssued) p.after({between}, last, on);
    return order_of(p.build(), Platform{}).contested;
  };
  EXPECT_EQ(contested(sched::On::kIssued), Contested::kNothing);
  EXPECT_EQ(contested(sched::On::kDone), Contested::kOutPort);
}

// Rank 1's request leaves after rank 0's was issued, but rank 0's may still wait for its NIC: so
// which answer comes first is open.
TEST(FixedOrder, AnAnswerIsQueuedWhenItsRequestHasArrived) {
  Program p(3);
  const ChannelId small = p.channel(0, 2);
  const ChannelId large = p.channel(0, 1);
  for (int i = 0; i < 4; ++i) p.put(small, 4'000);
  const OpId get = p.get(small, 9'000);
  const OpId send = p.send(large, 5'000);
  p.after({get}, send, sched::On::kIssued);
  const OpId recv = p.recv(large, 5'000);
  const OpId other = p.get(p.channel(1, 2), 9'000);
  p.after({recv}, other);
  const FixedOrder order = order_of(p.build(), Platform{});
  EXPECT_EQ(order.contested, Contested::kOutPort);
  EXPECT_EQ(std::minmax(order.first, order.second), std::minmax(get, other));
}

TEST(FixedOrder, AtomicsCompeteForTheirWord) {
  Platform platform;
  platform.nic = machine::NicDiscipline::kFair;  // serial: the answers compete for a port as well
  platform.atomic_service = Time{300'000};
  Program p(3);
  p.fetch_add(p.channel(0, 2), 0);
  p.fetch_add(p.channel(1, 2), 0);
  EXPECT_EQ(order_of(p.build(), platform).contested, Contested::kWord);
  Program apart(3);
  apart.fetch_add(apart.channel(0, 2), 0);
  apart.fetch_add(apart.channel(1, 2), 1);
  EXPECT_TRUE(order_of(apart.build(), platform).one_delay_costs_at_most_itself());
}

TEST(FixedOrder, RatesThatChangeAtGivenTimesLeaveItOpen) {
  const Schedule chain = compiled("chain:ranks=2,bytes=1MiB");
  const Platform platform = machine::parse_platform_spec("star:rate=100Gbps,latency=1us");
  EXPECT_TRUE(order_of(chain, platform).one_delay_costs_at_most_itself());
  DelayPlan plan;
  plan.link_rates.push_back({"host-0.out", {1'000'000'000}, Time{2'000'000}});
  EXPECT_EQ(order_of(chain, platform, plan).contested, Contested::kRates);
}

}  // namespace
}  // namespace slackline
