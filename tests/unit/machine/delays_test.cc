#include "machine/delays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sched/builder.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::ChannelId;
using sched::OpId;
using sched::OpKind;
using sched::RankId;
using sched::Rate;
using sched::Time;
using slackline::testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Time us(std::int64_t count) { return Time{count * 1'000'000}; }

// Rank 0 sends `blocks` empty blocks to rank 1, which says for each that it is ready: a credit on a
// channel of its own, of the same step as the block. Each rank also computes once a step.
sched::Schedule two_ranks(std::uint32_t blocks) {
  sched::ScheduleBuilder builder(2);
  sched::Channel channels[2];
  channels[0].src = channels[1].dst = RankId(1);
  channels[0].dst = channels[1].src = RankId(0);
  const ChannelId credit = builder.add_channel(channels[0]);
  channels[1].credit_on = credit;
  const ChannelId data = builder.add_channel(channels[1]);
  const auto add = [&](OpKind kind, std::uint32_t rank, ChannelId channel, std::uint32_t step) {
    sched::Op op;
    op.kind = kind;
    op.rank = RankId(rank);
    op.channel = channel;
    op.step = step;
    builder.add(op);
  };
  for (std::uint32_t step = 0; step < blocks; ++step) {
    add(OpKind::kRecv, 0, credit, step);
    add(OpKind::kSend, 0, data, step);
    add(OpKind::kCalc, 0, ChannelId::none(), step);
    add(OpKind::kRecv, 1, data, step);
    add(OpKind::kSend, 1, credit, step);
    add(OpKind::kCalc, 1, ChannelId::none(), step);
  }
  return builder.build();
}

DelayPlan random_plan(std::mt19937_64& random, const sched::Schedule& schedule) {
  DelayPlan plan;
  const auto below = [&](std::uint64_t count) {
    return static_cast<std::uint32_t>(random() % count);
  };
  for (std::uint32_t i = below(8); i > 0; --i) {
    const OpId op(below(schedule.op_count()));
    plan.ops.push_back({op, Time{below(1u << 30)}, random() % 2 == 0,
                        random() % 2 == 0 ? schedule.op(op).rank : RankId::none()});
  }
  for (std::uint32_t i = below(8); i > 0; --i) {
    plan.steps.push_back({RankId(below(schedule.rank_count())), below(schedule.step_count()),
                          Time{below(1u << 30)}, random() % 2 == 0});
  }
  for (std::uint32_t src = 0; src < schedule.rank_count(); ++src) {
    for (std::uint32_t dst = 0; dst < schedule.rank_count(); ++dst) {
      if (src != dst && random() % 3 == 0) {
        plan.pairs.push_back(
            {RankId(src), RankId(dst), Rate{1 + (random() >> (2 + random() % 60))}});
      }
    }
  }
  return plan;
}

