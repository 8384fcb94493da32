#include "analysis/slack/float_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/float_map.h"
#include "analysis/slack/timed_slack.h"
#include "sched/compile.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using sched::Schedule;
using testing::Program;
using testing::RankId;
using testing::us;

Schedule compiled(std::string_view spec) { return sched::compile(sched::parse_spec(spec)); }

TEST(FloatSummary, OfAllAndOfRanks) {
  const FloatSummary all = summarise({3, 0, 1, 0});
  EXPECT_EQ(all.ops, 4u);
  EXPECT_EQ(all.without, 2u);
  EXPECT_EQ(all.min_s, 0);
  EXPECT_EQ(all.median_s, 0);
  EXPECT_EQ(all.max_s, 3);
  EXPECT_EQ(summarise({2, 5, 1}).median_s, 2);
  EXPECT_EQ(summarise({}).ops, 0u);

  const Schedule schedule = compiled("chain:ranks=3,bytes=2000,block=1000");
  std::vector<double> floats(schedule.op_count());
  for (std::uint32_t i = 0; i < floats.size(); ++i) floats[i] = i;
  const auto ranks = summarise_by_rank(schedule, floats);
  ASSERT_EQ(ranks.size(), 3u);
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(ranks[r].min_s, schedule.first_op(RankId(r)).value);
    EXPECT_EQ(ranks[r].max_s, schedule.end_op(RankId(r)).value - 1);
  }
}

// Link by link, asking the wiring for every message's route.
TEST(FloatSummary, OfLinksIsOfTheMessagesThatPassThem) {
  for (const char* network :
       {"star:", "two-level:racks=3,hosts=2,oversubscription=2,placement=round-robin,",
        "fat-tree:down=2x3,up=1x2,parallel=1x1,", "torus:dims=3x2,"}) {
    const machine::Platform platform =
        machine::load_platform(std::string(network) + "rate=40Gbps,latency=1us,o_post=200ns");
    const Schedule schedule = compiled("binomial-pipeline:ranks=6,bytes=300KB,block=64KiB");
    const machine::Wiring wiring(platform, schedule.rank_count());
    const machine::Paths paths(schedule, wiring, {});
    const TimedSlack slack =
        timed_slack({schedule, platform, {}}, run_events({schedule, platform}));
    const auto links =
        summarise_by_link({schedule, platform, wiring}, paths, slack.message_float_s);
    ASSERT_EQ(links.size(), wiring.links().size());
    std::uint64_t passes = 0;
    for (std::uint32_t l = 0; l < links.size(); ++l) {
      std::vector<double> floats;
      for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
        const sched::Op& op = schedule.ops()[i];
        if (op.kind != sched::OpKind::kSend || schedule.payload_bytes(op) == 0) continue;
        const sched::Channel& channel = schedule.channel(op.channel);
        for (const machine::LinkId link : wiring.route(channel.src, channel.dst).links) {
          if (link.value == l) floats.push_back(slack.message_float_s[i]);
        }
      }
      const FloatSummary expected = summarise(floats);
      EXPECT_EQ(links[l].ops, expected.ops);
      EXPECT_EQ(links[l].without, expected.without);
      EXPECT_EQ(links[l].min_s, expected.min_s);
      EXPECT_EQ(links[l].median_s, expected.median_s);
      EXPECT_EQ(links[l].max_s, expected.max_s);
      passes += links[l].ops;
    }
    EXPECT_GT(passes, 0u);
  }
}

TEST(MessageFloat, IsOfTheWireAndNotOfThePost) {
  // The second message is posted long before its NIC is free.
  Program program(2);
  const auto channel = program.channel(0, 1);
  program.send(channel, 100'000);
  program.send(channel, 100'000);
  program.recv(channel, 100'000);
  program.recv(channel, 100'000);
  const Schedule schedule = program.build();
  const machine::Platform platform =
      machine::load_platform("star:rate=8Gbps,latency=1us,o_post=1us");
  const TimedSlack slack = timed_slack({schedule, platform, {}}, run_events({schedule, platform}));
  EXPECT_NEAR(slack.total_float_s[1], 99e-6, 1e-12);
  EXPECT_EQ(slack.message_float_s[0], 0);
  EXPECT_EQ(slack.message_float_s[1], 0);
  EXPECT_TRUE(std::isnan(slack.message_float_s[2]));
}

TEST(FloatMap, HasTheLeastOfEveryRankAndStep) {
  const Schedule schedule = compiled("binomial-pipeline:ranks=7,bytes=300KB,block=64KiB");
  std::vector<double> floats(schedule.op_count());
  for (std::uint32_t i = 0; i < floats.size(); ++i) floats[i] = (i * 7919) % 101;
  for (const std::uint32_t rows : {1u, 2u, 3u, 6u, 7u, 100u}) {
    for (const std::uint32_t columns : {1u, 2u, 5u, 100u}) {
      const FloatMap map = float_map(schedule, floats, rows, columns);
      EXPECT_LE(map.rows, rows);
      EXPECT_LE(map.columns, columns);
      EXPECT_GE(map.rows * map.ranks_of_row, schedule.rank_count());
      EXPECT_GE(map.columns * map.steps_of_column, schedule.step_count());
      for (std::uint32_t row = 0; row < map.rows; ++row) {
        for (std::uint32_t column = 0; column < map.columns; ++column) {
          double least = std::numeric_limits<double>::infinity();
          for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
            const sched::Op& op = schedule.ops()[i];
            if (op.rank.value / map.ranks_of_row == row &&
                op.step / map.steps_of_column == column) {
              least = std::min(least, floats[i]);
            }
          }
          if (std::isinf(least)) {
            EXPECT_TRUE(std::isnan(map.at(row, column)));
          } else {
            EXPECT_EQ(map.at(row, column), least);
          }
        }
      }
    }
  }
  const FloatMap all = float_map(schedule, floats, 100, 100);
  EXPECT_EQ(all.rows, 7u);
  EXPECT_EQ(all.columns, schedule.step_count());
}

TEST(FloatMap, OfNothing) {
  const FloatMap map = float_map(compiled("chain:ranks=1,bytes=1MiB"), {}, 10, 10);
  EXPECT_EQ(map.rows, 1u);
  EXPECT_EQ(map.columns, 0u);
}

// One chain of calculations and messages, each waiting for the one before: nothing can slip.
TEST(TimedSlack, OfAScheduleWithout) {
  Program program(1);
  const auto first = program.calc(0, us(2));
  const auto second = program.calc(0, us(3));
  program.after({first}, second);
  const Schedule schedule = program.build();
  const machine::Platform platform = machine::load_platform("fractus");
  const TimedSlack slack = timed_slack({schedule, platform, {}}, run_events({schedule, platform}));
  EXPECT_EQ(slack.total_float_s, (std::vector<double>{0, 0}));
  EXPECT_EQ(slack.free_float_s, (std::vector<double>{0, 0}));
  EXPECT_EQ(slack.critical_path, (std::vector<testing::OpId>{first, second}));
  for (const FloatSummary& link : summarise_by_link(
           {schedule, platform}, machine::Paths({schedule, platform}), slack.message_float_s)) {
    EXPECT_EQ(link.ops, 0u);
  }
}

}  // namespace
}  // namespace slackline::analysis
