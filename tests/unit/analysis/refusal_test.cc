// What the engines on a star cannot run, and what they say of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/analytic.h"
#include "analysis/event_engine.h"
#include "analysis/longest_path.h"
#include "sched/builder.h"
#include "sched/error.h"
#include "tests/unit/analysis/broken_schedules.h"

namespace slackline {
namespace {

using testing::BrokenSchedule;
using ::testing::HasSubstr;

template <class Expected>
void expect_refused(const BrokenSchedule& broken) {
  const auto by = [&](auto run, const char* engine) {
    try {
      run();
      ADD_FAILURE() << engine << " ran " << broken.name;
    } catch (const Expected& error) {
      EXPECT_THAT(error.what(), HasSubstr(broken.message)) << engine << ", " << broken.name;
    }
  };
  const machine::Platform platform;
  by([&] { analysis::run_events(broken.schedule, platform); }, "event engine");
  by([&] { analysis::run_analytic(broken.schedule, platform); }, "analytic engine");
}

TEST(Refusal, DynamicSchedules) {
  for (const BrokenSchedule& broken : testing::dynamic_schedules()) {
    expect_refused<Unsupported>(broken);
    EXPECT_THROW(analysis::longest_path(broken.schedule, {}), Unsupported) << broken.name;
  }
}

TEST(Refusal, AtomicsWhoseWordIsOnlyKnownInARun) {
  sched::ScheduleBuilder builder(2);
  const sched::SliceRange word =
      builder.add_slice({builder.add_buffer(sched::RankId(1), 16), 0, 8});
  sched::Channel channel;
  channel.src = sched::RankId(0);
  channel.dst = sched::RankId(1);
  sched::Op op;
  op.kind = sched::OpKind::kFetchAdd;
  op.rank = sched::RankId(0);
  op.channel = builder.add_channel(channel);
  op.reads = op.writes = word;
  sched::OpArguments arguments;
  arguments.address_offset = {sched::Operand::From::kLiteral, {}, 8};
  builder.add(op, arguments);
  expect_refused<Unsupported>(
      {"atomic with an offset", builder.build(), "op 0 (fetch_add, rank 0)"});
}

TEST(Refusal, UnmatchedMessages) {
  for (const BrokenSchedule& broken : testing::unmatched_schedules()) {
    expect_refused<InputError>(broken);
    EXPECT_THROW(analysis::longest_path(broken.schedule, {}), InputError) << broken.name;
  }
}

TEST(Refusal, Deadlocks) {
  for (const BrokenSchedule& broken : testing::deadlocked_schedules()) {
    expect_refused<InputError>(broken);
    EXPECT_FALSE(analysis::longest_path(broken.schedule, {})) << broken.name;
  }
}

}  // namespace
}  // namespace slackline