TEST(DelayPlanFile, ReadsEveryKindOfDelay) {
  const DelayPlan plan = delay_plan_from_toml(R"(
[[delay]]
op = 17
by = "10us"

[[delay]]
op = 4
rank = 2
by = "0"
of = "op"

[[slow_pair]]
src = 1
dst = 2
rate = "50Gbps"

[[delay]]
rank = 3
step = 5
by = "1.5ns"
of = "lane"
)",
                                              "d.toml");
  ASSERT_EQ(plan.ops.size(), 2u);
  EXPECT_EQ(plan.ops[0].op, OpId(17));
  EXPECT_EQ(plan.ops[0].by, us(10));
  EXPECT_FALSE(plan.ops[0].whole_lane);
  EXPECT_EQ(plan.ops[0].rank, RankId::none());
  EXPECT_EQ(plan.ops[1].rank, RankId(2));
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].rank, RankId(3));
  EXPECT_EQ(plan.steps[0].step, 5u);
  EXPECT_EQ(plan.steps[0].by, Time{1500});
  EXPECT_TRUE(plan.steps[0].whole_lane);
  ASSERT_EQ(plan.pairs.size(), 1u);
  EXPECT_EQ(plan.pairs[0].src, RankId(1));
  EXPECT_EQ(plan.pairs[0].dst, RankId(2));
  EXPECT_EQ(plan.pairs[0].rate, Rate{50'000'000'000});
  EXPECT_EQ(plan.text(),
            "schema = 1\n"
            "\n[[delay]]\nop = 4\nrank = 2\nby = \"0\"\nof = \"op\"\n"
            "\n[[delay]]\nop = 17\nby = \"10us\"\nof = \"op\"\n"
            "\n[[delay]]\nrank = 3\nstep = 5\nby = \"1500ps\"\nof = \"lane\"\n"
            "\n[[slow_pair]]\nsrc = 1\ndst = 2\nrate = \"50Gbps\"\n");
}

TEST(DelayPlanFile, AnEmptyPlanIsAnEmptyText) {
  EXPECT_EQ(DelayPlan{}.text(), "");
  EXPECT_TRUE(delay_plan_from_toml("", "d.toml").empty());
  EXPECT_TRUE(delay_plan_from_toml("schema = 1\ndelay = []\n", "d.toml").empty());
}

TEST(DelayPlanFile, TextIsReadBackAndDoesNotDependOnOrder) {
  const sched::Schedule schedule = two_ranks(4);
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i) {
    DelayPlan plan = random_plan(random, schedule);
    const std::string text = plan.text();
    const DelayPlan back = delay_plan_from_toml(text, "d.toml");
    ASSERT_EQ(back.text(), text);
    ASSERT_EQ(back.ops.size(), plan.ops.size());
    ASSERT_EQ(back.steps.size(), plan.steps.size());
    ASSERT_EQ(back.pairs.size(), plan.pairs.size());
    std::shuffle(plan.ops.begin(), plan.ops.end(), random);
    std::shuffle(plan.steps.begin(), plan.steps.end(), random);
    std::shuffle(plan.pairs.begin(), plan.pairs.end(), random);
    ASSERT_EQ(plan.text(), text);
  }
}

