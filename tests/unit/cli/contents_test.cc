#include "cli/contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "analysis/engines/event_engine.h"
#include "machine/platform.h"
#include "sched/compile.h"

namespace slackline::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ran {
  LoadedSchedule loaded;
  const sched::Schedule& schedule = loaded.schedule;
  sched::Trace trace;

  explicit Ran(const std::string& text)
      : loaded{.schedule = sched::compile(sched::parse_spec(text)),
               .name = text,
               .title = text,
               .blocks = std::nullopt,
               .pattern = text.substr(0, text.find(':'))},
        trace(analysis::run_events({schedule, machine::Platform{}})) {}
  Contents contents() const { return {loaded, trace}; }
};

constexpr const char* kCalls[] = {"call-return:ranks=3,bytes=24,messages=8,handler=1us",
                                  "broadcast:ranks=4,bytes=8,messages=5,aggregation=trad",
                                  "random-access:ranks=3,accesses=12,tasks=3,words=4",
                                  "random-access:ranks=3,accesses=12,tasks=3,words=4,by=fetch-add",
                                  "tree-search:ranks=3,depth=3",
                                  "breadth-first-search:ranks=3,scale=4",
                                  "breadth-first-levels:ranks=3,scale=4",
                                  "hex-search:ranks=3,rollouts=8,playouts=1,bundle=ovfl"};

TEST(Contents, OfWhatRanWellAreReported) {
  for (const char* const spec : kCalls) {
    const Ran ran(spec);
    EXPECT_TRUE(ran.contents().ok()) << spec << ran.contents().report();
    EXPECT_THAT(ran.contents().report(), HasSubstr("ran once, in order")) << spec;
  }
  EXPECT_THAT(Ran(kCalls[3]).contents().report(), HasSubstr("as 36 fetch_adds and "));
  EXPECT_EQ(Ran("chain:ranks=3,bytes=100,block=10").contents().report(), "");
}

TEST(Contents, OfOneIterationAmongSeveralSaySo) {
  Ran ran(kCalls[0]);
  Contents sound = ran.contents();
  EXPECT_THAT(sound.report(), Not(HasSubstr("iteration")));
  sound.speak_of_one_iteration();
  EXPECT_THAT(sound.report(), HasSubstr(" should leave them, in the iteration of the trace\n"));
  ran.trace.ops.back().attempts = 2;
  Contents broken = ran.contents();
  broken.speak_of_one_iteration();
  EXPECT_THAT(broken.report(), HasSubstr(", in order, in the iteration of the trace\n"));
}

// As of a run without timestamps: its times are all 0, in which nothing is out of order.
TEST(Contents, WithoutTimesNothingIsSaidOfOrder) {
  for (const char* const spec : kCalls) {
    Ran ran(spec);
    for (sched::OpTimes& times : ran.trace.ops) {
      times.ready_s = times.issued_s = times.wire_s = times.done_s = 0;
    }
    const Contents contents(ran.loaded, ran.trace, {}, false);
    EXPECT_TRUE(contents.ok()) << spec << contents.report();
    EXPECT_THAT(contents.report(), HasSubstr(" operations that ran once should leave them\n"));
    EXPECT_THAT(contents.report(), Not(HasSubstr("order"))) << spec;
    ran.trace.ops.back().attempts = 2;
    EXPECT_FALSE(Contents(ran.loaded, ran.trace, {}, false).ok()) << spec;
  }
}

TEST(Contents, AnOperationThatRanTwiceOrNotAtAllIsFound) {
  for (const char* const spec : kCalls) {
    for (const std::uint32_t attempts : {0u, 2u}) {
      Ran ran(spec);
      ran.trace.ops[ran.schedule.op_count() / 2].attempts = attempts;
      EXPECT_FALSE(ran.contents().ok()) << spec;
      EXPECT_THAT(ran.contents().report(),
                  AllOf(HasSubstr("1 finding after "), HasSubstr("runs: "),
                        HasSubstr(attempts == 0 ? "ran 0 times" : "ran 2 times")));
    }
  }
}

// Each handler of a call, had it run before the one that came before it.
TEST(Contents, AHandlerThatRanTooSoonIsFound) {
  const Ran sound("call:ranks=2,bytes=24,messages=8,handler=1us");
  std::uint32_t found = 0;
  double last_s = 0;
  for (std::uint32_t i = 0; i < sound.schedule.op_count(); ++i) {
    if (sound.schedule.ops()[i].kind != sched::OpKind::kCalc) continue;
    Ran ran = sound;
    if (last_s > 0) {
      ran.trace.ops[i].issued_s = last_s - 1e-9;
      EXPECT_THAT(ran.contents().report(), HasSubstr("order: ")) << i;
      ++found;
    }
    last_s = sound.trace.ops[i].done_s;
  }
  EXPECT_EQ(found, 7u);
}

TEST(Contents, AnUpdateThatWasLostIsFound) {
  Ran ran(kCalls[3]);
  for (std::uint32_t i = 0; i < ran.schedule.op_count(); ++i) {
    if (ran.schedule.ops()[i].kind != sched::OpKind::kFetchAdd) continue;
    ran.trace.results[i] -= 1;
    break;
  }
  EXPECT_THAT(ran.contents().report(), HasSubstr("lost: "));
}

}  // namespace
}  // namespace slackline::cli
