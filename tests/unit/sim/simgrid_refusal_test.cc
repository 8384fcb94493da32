// What SimGrid cannot run, and what becomes of a child process that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "base/error.h"
#include "sim/child_run.h"
#include "sim/simgrid_engine.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/broken_schedules.h"

namespace slackline {
namespace {

using testing::BrokenSchedule;
using ::testing::HasSubstr;

template <class Expected>
void expect_thrown(const std::function<void()>& run, const std::string& message) {
  EXPECT_THAT(testing::error_of<Expected>(run), HasSubstr(message));
}

template <class Expected>
void expect_refused(const std::vector<BrokenSchedule>& all) {
  for (const BrokenSchedule& broken : all) {
    SCOPED_TRACE(broken.name);
    expect_thrown<Expected>([&] { sim::run_simgrid({broken.schedule, {}}); }, broken.message);
  }
}

TEST(SimgridRefusal, Bundles) { expect_refused<InputError>(testing::bundled_schedules()); }
TEST(SimgridRefusal, UnmatchedMessages) {
  expect_refused<InputError>(testing::unmatched_schedules());
}
TEST(SimgridRefusal, Deadlocks) { expect_refused<InputError>(testing::deadlocked_schedules()); }

TEST(SimgridRefusal, ARunGoesWellAfterOneThatDidNot) {
  expect_refused<InputError>(testing::deadlocked_schedules());
  testing::Program p(2);
  p.put(p.channel(0, 1), 1'000'000);
  EXPECT_GT(sim::run_simgrid({p.build(), {}}).makespan_s(), 0);
}

TEST(ChildRun, SharesWhatItWrites) {
  const sim::SharedMemory memory(sizeof(int));
  int& shared = *static_cast<int*>(memory.data());
  EXPECT_EQ(shared, 0);
  int own = 1;
  sim::run_in_child([&] {
    shared = 7;
    own = 7;
  });
  EXPECT_EQ(shared, 7);
  EXPECT_EQ(own, 1);
}

TEST(ChildRun, ThrowsHereWhatWasThrownThere) {
  expect_thrown<InputError>([] { sim::run_in_child([] { throw InputError("no such rank"); }); },
                            "no such rank");
  expect_thrown<EnvironmentError>(
      [] { sim::run_in_child([] { throw EnvironmentError("no memory"); }); }, "no memory");
  expect_thrown<InternalError>([] { sim::run_in_child([] { throw InternalError("ours"); }); },
                               "ours");
  expect_thrown<InternalError>(
      [] { sim::run_in_child([] { throw std::runtime_error("somebody's"); }); }, "somebody's");
}

TEST(ChildRun, AnOverlongMessageIsCutOff) {
  expect_thrown<InputError>(
      [] { sim::run_in_child([] { throw InputError(std::string(5'000, 'x')); }); },
      std::string(1'000, 'x'));
}

TEST(ChildRun, ADeathIsOurDefect) {
  expect_thrown<InternalError>([] { sim::run_in_child([] { std::raise(SIGKILL); }); }, "signal 9");
  expect_thrown<InternalError>([] { sim::run_in_child([] { _exit(3); }); }, "without an answer");
}

}  // namespace
}  // namespace slackline
