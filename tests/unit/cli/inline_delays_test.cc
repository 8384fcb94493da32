#include "cli/inline_delays.h"

#include <gtest/gtest.h>

#include "sched/error.h"

namespace slackline::cli {
namespace {

using machine::DelayPlan;

DelayPlan delay(std::string_view text) {
  DelayPlan plan;
  add_delay(plan, text);
  return plan;
}

TEST(InlineDelays, ReadWhatAFileWouldSay) {
  const auto same = [](std::string_view inlined, std::string_view table) {
    const std::string file = "schema = 1\n[[delay]]\n" + std::string(table);
    EXPECT_EQ(delay(inlined).text(), machine::delay_plan_from_toml(file, "d.toml").text());
  };
  same("op=17,by=10us", "op = 17\nby = \"10us\"");
  same("by=10us,op=17,of=op", "op = 17\nby = \"10us\"");
  same("op=17,by=1.5ms,of=lane", "op = 17\nby = \"1500us\"\nof = \"lane\"");
  same("op=17,rank=3,by=10us", "op = 17\nrank = 3\nby = \"10us\"");
  same("rank=3,step=4,by=0", "rank = 3\nstep = 4\nby = \"0us\"");
  DelayPlan plan;
  add_slow_pair(plan, "src=1,dst=2,rate=50Gbps");
  EXPECT_EQ(plan.text(),
            machine::delay_plan_from_toml(
                "schema = 1\n[[slow_pair]]\nsrc = 1\ndst = 2\nrate = \"50Gbps\"\n", "d.toml")
                .text());
}

TEST(InlineDelays, AddUp) {
  DelayPlan plan = delay("op=1,by=1us");
  add_delay(plan, "op=1,by=1us");
  add_delay(plan, "rank=0,step=0,by=1us");
  EXPECT_EQ(plan.ops.size(), 2u);
  EXPECT_EQ(plan.steps.size(), 1u);
}

TEST(InlineDelays, RefuseTheRest) {
  for (const char* text : {"",
                           ",",
                           "op",
                           "op=",
                           "=1",
                           "op=1",
                           "by=1us",
                           "op=1,by=1",
                           "op=1,by=1us,",
                           "op=1,by=-1us",
                           "op=4294967295,by=1us",
                           "op=-1,by=1us",
                           "op=1,by=1us,of=rank",
                           "op=1,by=1us,op=1",
                           "op=1,step=1,by=1us",
                           "op=1,rank=1,step=1,by=1us",
                           "rank=1,by=1us",
                           "step=1,by=1us",
                           "op=1,by=1us,src=1",
                           "op=1,by=99999999999s"}) {
    EXPECT_THROW(delay(text), InputError) << text;
  }
  DelayPlan plan;
  for (const char* text : {"", "src=1", "src=1,dst=2", "src=1,dst=2,rate=0Gbps",
                           "src=1,dst=2,rate=1", "src=1,dst=2,rate=1Gbps,by=1us"}) {
    EXPECT_THROW(add_slow_pair(plan, text), InputError) << text;
  }
}

}  // namespace
}  // namespace slackline::cli
