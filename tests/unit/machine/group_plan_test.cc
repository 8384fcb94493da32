// What groups take for granted of their patterns: held for every pattern that is offered.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "machine/group/plan.h"
#include "sched/compile.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using machine::GroupLine;
using machine::GroupPlan;
using machine::GroupShape;

GroupShape shape_of(std::string_view pattern, std::uint32_t members) {
  GroupShape shape;
  shape.pattern = pattern;
  shape.members = members;
  shape.block_bytes = 4;
  return shape;
}

sched::Plan plan_of(std::string_view pattern, std::uint32_t ranks, std::uint32_t blocks) {
  return sched::plan_of(
      sched::parse_spec(fmt::format("{}:ranks={},bytes={},block=1", pattern, ranks, blocks)));
}

std::set<std::pair<std::uint32_t, std::uint32_t>> channels_of(const sched::Plan& plan) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> channels;
  for (const sched::Transfer& t : plan.transfers) channels.insert({t.src.value, t.dst.value});
  return channels;
}

// From two blocks on, sources of first blocks do not depend on the number of blocks; and no number
// of blocks needs a channel that the group does not open.
void expect_structure(std::string_view pattern, std::uint32_t ranks, std::uint32_t blocks) {
  SCOPED_TRACE(fmt::format("{} ranks={} blocks={}", pattern, ranks, blocks));
  GroupPlan group(shape_of(pattern, ranks));
  std::set<std::pair<std::uint32_t, std::uint32_t>> opened;
  for (const GroupLine& line : group.lines()) {
    if (!line.credit) opened.insert({line.src, line.dst});
  }
  const sched::Plan plan = plan_of(pattern, ranks, blocks);
  for (const auto& channel : channels_of(plan)) EXPECT_TRUE(opened.contains(channel));
  if (blocks == 1) return;
  const std::vector<sched::RankId> sources = machine::first_sources(plan);
  for (std::uint32_t r = 1; r < ranks; ++r) {
    const GroupLine& first = group.lines()[group.first_line(r)];
    EXPECT_EQ(sources[r].value, first.src) << "rank " << r;
    EXPECT_EQ(first.dst, r);
  }
}

TEST(GroupPlan, FirstBlocksComeFromTheSameSourceWhateverTheirNumber) {
  for (const std::string_view pattern : machine::group_patterns()) {
    for (std::uint32_t ranks = 1; ranks <= 16; ++ranks) {
      for (std::uint32_t blocks = 1; blocks <= 40; ++blocks) {
        expect_structure(pattern, ranks, blocks);
      }
    }
    for (std::uint32_t ranks = 17; ranks <= 64; ranks += ranks < 34 ? 1 : 5) {
      for (const std::uint32_t blocks : {1, 2, 3, 7, 40, 200}) {
        expect_structure(pattern, ranks, blocks);
      }
    }
  }
}

// The patterns that are refused do break it: nothing is refused for nothing.
TEST(GroupPlan, RefusedPatternsHaveNoFixedFirstSource) {
  for (const std::string pattern : {"circulant", "scatter-allgather"}) {
    bool differs = false;
    for (std::uint32_t ranks = 2; ranks <= 64; ++ranks) {
      for (std::uint32_t blocks = 3; blocks <= 40; ++blocks) {
        differs = differs || machine::first_sources(plan_of(pattern, ranks, 2)) !=
                                 machine::first_sources(plan_of(pattern, ranks, blocks));
      }
    }
    EXPECT_TRUE(differs) << pattern;
    EXPECT_THAT(testing::error_of<Unsupported>([&] { GroupPlan group(shape_of(pattern, 4)); }),
                ::testing::HasSubstr("groups cannot take " + pattern));
  }
}

