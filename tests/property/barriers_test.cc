// Lockstep: proved for every pattern, and nothing of a step before all of the step before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "sched/compile.h"
#include "sched/pass/add_barriers.h"
#include "sched/verify.h"
#include "tests/property/random_runs.h"
#include "tests/property/rdmc_schedules.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using analysis::run_events;
using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::Schedule;
using testing::Dice;

std::string defect(const std::string& text) {
  const Schedule schedule = compile(sched::parse_spec(text));
  const sched::Diagnostics found = verify(schedule);
  return found.empty() ? "" : fmt::format("{}: {}", text, found.front().message);
}

std::string refusal(const std::string& text) {
  return testing::error_of([&] { compile(sched::parse_spec(text)); });
}

class Lockstep : public ::testing::TestWithParam<std::string> {};

TEST_P(Lockstep, IsProvedForAllSmallSizes) {
  for (std::uint32_t n = 1; n <= 20; ++n) {
    for (std::uint32_t k = 1; k <= 8; ++k) {
      for (const char* ready : {"send", "none"}) {
        ASSERT_EQ(defect(fmt::format("{}:ranks={},bytes={},block=8,order=lockstep,ready={}",
                                     GetParam(), n, 8 * k - (n + k) % 8, ready)),
                  "");
      }
    }
  }
}

TEST_P(Lockstep, IsProvedHoweverItIsLowered) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Dice dice(seed);
    ASSERT_EQ(defect(testing::random_spec(dice, GetParam(), 20, 8) + ",order=lockstep"), "");
  }
}

// What carries data, as a test sees it: no credit, no barrier.
bool carries_data(const std::vector<bool>& control, const Op& op) {
  if (op.kind == OpKind::kCopy) return true;
  if (!has_channel(op.kind)) return false;
  return !control[op.channel.value];
}

// Messages of a step are issued and on the wire after all before are done, in a run with delays.
TEST_P(Lockstep, KeepsStepsApart) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    Dice dice(seed + 500);
    const std::string text = testing::random_spec(dice, GetParam(), 20, 8) + ",order=lockstep";
    const Schedule schedule = compile(sched::parse_spec(text));
    const machine::Platform platform = testing::random_platform(
        dice, dice.pick({machine::NicDiscipline::kSerial, machine::NicDiscipline::kFair}));
    const sched::Trace trace =
        run_events({schedule, platform, testing::random_delays(dice, schedule)});
    const std::vector<bool> control = schedule.control_channels();
    struct Step {
      double first_s = std::numeric_limits<double>::infinity();
      double last_s = 0;
    };
    std::map<std::uint32_t, Step> steps;
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const Op& op = schedule.ops()[i];
      if (!carries_data(control, op)) continue;
      Step& step = steps[op.step];
      step.last_s = std::max(step.last_s, trace.ops[i].done_s);
      if (!is_initiator(op.kind)) continue;
      step.first_s = std::min({step.first_s, trace.ops[i].issued_s, trace.ops[i].wire_s});
    }
    double last_s = 0;
    for (const auto& [number, step] : steps) {
      ASSERT_GE(step.first_s, last_s) << text << ", seed " << seed << ", step " << number;
      last_s = std::max(last_s, step.last_s);
    }
  }
}

// By channel, its sources and receives.
struct ChannelEnds {
  std::vector<OpId> sources;
  std::vector<OpId> receives;
};
std::vector<ChannelEnds> ends_of(const Schedule& schedule) {
  std::vector<ChannelEnds> ends(schedule.channels().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (is_fifo_source(op)) ends[op.channel.value].sources.push_back(OpId(i));
    if (op.kind == OpKind::kRecv) ends[op.channel.value].receives.push_back(OpId(i));
  }
  return ends;
}

