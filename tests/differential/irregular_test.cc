// Irregular workloads: all engines carry out one plan at the same times.
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"

namespace slackline {
namespace {

const char* const kSpecs[] = {
    "breadth-first-levels:ranks=1,scale=6,work=5ns,handler=10ns",
    "breadth-first-levels:ranks=2,scale=8,work=5ns,handler=10ns",
    "breadth-first-levels:ranks=7,scale=8,record=24,seed=4",
    "random-access:ranks=3,by=cached,cache=exclusive,accesses=9,tasks=3,words=64,work=30ns",
    "random-access:ranks=4,by=cached,cache=exclusive,accesses=6,tasks=2,words=64,handler=80ns,"
    "aggregation=destination,age=5us",
    "random-access:ranks=3,by=fetch-add,home=others,accesses=40,tasks=8,work=20ns,resident=3,"
    "switch-miss=300ns",
    "random-access:ranks=3,home=others,accesses=20,tasks=4,words=9,resident=2,switch-miss=300ns",
};

TEST(Irregular, AllEnginesAgree) {
  int by_one_pass = 0;
  for (const char* text :
       {"fractus",
        "star:nic=serial,rate=40Gbps,latency=1200ns,o_post=300ns,o_complete=300ns,"
        "gap=40ns,atomic_service=1us,copy_rate=32Gbps"}) {
    const machine::Platform platform = machine::load_platform(text);
    for (const std::string spec : kSpecs) {
      const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
      const sched::Trace events = analysis::run_events({schedule, platform});
      const std::string what = spec + " on " + text;
      testing::expect_equal(analysis::run_flows({schedule, platform}), events, what + ", flows");
      testing::expect_equal(sim::run_simgrid({schedule, platform}), events, what + ", SimGrid");
      if (const auto pass = analysis::longest_path({schedule, platform})) {
        testing::expect_equal(*pass, events, what + ", longest path");
        ++by_one_pass;
      }
    }
  }
  EXPECT_GT(by_one_pass, 0);
}

}  // namespace
}  // namespace slackline
