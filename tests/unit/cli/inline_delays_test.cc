#include "cli/inline_delays.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"

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

using Add = void (*)(DelayPlan&, std::string_view);

TEST(InlineDelays, ReadEveryOtherEntryAsAFileDoes) {
  const auto same = [](Add add, std::string_view inlined, std::string_view table) {
    DelayPlan plan;
    add(plan, inlined);
    EXPECT_EQ(plan, machine::delay_plan_from_toml(table, "d.toml")) << inlined;
  };
  same(add_straggler, "rank=3,slowdown=1.5", "[[straggler]]\nrank = 3\nslowdown = 1.5");
  same(add_straggler, "slowdown=2,by=1us,rank=3",
       "[[straggler]]\nrank = 3\nslowdown = 2\nby = \"1us\"");
  same(add_straggler, "rank=3,by=1us", "[[straggler]]\nrank = 3\nby = \"1us\"");
  const std::string noise = "[[noise]]\ndistribution = ";
  same(add_noise, "constant,by=1us", noise + "\"constant\"\nby = \"1us\"");
  same(add_noise, "uniform,low=0ns,high=2us,chance=10%",
       noise + "\"uniform\"\nlow = \"0ns\"\nhigh = \"2us\"\nchance = 0.1");
  same(add_noise, "exponential,mean=1us,of=op,rank=4",
       noise + "\"exponential\"\nmean = \"1us\"\nof = \"op\"\nranks = [4]");
  same(add_noise, "lognormal,sigma=0.5,median=1us,chance=0.01",
       noise + "\"lognormal\"\nmedian = \"1us\"\nsigma = 0.5\nchance = \"1%\"");
  same(add_link_rate, "link=rack-0.up,rate=20Gbps,at=1ms",
       "[[link_rate]]\nlink = \"rack-0.up\"\nrate = \"20Gbps\"\nat = \"1ms\"");
  same(add_link_rate, "link=rack-0.up,rate=20Gbps",
       "[[link_rate]]\nlink = \"rack-0.up\"\nrate = \"20Gbps\"");
  same(add_failure, "rank=3,at=2ms", "[[failure]]\nrank = 3\nat = \"2ms\"");
  same(add_failure, "link=a", "[[failure]]\nlink = \"a\"");
}

TEST(InlineDelays, ReadANoiseTraceFromAFile) {
  const std::string path = ::testing::TempDir() + "slackline-inline-noise.txt";
  std::ofstream(path) << "1us\n2us # twice as long\n";
  DelayPlan plan;
  add_noise(plan, "trace,file=" + path);
  EXPECT_EQ(plan.noise.at(0).of.values,
            (std::vector<sched::Time>{sched::Time{1'000'000}, sched::Time{2'000'000}}));
  std::ofstream(path) << "# nothing\n";
  EXPECT_THROW(add_noise(plan, "trace,file=" + path), InputError);
  std::filesystem::remove(path);
  EXPECT_THROW(add_noise(plan, "trace,file=" + path), InputError);
}

TEST(InlineDelays, RefuseTheRestOfEveryOtherEntry) {
  const auto refused = [](Add add, std::string_view text) {
    DelayPlan plan;
    EXPECT_THROW(add(plan, text), InputError) << text;
    EXPECT_TRUE(plan.empty()) << text;
  };
  for (const char* text : {"", "rank=1", "slowdown=2", "rank=1,slowdown=0.5", "rank=1,slowdown=nan",
                           "rank=1,slowdown=x", "rank=1,by=1", "rank=1,slowdown=2,slowdown=2"}) {
    refused(add_straggler, text);
  }
  for (const char* text :
       {"", "uniform", "normal,mean=1us", "uniform,low=1us", "uniform,low=2us,high=1us",
        "uniform,low=0,high=1us,mean=1us", "constant,by=-1us", "constant,by=1us,chance=2",
        "constant,by=1us,chance=-1%", "constant,by=1us,of=rank", "constant,by=1us,rank=x",
        "lognormal,median=1us,sigma=-1", "lognormal,median=1us,sigma=inf", "trace", "constant,",
        "constant,by=1us,", "exponential,mean=99999999999s", "kind=constant,by=1us"}) {
    refused(add_noise, text);
  }
  for (const char* text :
       {"", "link=a", "rate=1Gbps", "link=,rate=1Gbps", "link=a,rate=0Gbps",
        "link=a,rate=1Gbps,at=1", "link=a,rate=1Gbps,rank=1", "link=\n,rate=1Gbps"}) {
    refused(add_link_rate, text);
  }
  for (const char* text : {"", "at=1us", "rank=1,link=a", "rank=-1", "link=", "rank=1,at=-1us"}) {
    refused(add_failure, text);
  }
}

TEST(InlineDelays, PropagatedOnes) {
  const PropagatedDelay one = parse_propagated("op=17,by=10us,of=lane");
  EXPECT_EQ(one.op, sched::OpId(17));
  EXPECT_EQ(one.by, sched::Time{10'000'000});
  EXPECT_TRUE(one.whole_lane);
  const PropagatedDelay every = parse_propagated("by=0");
  EXPECT_FALSE(every.op);
  EXPECT_EQ(every.by, sched::Time{0});
  EXPECT_FALSE(every.whole_lane);
  for (const char* text :
       {"", "op=1", "op=x,by=1us", "op=-1,by=1us", "by=-1us", "by=1", "op=1,by=1us,",
        "op=1,by=1us,of=rank", "op=1,op=1,by=1us", "rank=1,by=1us"}) {
    EXPECT_THROW(parse_propagated(text), InputError) << text;
  }
}

}  // namespace
}  // namespace slackline::cli