// A barrier's receives are posted before anybody sends, but for the first barrier's; without
// credits so are those of data, one step ahead and no more.
TEST_P(Lockstep, PostsReceivesInTimeAndNotTooEarly) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    Dice dice(seed + 900);
    const std::string ready = dice.one_in(2) ? "none" : "send";
    const Schedule schedule = compile(sched::parse_spec(
        fmt::format("{}:ranks={},bytes={},block=5000,ready={},order=lockstep", GetParam(),
                    2 + dice.below(18), 5000 * (1 + dice.below(8)), ready)));
    const sched::Trace trace =
        run_events({schedule, testing::random_platform(dice, machine::NicDiscipline::kSerial),
                    testing::random_delays(dice, schedule)});
    const std::vector<ChannelEnds> ends = ends_of(schedule);
    for (std::uint32_t c = 0; c < ends.size(); ++c) {
      const sched::Channel& channel = schedule.channels()[c];
      const bool barrier = channel.credit_on == sched::ChannelId(c);
      if (!barrier && ready != "none") continue;
      for (std::size_t k = barrier ? 1 : 0; k < ends[c].sources.size(); ++k) {
        const double posted_s = trace.ops[ends[c].receives[k].value].issued_s;
        ASSERT_LE(posted_s, trace.ops[ends[c].sources[k].value].issued_s) << "seed " << seed;
        if (k >= 2) {
          ASSERT_GE(posted_s, trace.ops[ends[c].receives[k - 2].value].done_s) << "seed " << seed;
        }
      }
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const sched::PatternEntry& entry : sched::plan_patterns()) result.emplace_back(entry.name);
  return result;
}
INSTANTIATE_TEST_SUITE_P(Patterns, Lockstep, ::testing::ValuesIn(names()), [](const auto& named) {
  std::string name = named.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Where nothing but blocks takes time and every step is full, waiting for everybody costs nothing.
TEST(LockstepPipeline, CostsNothingWithoutDelaysAndOverheads) {
  for (std::uint32_t l = 1; l <= 6; ++l) {
    for (std::uint32_t k = 1; k <= 9; ++k) {
      const double async_s =
          run_events({testing::blocks_of("binomial-pipeline", 1u << l, k), testing::block_times()})
              .makespan_s();
      const double lockstep_s =
          run_events({testing::blocks_of("binomial-pipeline", 1u << l, k, ",order=lockstep"),
                      testing::block_times()})
              .makespan_s();
      EXPECT_NEAR(lockstep_s, async_s, 1e-12) << l << " " << k;
      EXPECT_NEAR(lockstep_s, (k - 1 + l) * testing::kBlockTime_s, 1e-12);
    }
  }
}

// A late rank holds up everybody by as much; without barriers, RDMC's slack takes some of it.
TEST(LockstepPipeline, TakesDelaysInFull) {
  machine::DelayPlan plan;
  plan.steps.push_back({sched::RankId(3), 9, sched::Time{10'000'000}, false});
  const machine::Platform platform = testing::block_times();
  const auto cost_s = [&](const char* options) {
    const Schedule schedule = testing::blocks_of("binomial-pipeline", 16, 12, options);
    return run_events({schedule, platform, plan}).makespan_s() -
           run_events({schedule, platform}).makespan_s();
  };
  EXPECT_NEAR(cost_s(",order=lockstep"), 10e-6, 1e-12);
  EXPECT_LE(cost_s(""), 10e-6 + 1e-12);
}

// Without credits the barriers are what says that receives are posted.
TEST(AddBarriers, PromisesAWindowWhereNobodyElseDoes) {
  const Schedule schedule =
      compile(sched::parse_spec("chain:ranks=4,bytes=80,block=8,ready=none,order=lockstep"));
  const std::vector<bool> control = schedule.control_channels();
  for (std::size_t c = 0; c < schedule.channels().size(); ++c) {
    EXPECT_EQ(schedule.channels()[c].window, control[c] ? 0u : 2u);
  }
  const Schedule credited =
      compile(sched::parse_spec("chain:ranks=4,bytes=80,block=8,window=3,order=lockstep"));
  for (const sched::Channel& channel : credited.channels()) EXPECT_NE(channel.window, 2u);
}

TEST(AddBarriers, AddsRoundsOfEmptyMessages) {
  for (std::uint32_t n = 2; n <= 17; ++n) {
    const Schedule before =
        compile(sched::parse_spec(fmt::format("binomial-pipeline:ranks={},bytes=40,block=8", n)));
    const Schedule after = add_barriers(before);
    std::uint32_t rounds = 0;
    while ((1u << rounds) < n) ++rounds;
    const std::uint32_t barriers = before.step_count() - 1;
    EXPECT_EQ(after.op_count(), before.op_count() + barriers * n * (2 * rounds + 2));
    EXPECT_EQ(after.step_count(), before.step_count());
    EXPECT_EQ(after.message_bytes(), before.message_bytes());
  }
}

TEST(AddBarriers, LeavesAloneWhatHasNoSteps) {
  for (const char* text : {"chain:ranks=1,bytes=100,block=8", "chain:ranks=2,bytes=8"}) {
    const Schedule before = compile(sched::parse_spec(text));
    EXPECT_EQ(add_barriers(before).digest(), before.digest()) << text;
  }
}

// A delay of what a rank sends at a step holds back its data, and not its barriers again.
TEST(AddBarriers, AreNoDataToADelayPlan) {
  machine::DelayPlan plan;
  plan.steps.push_back({sched::RankId(0), 2, sched::Time{7'000'000}, false});
  const Schedule schedule = testing::blocks_of("chain", 4, 6, ",order=lockstep");
  const machine::Platform platform = testing::block_times();
  EXPECT_NEAR(run_events({schedule, platform, plan}).makespan_s(),
              run_events({schedule, platform}).makespan_s() + 7e-6, 1e-12);
}

// 32,768 operations, and a barrier of 30 per rank between any two of 16,384 steps.
TEST(AddBarriers, RefusesMoreOperationsThanASchedulesNumber) {
  EXPECT_EQ(refusal("chain:ranks=16384,bytes=1,order=lockstep"),
            "order=lockstep: 16382 barriers of 16384 ranks make 8052146172 operations; expected "
            "less than 2147483648");
}

TEST(AddBarriers, RefusesWhatItCanNotRenumber) {
  testing::Draft draft;
  draft.ranks = 2;
  const auto word = draft.buffer(1, 8);
  const auto result = draft.buffer(0, 16);
  const auto channel = draft.channel(0, 1);
  const OpId first = draft.atomic(OpKind::kFetchAdd, channel, {word, 0, 8}, {{result, 0, 8}});
  const OpId second = draft.atomic(OpKind::kFetchAdd, channel, {word, 0, 8}, {{result, 8, 8}});
  sched::OpArguments arguments;
  arguments.operand = {sched::Operand::From::kLiteral, OpId::none(), 1};
  draft.ops[first.value].arguments = arguments;
  arguments.operand = {sched::Operand::From::kResult, first, 1};
  draft.ops[second.value].arguments = arguments;
  EXPECT_THROW(add_barriers(draft.build()), Unsupported);
}

}  // namespace
}  // namespace slackline
