// Compositions of multicasts: proved by the verifier whatever overlaps, and in time equal to each
// multicast alone where nothing does.
#include "sched/compose.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "sched/compile.h"
#include "sched/verify.h"
#include "tests/property/random_runs.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using analysis::run_events;
using sched::Composition;
using sched::OpId;
using sched::Part;
using sched::PartRange;
using sched::RankId;
using sched::Schedule;
using sched::Time;
using testing::Dice;
using ::testing::HasSubstr;

std::string_view random_pattern(Dice& dice) {
  return sched::plan_patterns()[dice.below(
                                    static_cast<std::uint32_t>(sched::plan_patterns().size()))]
      .name;
}

// `count` of the ranks from 0 to ranks − 1, in any order.
std::vector<RankId> random_ranks(Dice& dice, std::uint32_t ranks, std::uint32_t count) {
  std::vector<RankId> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.emplace_back(r);
  for (std::uint32_t i = 0; i < count; ++i) std::swap(all[i], all[i + dice.below(ranks - i)]);
  all.resize(count);
  return all;
}

// The operations of a schedule as the composition has them.
OpId whole_id(const Composition& whole, std::size_t part, const Schedule& schedule, OpId id) {
  const RankId rank = schedule.op(id).rank;
  return OpId(whole.parts.ops(part, rank).own.value + (id.value - schedule.first_op(rank).value));
}

double first_issue_s(const Composition& whole, std::size_t part, RankId rank,
                     const sched::Trace& trace) {
  double first = 1e300;
  const PartRange& at = whole.parts.ops(part, rank);
  for (OpId id = at.own; id < at.end; ++id.value) {
    first = std::min(first, trace.ops[id.value].issued_s);
  }
  return first;
}

double last_done_s(const Composition& whole, std::size_t part, RankId rank,
                   const sched::Trace& trace) {
  double last = 0;
  const PartRange& at = whole.parts.ops(part, rank);
  for (OpId id = at.first; id < at.end; ++id.value) {
    last = std::max(last, trace.ops[id.value].done_s);
  }
  return last;
}

// Overlapping groups of random patterns: the parts, and the schedules they point to.
struct RandomGroups {
  std::uint32_t ranks;
  std::vector<Schedule> schedules;
  std::vector<Part> parts;

  explicit RandomGroups(Dice& dice, std::uint32_t max_ranks = 12, std::uint32_t max_parts = 7)
      : ranks(1 + dice.below(max_ranks)) {
    const std::uint32_t count = 1 + dice.below(max_parts);
    for (std::uint32_t p = 0; p < count; ++p) {
      schedules.push_back(
          compile(sched::parse_spec(testing::random_spec(dice, random_pattern(dice), ranks, 5))));
    }
    for (std::uint32_t p = 0; p < count; ++p) {
      Part part;
      part.schedule = &schedules[p];
      part.rank_of = random_ranks(dice, ranks, schedules[p].rank_count());
      part.start = Time{dice.one_in(3) ? 0 : dice.below(40'000'000)};
      if (p > 0 && dice.one_in(2)) part.after = dice.below(p);
      if (dice.one_in(2)) part.start_rank = RankId(dice.below(schedules[p].rank_count()));
      parts.push_back(part);
    }
  }
};

TEST(Compose, IsProvedWhereThePartsAre) {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    Dice dice(seed);
    const RandomGroups groups(dice);
    const Composition whole = compose(groups.parts, groups.ranks, "groups");
    const sched::Diagnostics found = verify(whole.schedule);
    ASSERT_TRUE(found.empty()) << "seed " << seed << ": " << found.front().message;
  }
}

