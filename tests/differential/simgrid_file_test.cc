// SimGrid platform files: the networks that they describe behave as the generated ones, and alike
// in every engine.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/slack/timed_slack.h"
#include "machine/draw.h"
#include "sched/compile.h"
#include "sim/file_wiring.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"
#include "tests/support/source_dir.h"

namespace slackline {
namespace {

using machine::Platform;
using sched::Schedule;

constexpr const char* kPatterns[] = {"binomial-pipeline", "chain",     "sequential",
                                     "binomial-tree",     "circulant", "scatter-allgather"};

Schedule schedule_of(const std::string& pattern, std::uint32_t ranks, std::uint64_t blocks) {
  return compile(sched::parse_spec(pattern + ":ranks=" + std::to_string(ranks) +
                                   ",block=64KiB,bytes=" + std::to_string(blocks * 65536)));
}

std::string file(const std::string& name) {
  return "simgrid:file=" + slackline::testing::source_dir() + "/tests/data/" + name;
}

void expect_same_runs(const std::string& of_file, const std::string& generated,
                      std::uint32_t ranks) {
  for (const std::string figures : {",o_post=1us,gap=500ns,nic=serial", ",o_post=300ns,nic=fair"}) {
    const Platform a = machine::parse_platform_spec(of_file + figures);
    const Platform b = machine::parse_platform_spec(generated + figures);
    for (const char* pattern : kPatterns) {
      const Schedule schedule = schedule_of(pattern, ranks, 9);
      const std::string what = pattern + figures;
      const machine::Wiring wiring = sim::wiring_of(a, schedule);
      testing::expect_equal(sim::run_simgrid({schedule, a, wiring}),
                            sim::run_simgrid({schedule, b}), what);
      const sched::Trace events = analysis::run_events({schedule, a, wiring});
      const sched::Trace expected = analysis::run_events({schedule, b});
      testing::expect_equal(events, expected, what);
      EXPECT_EQ(events.contended, expected.contended) << what;
      testing::expect_equal(analysis::run_analytic({schedule, a, wiring}),
                            analysis::run_analytic({schedule, b}), what);
      const analysis::TimedSlack slack = analysis::timed_slack({schedule, a, wiring, {}}, events);
      EXPECT_EQ(slack.critical_path,
                analysis::timed_slack({schedule, b, {}}, expected).critical_path)
          << what;
    }
  }
}

TEST(SimgridFile, TwoRacksRunAsATwoLevelNetwork) {
  expect_same_runs(file("two_racks.xml"),
                   "two-level:racks=2,hosts=3,rate=100Gbps,uplink=150Gbps,latency=1us,"
                   "hop_latency=250ns",
                   6);
}

TEST(SimgridFile, AClusterRunsAsAStar) {
  expect_same_runs(file("cluster.xml"), "star:rate=80Gbps,latency=2us", 11);
}

TEST(SimgridFile, SamplesAreThoseOfTheGeneratedNetwork) {
  const Platform platform = machine::parse_platform_spec(file("cluster.xml"));
  const Platform star = machine::parse_platform_spec("star:rate=80Gbps,latency=2us");
  const Schedule schedule = schedule_of("binomial-pipeline", 8, 9);
  machine::DelayPlan plan;
  machine::Noise noise;
  noise.of.kind = machine::Distribution::Kind::kExponential;
  noise.of.mean = sched::Time{5'000'000};
  plan.noise.push_back(noise);
  const machine::Samples a = sim::kSimgridEngine.samples(
      {schedule, platform, sim::wiring_of(platform, schedule), plan}, {5, 2, {}});
  const machine::Samples b = sim::kSimgridEngine.samples({schedule, star, plan}, {5, 2, {}});
  ASSERT_EQ(a.makespan_s.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(a.makespan_s[i], b.makespan_s[i], 1e-9 * b.makespan_s[i]);
  }
}

struct Random {
  std::uint64_t seed;
  std::uint32_t site = 0;
  std::uint64_t below(std::uint64_t bound) {
    return machine::draw_below({seed, 0, site++, 0}, bound);
  }
};

// Any links, and a way over one to four of them for each pair; each way round a way of its own.
std::string random_file(Random& random, std::uint32_t hosts) {
  std::string text =
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version='4.1'><zone id='z' routing='Full'>\n";
  for (std::uint32_t h = 0; h < hosts; ++h) {
    text += "<host id='h" + std::to_string(h) + "' speed='1f'/>\n";
  }
  const std::uint64_t links = 3 * hosts + random.below(60);
  std::vector<std::string> ends;
  for (std::uint64_t l = 0; l < links; ++l) {
    const std::string id = std::to_string(l);
    const std::uint64_t kind = random.below(3);
    text += "<link id='l" + id + "' bandwidth='" + std::to_string(1 + random.below(150)) +
            "Gbps' latency='" + std::to_string(random.below(2000)) + "ns' sharing_policy='" +
            (kind == 0   ? "SHARED"
             : kind == 1 ? "FATPIPE"
                         : "SPLITDUPLEX") +
            "'/>\n";
    const std::string end = "<link_ctn id='l" + id + "'";
    if (kind < 2) ends.push_back(end + "/>");
    if (kind == 2) ends.push_back(end + " direction='UP'/>");
    if (kind == 2) ends.push_back(end + " direction='DOWN'/>");
  }
  for (std::uint32_t s = 0; s < hosts; ++s) {
    for (std::uint32_t d = 0; d < hosts; ++d) {
      if (s == d) continue;
      text += "<route src='h" + std::to_string(s) + "' dst='h" + std::to_string(d) +
              "' symmetrical='NO'>";
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
        text += ends[random.below(ends.size())];
      text += "</route>\n";
    }
  }
  return text + "</zone></platform>\n";
}

// Where the event engine says that nothing was shared, all of them say the same; elsewhere those
// that share do.
TEST(SimgridFile, EnginesAgreeOnAnyNetwork) {
  const std::string name = "simgrid-file-" + std::to_string(getpid()) + ".xml";
  int alone = 0;
  int contended = 0;
  int fast = 0;
  for (std::uint64_t seed = 0; seed < 300 && !::testing::Test::HasFatalFailure(); ++seed) {
    Random random{seed};
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(8));
    std::ofstream(name) << random_file(random, ranks);
    const Platform platform = machine::parse_platform_spec(
        "simgrid:file=" + name + ",o_post=" + std::to_string(random.below(2000)) + "ns,nic=" +
        (random.below(2) == 0 ? "serial" : "fair") + ",placement=random:" + std::to_string(seed));
    const Schedule schedule = schedule_of(kPatterns[random.below(6)], ranks, 1 + random.below(6));
    const machine::Wiring wiring = sim::wiring_of(platform, schedule);
    const sched::Trace events = analysis::run_events({schedule, platform, wiring});
    const sched::Trace simgrid = sim::run_simgrid({schedule, platform, wiring});
    const sched::Trace flows = analysis::run_flows({schedule, platform, wiring});
    const std::string what = "seed " + std::to_string(seed);
    if (events.contended) {
      ++contended;
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        ASSERT_NEAR(flows.ops[i].done_s, simgrid.ops[i].done_s, 5e-9) << what << ", op " << i;
      }
      continue;
    }
    ++alone;
    testing::expect_equal(events, flows, what);
    testing::expect_equal(events, simgrid, what);
    if (const auto path = analysis::longest_path({schedule, platform, wiring})) {
      ++fast;
      testing::expect_equal(events, *path, what);
    }
  }
  std::filesystem::remove(name);
  EXPECT_GT(alone, 50);
  EXPECT_GT(contended, 20);
  EXPECT_GT(fast, 20);
}

}  // namespace
}  // namespace slackline