TEST(DelayPlanFile, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[[delay]", "d.toml:1: "},
      {"schema = 2", "d.toml:1: schema: 2 is newer than any schema this program reads; expected 1"},
      {"\n[[delays]]",
       "d.toml:2: unknown key 'delays': did you mean 'delay'?; expected one of schema, seed, "
       "delay, slow_pair"},
      {"delay = 3",
       "d.toml:1: delay: a whole number stands here; expected tables headed [[delay]]"},
      {"[delay]", "d.toml:1: delay: a table stands here; expected tables headed [[delay]]"},
      {"delay = [1]", "d.toml:1: delay: an array of something else stands here; expected tables"},
      {"[[delay]]\nop = 1", "d.toml:1: delay: no by stands here; expected by = a time such as"},
      {"[[delay]]\nop = 1\nby = 3",
       "d.toml:3: delay.by: a whole number stands here; expected a time"},
      {"[[delay]]\nop = 1\nby = \"3\"", "d.toml:3: delay.by: '3' is not a time: expected"},
      {"[[delay]]\nop = 1\nby = \"-3us\"", "d.toml:3: delay.by: '-3us' is not a time: expected"},
      {"[[delay]]\nop = 1\nby = \"9223372036854775807ps\"", "d.toml:3: delay.by: 922"},
      {"[[delay]]\nop = -1\nby = \"3us\"",
       "d.toml:2: delay.op: -1 stands here; expected a whole number from 0 to 4294967294"},
      {"[[delay]]\nop = 4294967295\nby = \"3us\"", "d.toml:2: delay.op: 4294967295 stands here"},
      {"[[delay]]\nop = 1.0\nby = \"3us\"", "d.toml:2: delay.op: a decimal number stands here"},
      {"\n[[delay]]\nby = \"3us\"",
       "d.toml:2: delay: it is not said what is delayed; expected op, or rank and step"},
      {"[[delay]]\nrank = 1\nby = \"3us\"", "d.toml:1: delay: it is not said what is delayed"},
      {"[[delay]]\nstep = 1\nby = \"3us\"", "d.toml:1: delay: it is not said what is delayed"},
      {"[[delay]]\nop = 1\nstep = 1\nby = \"3us\"", "d.toml:1: delay: both op and step stand here"},
      {"[[delay]]\nop = 1\nby = \"3us\"\nof = \"rank\"",
       "d.toml:4: delay.of: 'rank' can not be delayed; expected op or lane"},
      {"[[delay]]\nop = 1\nby = \"3us\"\nfor = 2",
       "d.toml:4: unknown key 'for' in [delay]; expected one of op, rank, step, by, of"},
      {"[[slow_pair]]\ndst = 1\nrate = \"1Gbps\"", "d.toml:1: slow_pair: no src stands here"},
      {"[[slow_pair]]\nsrc = 1\nrate = \"1Gbps\"", "d.toml:1: slow_pair: no dst stands here"},
      {"[[slow_pair]]\nsrc = 1\ndst = 2", "d.toml:1: slow_pair: no rate stands here; expected"},
      {"[[slow_pair]]\nsrc = 1\ndst = 2\nrate = \"0Gbps\"",
       "d.toml:4: slow_pair.rate: '0Gbps' is not a rate: expected"},
      {"[[slow_pair]]\nsrc = 1\ndst = 2\nrate = \"1Gbps\"\nby = 1",
       "d.toml:5: unknown key 'by' in [slow_pair]; expected one of src, dst, rate"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of([&given = text] { delay_plan_from_toml(given, "d.toml"); });
    EXPECT_THAT(error, StartsWith(expected)) << text;
    EXPECT_THAT(error, HasSubstr("expected"));
  }
  EXPECT_THAT(error_of([] { load_delay_plan("/nowhere/d.toml"); }),
              HasSubstr("delay file '/nowhere/d.toml': cannot be read; expected a TOML file"));
}

TEST(ValidateDelayPlan, NamesWhatTheScheduleDoesNotHave) {
  const sched::Schedule schedule = two_ranks(2);  // 12 ops, 6 of each rank, 2 steps
  const auto error = [&](const DelayPlan& plan) {
    return error_of([&] { Delays delays(plan, schedule, Platform{}); });
  };
  DelayPlan plan;
  plan.ops = {{OpId(12), us(1)}};
  EXPECT_EQ(error(plan), "delay plan: op 12 does not exist; expected 0 to 11");
  plan.ops = {{OpId::none(), us(1)}};
  EXPECT_THAT(error(plan), HasSubstr("does not exist; expected 0 to 11"));
  plan.ops = {{OpId(7), us(1), false, RankId(0)}};
  EXPECT_EQ(error(plan),
            "delay plan: op 7 (send, rank 1) is said to be of rank 0; expected rank 1");
  plan.ops = {{OpId(7), us(-1)}};
  EXPECT_THAT(error(plan), HasSubstr("op 7 (send, rank 1): a delay of -1000000 ps; expected"));
  plan.ops = {{OpId(7), sched::kForever}};
  EXPECT_THAT(error(plan), HasSubstr("op 7 (send, rank 1): a delay of"));
  plan.ops = {{OpId(7), us(1), false, RankId(1)}};
  EXPECT_EQ(error(plan), "");

  plan = {};
  plan.steps = {{RankId(2), 0, us(1)}};
  EXPECT_EQ(error(plan), "delay plan: rank 2, step 0: rank 2 does not exist; expected 0 to 1");
  plan.steps = {{RankId(1), 2, us(1)}};
  EXPECT_EQ(error(plan), "delay plan: rank 1, step 2: the step does not exist; expected 0 to 1");
  plan.steps = {{RankId(1), 1, us(-1)}};
  EXPECT_THAT(error(plan), HasSubstr("rank 1, step 1: a delay of -1000000 ps; expected"));

  plan = {};
  plan.pairs = {{RankId(2), RankId(0), Rate{1}}};
  EXPECT_EQ(error(plan), "delay plan: slow pair 2 to 0: rank 2 does not exist; expected 0 to 1");
  plan.pairs = {{RankId(0), RankId(3), Rate{1}}};
  EXPECT_EQ(error(plan), "delay plan: slow pair 0 to 3: rank 3 does not exist; expected 0 to 1");
  plan.pairs = {{RankId(1), RankId(1), Rate{1}}};
  EXPECT_EQ(error(plan),
            "delay plan: slow pair 1 to 1: the schedule has no messages from rank 1 to itself; "
            "expected two ranks");
  plan.pairs = {{RankId(0), RankId(1), Rate{}}};
  EXPECT_EQ(error(plan), "delay plan: slow pair 0 to 1: a rate of 0; expected one above 0");
  plan.pairs = {{RankId(0), RankId(1), Rate{1}}, {RankId(1), RankId(0), Rate{1}}};
  EXPECT_EQ(error(plan), "");
  plan.pairs.push_back({RankId(0), RankId(1), Rate{2}});
  EXPECT_EQ(error(plan), "delay plan: slow pair 0 to 1 stands twice; expected one rate for it");

  const sched::Schedule none = sched::ScheduleBuilder(1).build();
  plan = {};
  plan.ops = {{OpId(0), us(1)}};
  EXPECT_THAT(error_of([&] { validate(plan, none); }),
              HasSubstr("op 0 does not exist; the schedule has none"));
  plan = {};
  plan.steps = {{RankId(0), 0, us(1)}};
  EXPECT_THAT(error_of([&] { validate(plan, none); }),
              HasSubstr("the step does not exist; the schedule has none"));
}

TEST(Delays, AreNothingWithoutAPlan) {
  const sched::Schedule schedule = two_ranks(2);
  for (const Delays& delays : {Delays(), Delays(DelayPlan{}, schedule, Platform{})}) {
    EXPECT_TRUE(delays.empty());
    EXPECT_EQ(delays.post_delay_s(OpId(3)), 0.0);
    EXPECT_EQ(delays.lane_delay_s(OpId(3)), 0.0);
  }
}

TEST(Delays, OfAStepFallOnItsInitiatorsButNotOnCredits) {
  const sched::Schedule schedule = two_ranks(3);
  DelayPlan plan;
  plan.steps = {{RankId(0), 1, us(5)}, {RankId(1), 1, us(7)}};
  const Delays delays(plan, schedule, Platform{});
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.op(OpId(i));
    const bool data = op.kind == OpKind::kSend && op.rank == RankId(0) && op.step == 1;
    EXPECT_EQ(delays.post_delay_s(OpId(i)), data ? sched::seconds(us(5)) : 0.0)
        << describe(schedule, OpId(i));
    EXPECT_EQ(delays.lane_delay_s(OpId(i)), 0.0);
  }
}