// Every schedule a group runs: proved; each member's first receive is the first message on its
// first line, lands in a buffer of its own, and is the schedule's first data receive of the rank.
TEST(GroupPlan, EveryMessageIsProvedAndBeginsOnTheFirstLine) {
  for (const std::string_view pattern : machine::group_patterns()) {
    for (const std::uint32_t ranks : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16}) {
      for (const sched::Ready ready : {sched::Ready::kSend, sched::Ready::kNone}) {
        GroupShape shape = shape_of(pattern, ranks);
        shape.ready = ready;
        GroupPlan group(shape);
        for (const std::uint64_t bytes : {0, 1, 3, 4, 5, 8, 41}) {
          SCOPED_TRACE(shape.spec(bytes));
          const auto message = group.message(bytes);
          const sched::Schedule& schedule = message->schedule;
          for (const auto& defect : sched::verify(schedule)) ADD_FAILURE() << defect.message;
          EXPECT_EQ(schedule.message_bytes(), bytes);
          for (std::uint32_t m = 1; m < ranks; ++m) {
            const std::uint32_t first = group.first_line(m);
            std::vector<std::uint32_t> lines;  // of the member's data receives
            for (std::uint32_t o = schedule.first_op(sched::RankId(m)).value;
                 o < schedule.end_op(sched::RankId(m)).value; ++o) {
              const sched::Op& op = schedule.op(sched::OpId(o));
              if (op.kind != sched::OpKind::kRecv) continue;
              const std::uint32_t line = message->line_of_channel[op.channel.value];
              if (group.lines()[line].credit) continue;
              if (lines.empty()) {
                EXPECT_EQ(schedule.slices(op.writes).front().buffer, message->staging[m]);
              }
              lines.push_back(line);
            }
            ASSERT_FALSE(lines.empty());
            EXPECT_EQ(lines.front(), first);
          }
        }
      }
    }
  }
}

// A single block goes the way of the pattern itself where that agrees, and else takes as few steps.
TEST(GroupPlan, SingleBlocksOfThePipelineTakeAsManySteps) {
  for (std::uint32_t ranks = 1; ranks <= 64; ++ranks) {
    const sched::Plan own = plan_of("binomial-pipeline", ranks, 1);
    const sched::Plan longer = plan_of("binomial-pipeline", ranks, 2);
    const sched::Plan tree = machine::tree_of_first_blocks(longer, 1);
    EXPECT_EQ(tree.steps, own.steps) << ranks;
    EXPECT_EQ(tree.transfers.size(), ranks - 1);
    EXPECT_EQ(machine::first_sources(own), machine::first_sources(longer)) << ranks;
    EXPECT_EQ(tree.transfers, own.transfers) << ranks;
  }
}

TEST(GroupPlan, MessagesOfASizeAreCompiledOnce) {
  GroupPlan group(shape_of("chain", 3));
  const auto first = group.message(100);
  EXPECT_EQ(group.message(100), first);
  for (std::uint64_t bytes = 0; bytes < 99; ++bytes) group.message(bytes);
  EXPECT_EQ(group.message(98), group.message(98));
  EXPECT_NE(group.message(100), first);  // others took its place
  EXPECT_EQ(group.message(100)->schedule.digest(), first->schedule.digest());
}

TEST(GroupPlan, WhatCannotBeIsRefused) {
  const auto refusal = [](GroupShape shape) -> std::string {
    try {
      GroupPlan group(std::move(shape));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  GroupShape shape = shape_of("binomial-pipelin", 4);
  EXPECT_THAT(refusal(shape), ::testing::HasSubstr("binomial-pipeline"));
  EXPECT_THAT(refusal(shape), ::testing::Not(::testing::HasSubstr("groups cannot take")));
  EXPECT_THAT(refusal(shape_of("scatter-allgather", 4)),
              ::testing::HasSubstr("groups cannot take scatter-allgather"));
  shape = shape_of("chain", 4);
  shape.ready = sched::Ready::kWrite;
  EXPECT_THAT(refusal(shape), ::testing::HasSubstr("ready"));
  shape = shape_of("chain", 4);
  shape.window = 0;
  EXPECT_THAT(refusal(shape), ::testing::HasSubstr("window"));
  shape = shape_of("chain", 4);
  shape.block_bytes = 0;
  EXPECT_THAT(refusal(shape), ::testing::HasSubstr("block"));
  GroupPlan group(shape_of("chain", 2));
  EXPECT_THROW(group.message(machine::kMostGroupBytes + 1), InputError);
}

}  // namespace
}  // namespace slackline
