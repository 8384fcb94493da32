#include "sched/program_writer.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "sched/verify.h"

namespace slackline::sched {
namespace {

constexpr OpPlace kHere{RankId(0), 3, 1};

TEST(ProgramWriter, PlacesOperations) {
  ProgramWriter out(1);
  const OpId first = out.join(kHere);
  EXPECT_EQ(out.next_op(), OpId(1));
  const OpId second = out.calc(kHere, Time{7}, {first, OpId::none()});
  const OpId third = out.delay({RankId(0)}, Time{0}, {second});
  out.after(OpId::none(), third);
  out.after(first, third, On::kIssued);
  const Schedule made = out.build();
  const Op& calc = made.op(second);
  EXPECT_EQ(calc.kind, OpKind::kCalc);
  EXPECT_EQ(calc.step, 3u);
  EXPECT_EQ(calc.lane, 1u);
  EXPECT_EQ(made.arguments(calc).duration, Time{7});
  EXPECT_EQ(made.op(third).lane, 0u);
  EXPECT_NE(made.op(third).arguments, kNoArguments);
  const std::vector<Edge> edges(made.edges().begin(), made.edges().end());
  EXPECT_EQ(edges,
            (std::vector<Edge>{{first, second}, {first, third, On::kIssued}, {second, third}}));
}

TEST(ProgramWriter, FindsChannelsAgain) {
  ProgramWriter out(2);
  const ChannelId there = out.channel(RankId(0), RankId(1));
  EXPECT_EQ(out.channel(RankId(0), RankId(1)), there);
  EXPECT_NE(out.channel(RankId(1), RankId(0)), there);
  EXPECT_NE(out.channel(RankId(0), RankId(1), 1), there);
  EXPECT_NE(out.connect(RankId(0), RankId(1)), there);
  const Schedule made = out.build();
  ASSERT_EQ(made.channels().size(), 4u);
  EXPECT_EQ(made.channel(there).src, RankId(0));
  EXPECT_EQ(made.channel(there).dst, RankId(1));
}

TEST(ProgramWriter, TakesSlicesHoweverTheyAreGiven) {
  ProgramWriter out(1);
  const BufferId buffer = out.add_buffer(RankId(0), 32);
  const Slice low{buffer, 0, 8};
  const Slice high{buffer, 8, 8};
  const SliceRange stored = out.add_slice(low);
  const std::vector<Slice> both = {low, high};
  out.copy(kHere, stored, high);
  out.copy(kHere, std::span(both), {{buffer, 16, 16}});
  out.add_to(kHere, high, low);
  const Schedule made = out.build();
  EXPECT_EQ(made.op(OpId(0)).reads, stored);
  EXPECT_EQ(made.slices(made.op(OpId(0)).writes).front(), high);
  EXPECT_EQ(made.slices(made.op(OpId(1)).reads).size(), 2u);
  EXPECT_EQ(made.bytes(made.op(OpId(1)).writes), 16u);
  const auto operands = made.slices(made.op(OpId(2)).reads);
  EXPECT_EQ(std::vector<Slice>(operands.begin(), operands.end()), (std::vector<Slice>{high, low}));
  EXPECT_EQ(made.op(OpId(2)).kind, OpKind::kReduce);
  EXPECT_EQ(made.slices(made.op(OpId(2)).writes).front(), high);
}

// Two calls, and an answer to each.
TEST(ProgramWriter, WritesCallsThatAreProved) {
  ProgramWriter out(2);
  const RankId caller(0);
  const RankId target(1);
  const Slice records{out.add_buffer(caller, 16), 0, 16};
  const Slice marks[] = {{out.add_buffer(caller, 8), 0, 8}, {out.add_buffer(target, 8), 0, 8}};
  const BufferId box = out.add_buffer(target, 32);
  const BufferId answers = out.add_buffer(caller, 16);
  const Slice state{out.add_buffer(target, 8), 0, 8};
  out.add_pre({records, ValueId(0), 0});
  out.add_pre({marks[0], ValueId(1), 0});
  out.add_pre({marks[1], ValueId(1), 0});
  OpId last;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Slice landing{box, 16 * i, 16};
    const Slice answer{answers, 8 * i, 8};
    const OpId request = out.put({caller, i}, out.channel(caller, target),
                                 {{records.buffer, 8 * i, 8}, marks[0]}, landing, Notify::kFlag);
    const OpId seen = out.poll({target, i}, end_of(landing, 8));
    out.add_flag_match(request, seen);
    const OpId ran = out.calc({target, i}, Time{1}, {seen, last});
    last = out.accumulate({target, i}, state, {box, 16 * i, 8}, i == 0, {ran});
    const OpId reply =
        out.put({target, i}, out.channel(target, caller), marks[1], answer, Notify::kFlag, {last});
    const OpId back = out.poll({caller, i}, answer);
    out.add_flag_match(reply, back);
  }
  const Schedule made = out.build();
  const Diagnostics found = verify(made);
  EXPECT_TRUE(found.empty()) << (found.empty() ? "" : found.front().message);
  EXPECT_EQ(made.op_count(), 12u);
}

TEST(ProgramWriter, RetriesUntilTestsHold) {
  ProgramWriter out(1);
  const OpId entry = out.join(kHere);
  out.retry(entry, 1, 9);
  const Schedule made = out.build();
  ASSERT_EQ(made.regions().size(), 1u);
  EXPECT_EQ(made.regions().front().kind, RegionKind::kRetry);
  EXPECT_EQ(made.regions().front().outcome, RegionOutcome::kActual);
  EXPECT_EQ(made.regions().front().max_attempts, 9u);
}

}  // namespace
}  // namespace slackline::sched