TEST(Compose, KeepsWhatThePartsAre) {
  for (std::uint32_t seed = 0; seed < 800; ++seed) {
    Dice dice(seed);
    const RandomGroups groups(dice);
    const Composition whole = compose(groups.parts, groups.ranks);
    ASSERT_EQ(whole.parts.count(), groups.parts.size());
    ASSERT_EQ(whole.parts.of_op.size(), whole.schedule.op_count());
    std::vector<std::uint32_t> counted(groups.parts.size(), 0);
    for (const std::uint32_t p : whole.parts.of_op) ++counted[p];
    std::uint64_t bytes = 0;
    for (std::size_t p = 0; p < groups.parts.size(); ++p) {
      const Part& part = groups.parts[p];
      const Schedule& alone = *part.schedule;
      bytes += alone.message_bytes();
      std::uint32_t gates = 0;
      for (std::uint32_t r = 0; r < alone.rank_count(); ++r) {
        const PartRange& at = whole.parts.ops(p, RankId(r));
        gates += at.own.value - at.first.value;
        for (OpId id = at.first; id < at.end; ++id.value) {
          ASSERT_EQ(whole.parts.of_op[id.value], p);
          ASSERT_EQ(whole.schedule.op(id).rank, part.rank_of[r]);
        }
      }
      ASSERT_EQ(counted[p], alone.op_count() + gates);
      for (std::uint32_t i = 0; i < alone.op_count(); ++i) {
        const sched::Op& before = alone.ops()[i];
        const sched::Op& after = whole.schedule.op(whole_id(whole, p, alone, OpId(i)));
        ASSERT_EQ(after.kind, before.kind);
        ASSERT_EQ(after.step, before.step);
        ASSERT_EQ(whole.schedule.payload_bytes(after), alone.payload_bytes(before));
        ASSERT_EQ(after.match.valid(), before.match.valid());
        if (before.match.valid()) {
          ASSERT_EQ(after.match, whole_id(whole, p, alone, before.match));
        }
        if (before.channel.valid()) {
          const sched::Channel& channel = whole.schedule.channel(after.channel);
          ASSERT_EQ(channel.src, part.rank_of[alone.channel(before.channel).src.value]);
          ASSERT_EQ(channel.window, alone.channel(before.channel).window);
        }
      }
    }
    ASSERT_EQ(whole.schedule.message_bytes(), bytes);
  }
}

TEST(Compose, OnRanksOfTheirOwnPartsTakeTheirOwnTime) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Dice dice(seed);
    const machine::Platform platform =
        testing::random_platform(dice, machine::NicDiscipline::kSerial);
    std::vector<Schedule> schedules;
    const std::uint32_t count = 1 + dice.below(4);
    std::uint32_t ranks = 0;
    for (std::uint32_t p = 0; p < count; ++p) {
      schedules.push_back(
          compile(sched::parse_spec(testing::random_spec(dice, random_pattern(dice), 7, 6))));
      ranks += schedules.back().rank_count();
    }
    const std::vector<RankId> places = random_ranks(dice, ranks, ranks);
    std::vector<Part> parts;
    std::size_t used = 0;
    for (const Schedule& schedule : schedules) {
      Part part;
      part.schedule = &schedule;
      part.start = Time{dice.one_in(3) ? 0 : dice.below(80'000'000)};
      for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
        part.rank_of.push_back(places[used++]);
      }
      // Rivals of one instant go by their number, so it must grow with the rank as before.
      std::sort(part.rank_of.begin(), part.rank_of.end());
      parts.push_back(part);
    }
    const Composition whole = compose(parts, ranks);
    const sched::Trace together = run_events({whole.schedule, platform});
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Schedule& alone = *parts[p].schedule;
      const sched::Trace trace = run_events({alone, platform});
      const double start_s = sched::seconds(parts[p].start);
      for (std::uint32_t i = 0; i < alone.op_count(); ++i) {
        const sched::OpTimes& moved = together.ops[whole_id(whole, p, alone, OpId(i)).value];
        ASSERT_NEAR(moved.issued_s, trace.ops[i].issued_s + start_s, 1e-12) << "seed " << seed;
        ASSERT_NEAR(moved.done_s, trace.ops[i].done_s + start_s, 1e-12) << "seed " << seed;
      }
    }
  }
}

TEST(Compose, HoldsEveryPartBackAsAsked) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Dice dice(seed + 1000);
    const RandomGroups groups(dice);
    const Composition whole = compose(groups.parts, groups.ranks);
    const sched::Trace trace = run_events(
        {whole.schedule, testing::random_platform(dice, machine::NicDiscipline::kSerial)});
    for (std::size_t p = 0; p < groups.parts.size(); ++p) {
      const Part& part = groups.parts[p];
      for (std::uint32_t r = 0; r < part.rank_of.size(); ++r) {
        const double first_s = first_issue_s(whole, p, RankId(r), trace);
        if (!part.start_rank.valid() || part.start_rank.value == r) {
          ASSERT_GE(first_s, sched::seconds(part.start) - 1e-15) << "seed " << seed;
        }
        if (!part.after) continue;
        const std::vector<RankId>& before = groups.parts[*part.after].rank_of;
        const auto found = std::find(before.begin(), before.end(), part.rank_of[r]);
        if (found == before.end()) continue;
        const RankId there(static_cast<std::uint32_t>(found - before.begin()));
        ASSERT_GE(first_s, last_done_s(whole, *part.after, there, trace)) << "seed " << seed;
      }
    }
  }
}

