// Slopes of small delays against exact ones, also where everything ties.
#include "analysis/slack/delay_slopes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/slack/timed_slack.h"
#include "sched/compile.h"
#include "tests/exact/exact_run.h"
#include "tests/property/random_runs.h"
#include "tests/support/asked_count.h"
#include "tests/support/exact_flows.h"
#include "tests/support/sanitized.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::Platform;
using machine::Wiring;
using sched::OpId;
using sched::RankId;
using sched::Schedule;
using sched::Time;
using slackline::testing::Dice;
using slackline::testing::Rational;

constexpr std::uint32_t kRanks = 6;
constexpr std::uint32_t kLinks = 5;
constexpr std::uint64_t kGigabit = 1'000'000'000;

// Messages between ranks, each after up to two others that its source took part in. Nothing but
// their bytes takes time.
struct Flows {
  struct Flow {
    std::uint32_t src;
    std::uint32_t dst;
    std::uint64_t bytes;
    std::vector<std::size_t> before;
  };
  std::vector<Flow> flows;
  std::vector<std::uint64_t> gigabits;               // of each link
  std::vector<std::vector<std::uint32_t>> links_of;  // of each pair

  const std::vector<std::uint32_t>& way(std::uint32_t src, std::uint32_t dst) const {
    return links_of[src * kRanks + dst];
  }
};

// In `symmetric` ones sizes are equal, and rates are few: most ends tie.
Flows random_flows(Dice& dice, bool symmetric) {
  Flows f;
  for (std::uint32_t l = 0; l < kLinks; ++l) {
    f.gigabits.push_back(symmetric ? dice.pick<std::uint64_t>({1, 2, 4}) : 1 + dice.below(9));
  }
  for (std::uint32_t pair = 0; pair < kRanks * kRanks; ++pair) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t n = 1 + dice.below(3); n != 0; --n) {
      const std::uint32_t link = dice.below(kLinks);
      if (std::find(way.begin(), way.end(), link) == way.end()) way.push_back(link);
    }
    f.links_of.push_back(std::move(way));
  }
  for (std::size_t i = 0; i < 14; ++i) {
    const std::uint32_t src = dice.below(kRanks);
    const std::uint32_t dst = (src + 1 + dice.below(kRanks - 1)) % kRanks;
    Flows::Flow flow{src, dst, symmetric ? 400'000 : 20'000ull * (1 + dice.below(20)), {}};
    std::vector<std::size_t> seen;
    for (std::size_t p = 0; p < i; ++p) {
      if (f.flows[p].src == src || f.flows[p].dst == src) seen.push_back(p);
    }
    for (std::uint32_t n = dice.below(3); n != 0 && !seen.empty(); --n) {
      flow.before.push_back(seen[dice.below(static_cast<std::uint32_t>(seen.size()))]);
    }
    std::sort(flow.before.begin(), flow.before.end());
    flow.before.erase(std::unique(flow.before.begin(), flow.before.end()), flow.before.end());
    f.flows.push_back(std::move(flow));
  }
  return f;
}

struct Made {
  Schedule schedule;
  std::vector<OpId> sends;  // of each flow
  std::vector<OpId> recvs;
};

Made schedule_of(const Flows& f) {
  testing::Program program(kRanks);
  std::vector<sched::ChannelId> channels;
  for (const Flows::Flow& flow : f.flows) channels.push_back(program.channel(flow.src, flow.dst));
  std::vector<OpId> sends(f.flows.size());
  std::vector<OpId> recvs(f.flows.size());
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    for (std::size_t i = 0; i < f.flows.size(); ++i) {
      if (f.flows[i].src == r) sends[i] = program.send(channels[i], f.flows[i].bytes);
      if (f.flows[i].dst == r) recvs[i] = program.recv(channels[i], f.flows[i].bytes);
    }
  }
  for (std::size_t i = 0; i < f.flows.size(); ++i) {
    for (const std::size_t p : f.flows[i].before) {
      program.after({f.flows[p].src == f.flows[i].src ? sends[p] : recvs[p]}, sends[i]);
    }
  }
  return {program.build(), std::move(sends), std::move(recvs)};
}

Wiring wiring_of(const Flows& f) {
  std::vector<machine::Link> links;
  for (std::uint32_t l = 0; l < kLinks; ++l) {
    links.push_back({"link-" + std::to_string(l), {f.gigabits[l] * kGigabit}, true});
  }
  std::vector<Wiring::FixedRoute> routes;
  for (std::uint32_t s = 0; s < kRanks; ++s) {
    for (std::uint32_t d = 0; d < kRanks; ++d) {
      machine::Route route;
      for (const std::uint32_t l : f.way(s, d)) route.links.emplace_back(l);
      routes.push_back({RankId(s), RankId(d), std::move(route)});
    }
  }
  return {std::vector<std::string>(kRanks, "host"), std::move(links), std::move(routes)};
}

