// The platforms and delay plans that are not streamed, up to where they begin.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/stream.h"

namespace slackline::analysis {
namespace {

constexpr const char* kSpec = "chain:ranks=4,bytes=100KB,block=10KB";
constexpr const char* kOn = "rate=100Gbps,latency=1us,o_post=1us,o_complete=1us";

std::string reason(const std::string& spec_more, const std::string& platform_more = "",
                   const machine::DelayPlan& plan = {}) {
  return why_not_streamed(
             sched::parse_spec(kSpec + spec_more),
             machine::parse_platform_spec("star:" + (platform_more.empty() ? kOn : platform_more)),
             plan)
      .value_or("none");
}

TEST(StreamRefusals, AreOfThePlatform) {
  const std::string on = kOn;
  for (const auto& [platform, why] : std::vector<std::pair<std::string, std::string>>{
           {on + ",nic=fair", "none"},
           {"rate=100Gbps,latency=1us,o_post=0,o_complete=1us", "o_post is 0"},
           {"rate=100Gbps,latency=1us,o_post=1us,o_complete=0", "none"},
           {"rate=100Gbps,latency=0,o_post=1us,o_complete=1us", "none"},
           {"rate=100Gbps,latency=0,o_post=1us,o_complete=0", "latency and o_complete are 0"},
           {on + ",interleave=9999", "none"},
           {on + ",interleave=10000", "a block is of at most the interleave size"},
       }) {
    EXPECT_EQ(reason("", platform), why) << platform;
  }
  EXPECT_EQ(reason(",in-flight=0", on + ",nic=fair"), "fair NICs share among blocks in flight");
  const auto elsewhere = [](const std::string& platform) {
    return why_not_streamed(sched::parse_spec(kSpec), machine::parse_platform_spec(platform), {});
  };
  EXPECT_EQ(elsewhere("two-level:racks=2,hosts=2," + on), "the network is no star");
}

TEST(StreamRefusals, AreOfThePlan) {
  const std::string why = "the delay plan has more than noise and stragglers";
  machine::DelayPlan plan;
  plan.noise.resize(1);
  plan.stragglers = {{sched::RankId(1), 2, {}}};
  EXPECT_EQ(reason("", "", plan), "none");
  machine::DelayPlan more = plan;
  more.ops.resize(1);
  EXPECT_EQ(reason("", "", more), why);
  more = plan;
  more.steps.resize(1);
  EXPECT_EQ(reason("", "", more), why);
  more = plan;
  more.pairs.push_back({sched::RankId(0), sched::RankId(1), sched::parse_rate("10Gbps", "rate")});
  EXPECT_EQ(reason("", "", more), why);
  more = plan;
  more.link_rates.resize(1);
  EXPECT_EQ(reason("", "", more), why);
  more = plan;
  more.failures.resize(1);
  EXPECT_EQ(reason("", "", more), why);
}

}  // namespace
}  // namespace slackline::analysis