TEST(Compose, PutsOlderPartsFirstInProgramOrder) {
  const Schedule chain = compile(sched::parse_spec("chain:ranks=2,bytes=8,block=8"));
  std::vector<Part> parts(4, Part{&chain, {RankId(0), RankId(1)}, Time{0}, {}, {}});
  parts[0].start = Time{300};
  parts[1].start = Time{100};
  parts[2].after = 0;  // from 300 on
  parts[3].start = Time{100};
  const Composition whole = compose(parts, 2);
  std::vector<std::uint32_t> order;
  for (const std::uint32_t p : whole.parts.of_op) {
    if (order.empty() || order.back() != p) order.push_back(p);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 3, 0, 2, 1, 3, 0, 2}));
}

TEST(Compose, AWaitReachesThroughPartsWithoutOperations) {
  const Schedule none = compile(sched::parse_spec("chain:ranks=1,bytes=8"));
  const Schedule chain = compile(sched::parse_spec("chain:ranks=2,bytes=8000"));
  std::vector<Part> parts(3);
  parts[0] = {&chain, {RankId(0), RankId(1)}, Time{0}, {}, {}};
  parts[1] = {&none, {RankId(0)}, Time{5'000'000}, 0, {}};
  parts[2] = {&chain, {RankId(0), RankId(1)}, Time{0}, 1, {}};
  const Composition whole = compose(parts, 2);
  const sched::Trace trace = run_events({whole.schedule, machine::Platform{}});
  EXPECT_GE(first_issue_s(whole, 2, RankId(0), trace), 5e-6 * (1 - 1e-12));
  EXPECT_GE(first_issue_s(whole, 2, RankId(0), trace), last_done_s(whole, 0, RankId(0), trace));
  EXPECT_EQ(first_issue_s(whole, 2, RankId(1), trace), 0);  // rank 1 is not in part 1
}

TEST(Compose, OfOnePartFromTheStartIsThatPart) {
  for (const sched::PatternEntry& pattern : sched::plan_patterns()) {
    const Schedule schedule =
        compile(sched::parse_spec(fmt::format("{}:ranks=7,bytes=100,block=9", pattern.name)));
    Part part{&schedule, {}, Time{0}, {}, {}};
    for (std::uint32_t r = 0; r < 7; ++r) part.rank_of.emplace_back(r);
    EXPECT_EQ(sched::compose({&part, 1}, 7).schedule.digest(), schedule.digest()) << pattern.name;
  }
  EXPECT_EQ(sched::compose({}, 3).schedule.op_count(), 0u);
}

TEST(Compose, SaysWhatIsWrong) {
  const Schedule chain = compile(sched::parse_spec("chain:ranks=2,bytes=8"));
  const Part sound{&chain, {RankId(0), RankId(1)}, Time{0}, {}, {}};
  const auto error_of = [&](auto&& change) -> std::string {
    std::vector<Part> parts = {sound, sound};
    change(parts[1]);
    return testing::error_of([&] { compose(parts, 2); });
  };
  EXPECT_EQ(error_of([](Part&) {}), "");
  EXPECT_THAT(error_of([](Part& p) { p.rank_of = {RankId(0)}; }), HasSubstr("part 1: 1 ranks"));
  EXPECT_THAT(error_of([](Part& p) { p.rank_of[1] = RankId(2); }), HasSubstr("2 is no rank"));
  EXPECT_THAT(error_of([](Part& p) { p.rank_of[1] = RankId(0); }), HasSubstr("stands twice"));
  EXPECT_THAT(error_of([](Part& p) { p.start = Time{-1}; }), HasSubstr("start"));
  EXPECT_THAT(error_of([](Part& p) { p.start = sched::kForever; }), HasSubstr("start"));
  EXPECT_THAT(error_of([](Part& p) { p.after = 1; }), HasSubstr("after part 1"));
  EXPECT_THAT(error_of([](Part& p) { p.start_rank = RankId(2); }), HasSubstr("start rank 2"));
  EXPECT_THROW(sched::compose({}, 0), InputError);
}

}  // namespace
}  // namespace slackline