testing::ExactFlows exact(const Flows& f) {
  std::vector<testing::ExactFlow> flows;
  for (const Flows::Flow& flow : f.flows) {
    const auto& way = f.way(flow.src, flow.dst);
    flows.push_back({flow.bytes, {way.begin(), way.end()}, flow.before});
  }
  std::vector<Rational> capacities;
  for (const std::uint64_t gigabits : f.gigabits) capacities.emplace_back(gigabits * kGigabit / 8);
  return {std::move(flows), std::move(capacities)};
}

Platform only_bytes_take_time() {
  Platform p;
  p.nic = machine::NicDiscipline::kFair;
  p.interleave_bytes = 0;
  return p;
}

TEST(DelaySlopes, AreTheExactOnes) {
  const Platform platform = only_bytes_take_time();
  const Rational tiny = Rational(1) / 1'000'000'000'000'000'000;  // of a second
  const std::uint32_t instances =
      testing::asked_count("SLACKLINE_SLOPE_INSTANCES", testing::cases(200u));
  int below_0 = 0;
  int above_1 = 0;
  int compared = 0;
  for (std::uint32_t seed = 0; seed < instances; ++seed) {
    Dice dice(seed);
    const Flows flows = random_flows(dice, seed % 2 == 0);
    const Made made = schedule_of(flows);
    const Wiring wiring = wiring_of(flows);
    const testing::ExactFlows oracle = exact(flows);
    const DelayedRuns runs({made.schedule, platform, wiring, {}});
    const Rational makespan = oracle.makespan(0, 0);
    ASSERT_NEAR(runs.undelayed().makespan_s(), makespan.convert_to<double>(), 1e-13);
    const std::vector<Rational> ends = oracle.ends(0, 0);
    for (std::size_t f = 0; f < ends.size(); ++f) {
      for (const OpId op : {made.sends[f], made.recvs[f]}) {
        ASSERT_NEAR(runs.undelayed().ops[op.value].done_s, ends[f].convert_to<double>(), 1e-13)
            << "seed " << seed << ", flow " << f;
      }
    }
    std::vector<std::size_t> tried;
    std::vector<OpId> ops;
    for (std::uint32_t i = 0; i < 6; ++i) {
      tried.push_back(dice.below(static_cast<std::uint32_t>(flows.flows.size())));
      ops.push_back(made.sends[tried.back()]);
    }
    const std::vector<DelaySlope> slopes = delay_slopes(runs, ops, 1);
    for (std::size_t i = 0; i < tried.size(); ++i) {
      const double expected =
          Rational((oracle.makespan(tried[i], tiny) - makespan) / tiny).convert_to<double>();
      ++compared;
      ASSERT_TRUE(slopes[i].settled()) << "seed " << seed << ", flow " << tried[i];
      EXPECT_EQ(slopes[i].at_once_s, 0) << "seed " << seed << ", flow " << tried[i];
      ASSERT_NEAR(slopes[i].slope, expected, slopes[i].within)
          << "seed " << seed << ", flow " << tried[i];
      EXPECT_LE(slopes[i].within, 1e-6);
      if (expected < 0) ++below_0;
      if (expected > 1) ++above_1;
    }
  }
  EXPECT_GT(below_0, compared / 20);
  EXPECT_GT(above_1, 0);
}

// The two know nothing of each other.
TEST(DelaySlopes, AreOfRunsThatExactOnesAreToo) {
  const Platform platform = only_bytes_take_time();
  for (std::uint32_t seed = 0; seed < testing::cases(100u); ++seed) {
    Dice dice(seed);
    const Flows flows = random_flows(dice, seed % 2 == 0);
    const Made made = schedule_of(flows);
    const Wiring wiring = wiring_of(flows);
    const sched::Trace run = testing::run_exactly({made.schedule, platform, wiring, {}});
    const std::vector<Rational> ends = exact(flows).ends(0, 0);
    for (std::size_t f = 0; f < ends.size(); ++f) {
      for (const OpId op : {made.sends[f], made.recvs[f]}) {
        ASSERT_DOUBLE_EQ(run.ops[op.value].done_s, ends[f].convert_to<double>())
            << "seed " << seed << ", flow " << f;
      }
    }
  }
}

