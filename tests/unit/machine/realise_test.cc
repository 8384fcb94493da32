// What a trace tells of actual outcomes, by traces whose counts are made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "machine/static_forms.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::OpId;

// A rank comes to an alt three times: operation 1 within operations 0 … 1.
sched::Schedule alt_in_repeat() {
  return sched::read_text(
      "slackline schedule 1\nranks 1\nrank 0\n0 calc for 1us\n1 calc for 1us\n2 calc for 1us\n"
      "region repeat entry 0 count 2 attempts 3\n"
      "region alt entry 1 count 1 outcome actual\n");
}

// A rank comes to a retry three times.
sched::Schedule retry_in_repeat() {
  return sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 1 bytes 8\nchannel 0 from 0 to 1\n"
      "rank 0\n0 calc for 1us\n"
      "1 compare_swap on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 0\n"
      "region repeat entry 0 count 2 attempts 3\n"
      "region retry entry 1 count 1 attempts 9 outcome actual\n");
}

sched::Schedule lone_retry() {
  return sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 1 bytes 8\nchannel 0 from 0 to 1\n"
      "rank 0\n0 compare_swap on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 0\n"
      "region retry entry 0 count 1 attempts 9 outcome actual\n");
}

sched::Trace ran(const sched::Schedule& schedule, const std::vector<std::uint32_t>& attempts) {
  sched::Trace trace;
  trace.schedule = schedule.digest();
  for (const std::uint32_t count : attempts) {
    trace.ops.emplace_back();
    trace.ops.back().attempts = count;
  }
  return trace;
}

std::size_t times(const sched::Schedule& schedule, std::uint32_t op,
                  const std::vector<std::uint32_t>& attempts) {
  const sched::Unrolled made = realise(schedule, ran(schedule, attempts));
  return static_cast<std::size_t>(std::count(made.origin.begin(), made.origin.end(), OpId(op)));
}

template <class Error>
std::string error_of(const sched::Schedule& schedule, const std::vector<std::uint32_t>& attempts) {
  return testing::error_of<Error>([&] { realise(schedule, ran(schedule, attempts)); });
}

TEST(Realise, AnAltWasTakenEachTimeOrNever) {
  const sched::Schedule schedule = alt_in_repeat();
  EXPECT_EQ(times(schedule, 1, {3, 3, 1}), 3u);
  EXPECT_EQ(times(schedule, 1, {3, 0, 1}), 0u);
  EXPECT_EQ(times(schedule, 0, {3, 0, 1}), 3u);
  for (const std::uint32_t some : {1, 2}) {
    EXPECT_EQ(error_of<Unsupported>(schedule, {3, some, 1}),
              "realise cannot tell from the trace what region 1 (alt, from op 1 (calc, rank 0)) "
              "decided each time");
  }
}

TEST(Realise, ARetryThatCameOnceMayHaveTakenAnyNumberOfAttempts) {
  const sched::Schedule schedule = lone_retry();
  for (std::uint32_t attempts = 1; attempts <= 9; ++attempts) {
    EXPECT_EQ(times(schedule, 0, {attempts}), attempts);
  }
}

TEST(Realise, ARetryThatCameOftenTookOneAttemptEachTime) {
  const sched::Schedule schedule = retry_in_repeat();
  EXPECT_EQ(times(schedule, 1, {3, 3}), 3u);
  EXPECT_NE(error_of<Unsupported>(schedule, {3, 4}), "");
  EXPECT_NE(error_of<Unsupported>(schedule, {3, 6}), "");
}

// A retry whose operations all stand in another region, of `inner`.
sched::Schedule retry_around(const std::string& outcome, const std::string& inner) {
  return sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 1 bytes 8\nchannel 0 from 0 to 1\n"
      "rank 0\n0 compare_swap on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 0\n"
      "region retry entry 0 count 1 attempts 9 outcome " +
      outcome + "\nregion " + inner + "\n");
}

TEST(Realise, ARepeatTellsOfTheRetryAroundIt) {
  const sched::Schedule schedule = retry_around("actual", "repeat entry 0 count 1 attempts 3");
  EXPECT_EQ(times(schedule, 0, {3}), 3u);
  EXPECT_EQ(times(schedule, 0, {12}), 12u);
}

TEST(Realise, ARetryInAnotherTellsNothing) {
  const std::string inner = "retry entry 0 count 1 attempts 9 outcome actual";
  const std::string decided = "(retry, from op 0 (compare_swap, rank 0)) decided each time";
  EXPECT_EQ(error_of<Unsupported>(retry_around("actual", inner), {2}),
            "realise cannot tell from the trace what region 0 " + decided);
  EXPECT_EQ(error_of<Unsupported>(retry_around("sampled p 1000000", inner), {2}),
            "realise cannot tell from the trace what region 1 " + decided);
}

// Such a trace can only be a file that somebody wrote.
TEST(Realise, ARetryThatNeverRanIsRefused) {
  EXPECT_EQ(error_of<InputError>(lone_retry(), {0}),
            "the trace has no attempt of region 0 (retry, from op 0 (compare_swap, rank 0)); "
            "expected at least 1 each time");
  EXPECT_NE(error_of<InputError>(retry_in_repeat(), {3, 0}), "");
}

TEST(Realise, TakesACompleteTraceOfItsSchedule) {
  const sched::Schedule schedule = alt_in_repeat();
  sched::Trace trace = ran(schedule, {3, 3, 1});
  EXPECT_NO_THROW(realise(schedule, trace));
  trace.ops[1].done_s = std::numeric_limits<double>::infinity();
  EXPECT_THROW(realise(schedule, trace), InputError);
  EXPECT_THROW(realise(schedule, ran(schedule, {3, 3})), InputError);
  EXPECT_THROW(realise(schedule, ran(retry_in_repeat(), {3, 3, 1})), InputError);
}

TEST(BestCase, RunsWhatMustRun) {
  const sched::Unrolled retried = best_case(retry_in_repeat());
  EXPECT_EQ(std::count(retried.origin.begin(), retried.origin.end(), OpId(1)), 3);
  const auto alt = [](const std::string& how) {
    const sched::Schedule schedule = sched::read_text(
        "slackline schedule 1\nranks 1\nrank 0\n0 calc for 1us\nregion alt entry 0 count 1 " + how +
        "\n");
    const sched::Unrolled made = best_case(schedule);
    return std::count(made.origin.begin(), made.origin.end(), OpId(0));
  };
  EXPECT_EQ(alt("p 1000000"), 1);
  EXPECT_EQ(alt("p 999999"), 0);
  EXPECT_EQ(alt("p 1000000 outcome actual"), 0);
}

}  // namespace
}  // namespace slackline::machine
