// What the engines on a star cannot run, and what they say of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/longest_path.h"
#include "base/error.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/broken_schedules.h"

namespace slackline {
namespace {

using testing::BrokenSchedule;
using ::testing::HasSubstr;

template <class Expected>
void expect_refused(const BrokenSchedule& broken) {
  const auto by = [&](auto run, const char* engine) {
    EXPECT_THAT(testing::error_of<Expected>(run), HasSubstr(broken.message))
        << engine << ", " << broken.name;
  };
  const machine::Platform platform;
  by([&] { analysis::run_events({broken.schedule, platform}); }, "event engine");
  by([&] { analysis::run_analytic({broken.schedule, platform}); }, "analytic engine");
}

TEST(Refusal, Bundles) {
  for (const BrokenSchedule& broken : testing::bundled_schedules()) {
    expect_refused<InputError>(broken);
    EXPECT_THROW(analysis::longest_path({broken.schedule, {}}), Unsupported) << broken.name;
  }
}

TEST(Refusal, UnmatchedMessages) {
  for (const BrokenSchedule& broken : testing::unmatched_schedules()) {
    expect_refused<InputError>(broken);
    EXPECT_THROW(analysis::longest_path({broken.schedule, {}}), InputError) << broken.name;
  }
}

TEST(Refusal, Deadlocks) {
  for (const BrokenSchedule& broken : testing::deadlocked_schedules()) {
    expect_refused<InputError>(broken);
    EXPECT_FALSE(analysis::longest_path({broken.schedule, {}})) << broken.name;
  }
}

}  // namespace
}  // namespace slackline