TEST(Delays, OfOneOpAddUpToTheLongestTime) {
  const sched::Schedule schedule = two_ranks(1);
  DelayPlan plan;
  plan.ops = {{OpId(1), us(1)}, {OpId(1), us(2)}, {OpId(1), us(4), true}};
  plan.steps = {{RankId(0), 0, us(8)}, {RankId(0), 0, us(16), true}};
  const Delays delays(plan, schedule, Platform{});
  EXPECT_EQ(delays.post_delay_s(OpId(1)), sched::seconds(us(11)));
  EXPECT_EQ(delays.lane_delay_s(OpId(1)), sched::seconds(us(20)));
  const Time longest{sched::kForever.count() - 1};
  plan.steps.clear();
  plan.ops = {{OpId(1), longest}};
  EXPECT_EQ(Delays(plan, schedule, Platform{}).post_delay_s(OpId(1)), sched::seconds(longest));
  for (const bool whole_lane : {false, true}) {
    plan.ops = {{OpId(1), longest, whole_lane}, {OpId(1), Time{1}, whole_lane}};
    EXPECT_THAT(error_of([&] { Delays(plan, schedule, Platform{}); }), HasSubstr("op 1"));
    EXPECT_THAT(error_of([&] { Delays(plan, schedule, Platform{}); }),
                HasSubstr("delays of 106 days or more in all"));
  }
  plan.ops.clear();
  plan.steps = {{RankId(0), 0, longest}, {RankId(0), 0, Time{1}}};
  EXPECT_THAT(error_of([&] { Delays(plan, schedule, Platform{}); }),
              HasSubstr("rank 0, step 0: delays of 106 days or more in all"));
}