TEST(DelaySlopes, Are0Or1WhereNothingIsSharedAndTheOrderIsFixed) {
  const Schedule schedule =
      compile(sched::parse_spec("chain:ranks=4,bytes=400KB,block=100KB,ready=none"));
  const Platform platform = machine::load_platform("star:rate=80Gbps,latency=1us");
  const Wiring wiring(platform, schedule.rank_count());
  const TimedSlack slack =
      timed_slack({schedule, platform, {}}, run_analytic({schedule, platform}));
  std::vector<OpId> ops;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) ops.emplace_back(i);
  const DelayedRuns runs({schedule, platform, wiring, {}});
  const std::vector<DelaySlope> slopes = delay_slopes(runs, ops, 2);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    ASSERT_TRUE(slopes[i].settled());
    EXPECT_EQ(slopes[i].at_once_s, 0);
    EXPECT_EQ(slopes[i].slope, slack.total_float_s[i] < 1e-12 ? 1 : 0) << "op " << i;
  }
}

// The example of docs/architecture.md: two sends under way, of which one then waits for the other.
TEST(DelaySlopes, TellWhatTheLeastDelayCostsAtOnce) {
  const Schedule schedule = compile(
      sched::parse_spec("binomial-tree:ranks=4,bytes=320KiB,block=64KiB,window=1,in-flight=0"));
  const Platform platform = machine::load_platform("star:rate=100Gbps,latency=1us");
  const Wiring wiring(platform, schedule.rank_count());
  std::vector<OpId> ops;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) ops.emplace_back(i);
  const DelayedRuns runs({schedule, platform, wiring, {}});
  double most_s = 0;
  for (const DelaySlope& slope : delay_slopes(runs, ops, 2)) {
    ASSERT_TRUE(slope.settled());
    most_s = std::max(most_s, slope.at_once_s);
  }
  const double block_s = 65'536 / 12.5e9;
  EXPECT_NEAR(most_s, block_s, 1e-12);
}

// Polls and posts a nanosecond apart: costs of 4.096, 2.048 and 1.024 ns are 1.64 ns each, by
// chance. Delays of up to 1 ns cost themselves.
TEST(DelaySlopes, TakeTheLeastDelaysWordForWhatCostsAtOnce) {
  const Schedule schedule = compile(sched::parse_spec(
      "call-buffer:ranks=6,bytes=0,slots=2,chunk=4KiB,chunks=2,chunk-limit=3,signal=2,"
      "reads=identifier,aggregation=trad"));
  const Platform platform = machine::load_platform(
      "star:nic=fair,rate=100Gbps,latency=1ns,o_complete=200ns,gap=1ns,atomic_service=700ns,"
      "copy_rate=200Gbps,interleave=20000,mtu=4KiB,packet_overhead=0");
  const OpId put(2);
  const DelayedRuns runs({schedule, platform});
  const DelaySlope slope = delay_slopes(runs, {&put, 1}, 1).front();
  EXPECT_EQ(slope.slope, 1);
  EXPECT_EQ(slope.at_once_s, 0);
  EXPECT_GT(slope.up_to, kLeastSmallDelay);
  EXPECT_LT(slope.up_to, kLargestSmallDelay);
}

TEST(DelaySlopes, AreOfCostsOnOneLine) {
  const Time by{4'000};
  const double by_s = 4e-9;
  constexpr double kRounding_s = 1e-18;
  const auto through = [&](double at_once_s, double slope) {
    const auto cost_s = [&](double share) { return at_once_s + slope * share * by_s; };
    return slope_through(by, cost_s(1), cost_s(0.5), cost_s(0.25), kRounding_s);
  };
  for (const double slope : {-2.5, -0.125, 0.0, 1.0 / 3, 1.0, 7.0}) {
    for (const double at_once_s : {-1e-6, 0.0, 3e-9}) {
      const DelaySlope found = through(at_once_s, slope);
      ASSERT_TRUE(found.settled());
      EXPECT_EQ(found.up_to, by);
      EXPECT_NEAR(found.slope, slope, found.within);
      EXPECT_NEAR(found.at_once_s, at_once_s, 1e-17);
    }
  }
  // A breakpoint in between.
  EXPECT_FALSE(slope_through(by, by_s, by_s / 2, by_s / 2, kRounding_s).settled());
  EXPECT_FALSE(slope_through(by, by_s, 0, 0, kRounding_s).settled());
  EXPECT_FALSE(slope_through(by, by_s, by_s / 2, by_s / 4 + 1e-15, kRounding_s).settled());
  // Neither of a run that never ends.
  const double never_s = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(slope_through(by, never_s, never_s, 0, kRounding_s).settled());
  EXPECT_FALSE(slope_through(by, never_s, never_s, never_s, kRounding_s).settled());
}

}  // namespace
}  // namespace slackline::analysis