TEST(Delays, AgreeWithThePlanReadAfresh) {
  const sched::Schedule schedule = two_ranks(5);
  std::mt19937_64 random(4);
  for (int i = 0; i < 500; ++i) {
    const DelayPlan plan = random_plan(random, schedule);
    const Delays delays(plan, schedule, Platform{});
    for (std::uint32_t id = 0; id < schedule.op_count(); ++id) {
      const sched::Op& op = schedule.op(OpId(id));
      std::int64_t post = 0;
      std::int64_t lane = 0;
      for (const OpDelay& delay : plan.ops) {
        if (delay.op == OpId(id)) (delay.whole_lane ? lane : post) += delay.by.count();
      }
      for (const StepDelay& delay : plan.steps) {
        // Of this schedule's channels, rank 0's carries data and rank 1's credits.
        if (op.kind == OpKind::kSend && op.rank == RankId(0) && delay.rank == op.rank &&
            delay.step == op.step) {
          (delay.whole_lane ? lane : post) += delay.by.count();
        }
      }
      ASSERT_EQ(delays.post_delay_s(OpId(id)), sched::seconds(Time{post}));
      ASSERT_EQ(delays.lane_delay_s(OpId(id)), sched::seconds(Time{lane}));
    }
  }
}

TEST(Delays, OneMoreIsAsIfThePlanHadHadIt) {
  std::mt19937_64 random(7);
  const sched::Schedule schedule = two_ranks(4);
  for (int trial = 0; trial < 200; ++trial) {
    DelayPlan plan = random_plan(random, schedule);
    const Delays before(plan, schedule, Platform{});
    // Times of which no double has the sum of the seconds.
    const OpDelay more{OpId(static_cast<std::uint32_t>(random() % schedule.op_count())),
                       Time{static_cast<std::int64_t>(random() >> 14)}, trial % 2 == 0,
                       RankId::none()};
    Delays delays = before;
    delays.add(more);
    plan.ops.push_back(more);
    const Delays expected(plan, schedule, Platform{});
    for (std::uint32_t id = 0; id < schedule.op_count(); ++id) {
      ASSERT_EQ(delays.post_delay_s(OpId(id)), expected.post_delay_s(OpId(id)));
      ASSERT_EQ(delays.lane_delay_s(OpId(id)), expected.lane_delay_s(OpId(id)));
    }
    delays.take_back(more);
    for (std::uint32_t id = 0; id < schedule.op_count(); ++id) {
      ASSERT_EQ(delays.post_delay_s(OpId(id)), before.post_delay_s(OpId(id)));
      ASSERT_EQ(delays.lane_delay_s(OpId(id)), before.lane_delay_s(OpId(id)));
    }
  }
}

TEST(Delays, OneMoreCannotBeTooLongWithTheOthers) {
  const sched::Schedule schedule = two_ranks(1);
  DelayPlan plan;
  const OpDelay half{OpId(0), Time{sched::kForever.count() / 2 + 1}, false, RankId::none()};
  plan.ops.push_back(half);
  Delays delays(plan, schedule, Platform{});
  EXPECT_THAT(error_of([&] { delays.add(half); }), HasSubstr("106 days or more in all"));
}

}  // namespace
}  // namespace slackline::machine
