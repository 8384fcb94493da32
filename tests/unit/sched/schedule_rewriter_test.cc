// What is copied as it is has the same digest, whatever the schedule; and what is changed is
// changed alone.
#include "sched/schedule_rewriter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/read_file.h"
#include "sched/compile.h"
#include "sched/program_writer.h"
#include "sched/text.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

void keep_all(const Schedule& schedule, ScheduleRewriter& copy) {
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) copy.keep(OpId(i));
}

Schedule copied(const Schedule& schedule) {
  ScheduleBuilder out(schedule.rank_count());
  ScheduleRewriter copy(schedule, out);
  keep_all(schedule, copy);
  copy.finish();
  return out.build();
}

// The text has the title too, which digests leave out.
void expect_same(const Schedule& schedule) {
  const Schedule copy = copied(schedule);
  EXPECT_EQ(write_text(copy), write_text(schedule));
  EXPECT_EQ(copy.digest(), schedule.digest()) << schedule.title();
}

TEST(ScheduleRewriter, KeepsEveryPatternAsItIs) {
  std::istringstream lines(
      read_file(slackline::testing::source_dir() + "/tests/golden/digests.txt"));
  std::size_t count = 0;
  for (std::string digest, spec; lines >> digest >> spec; ++count) {
    const Schedule copy = copied(compile(parse_spec(spec)));
    EXPECT_EQ(to_string(copy.digest()), digest) << spec;
  }
  EXPECT_GT(count, 300u);
}

TEST(ScheduleRewriter, KeepsEveryKindOfEntry) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    expect_same(testing::random_schedule(seed));
  }
  expect_same(testing::small_chain());
  expect_same(testing::put_with_copy());
  expect_same(testing::queue_push());
  expect_same(testing::small_reduce());
}

TEST(ScheduleRewriter, FindsItsPlaceBehindWhatIsThere) {
  const Schedule chain = testing::small_chain();
  ScheduleBuilder out(6);
  const std::vector<RankId> ranks = {RankId(5), RankId(3), RankId(4)};
  ScheduleRewriter first(chain, out);
  ScheduleRewriter second(chain, out, {ranks, 7});
  keep_all(chain, first);
  keep_all(chain, second);
  first.finish();
  second.finish();
  const Schedule both = out.build();
  ASSERT_EQ(both.op_count(), 2 * chain.op_count());
  const auto channels = static_cast<std::uint32_t>(chain.channels().size());
  for (std::uint32_t c = 0; c < channels; ++c) {
    const Channel& old = chain.channels()[c];
    const Channel& moved = both.channels()[channels + c];
    EXPECT_EQ(moved.src, ranks[old.src.value]);
    EXPECT_EQ(moved.dst, ranks[old.dst.value]);
    EXPECT_EQ(moved.window, old.window);
    EXPECT_EQ(moved.credit_on.valid(), old.credit_on.valid());
    if (!old.credit_on.valid()) continue;
    EXPECT_EQ(moved.credit_on.value, old.credit_on.value + channels);
  }
  const Fact& fact = both.contract().post.back();
  EXPECT_EQ(fact.value, ValueId(7));
  EXPECT_EQ(fact.slice.buffer, BufferId(5));
  EXPECT_EQ(both.buffers()[fact.slice.buffer.value].rank, RankId(4));
  // Rank 0 of the chain is rank 5 now, and the last.
  for (std::uint32_t i = 0; chain.ops()[i].rank == RankId(0); ++i) {
    const Op& old = chain.ops()[i];
    const Op& moved = both.op(OpId(both.first_op(RankId(5)).value + i));
    EXPECT_EQ(moved.kind, old.kind);
    EXPECT_EQ(both.bytes(moved.reads), chain.bytes(old.reads));
  }
}

TEST(ScheduleRewriter, CountsValuesByTheLastTerm) {
  Contract contract;
  EXPECT_EQ(value_count(contract), 0u);
  contract.pre.push_back({{}, ValueId(4), 0});
  EXPECT_EQ(value_count(contract), 5u);
  contract.post.push_back({{}, ValueId(3), 0, 7});
  EXPECT_EQ(value_count(contract), 10u);
}

// Three calculations of one rank, each after the one before, the last on an attempt of the first.
class Changes : public ::testing::Test {
 protected:
  Changes() : in_(make()), out_(2) {}

  static Schedule make() {
    ProgramWriter out(2);
    const Slice word{out.add_buffer(RankId(1), 8), 0, 8};
    const ChannelId on = out.connect(RankId(0), RankId(1));
    const OpId first = out.add(out.op(OpKind::kFetchAdd, {RankId(0)}, on, word, word));
    const OpId second = out.calc({RankId(0)}, Time{5}, {first});
    OpArguments swap;
    swap.compare = {Operand::From::kResult, first, 1};
    out.add(out.op(OpKind::kCompareSwap, {RankId(0)}, on, word, word), swap, {second});
    return out.build();
  }

  const Schedule in_;
  ProgramWriter out_;
};

TEST_F(Changes, InsertsBetween) {
  ScheduleRewriter copy(in_, out_);
  const OpId before = out_.join({RankId(0)});
  copy.keep(OpId(0));
  const OpId between = out_.join({RankId(0)}, {copy[OpId(0)]});
  copy.keep(OpId(1));
  copy.keep(OpId(2));
  copy.finish();
  const Schedule made = out_.build();
  EXPECT_EQ(before, OpId(0));
  EXPECT_EQ(between, OpId(2));
  ASSERT_EQ(made.op_count(), 5u);
  ASSERT_EQ(made.edges_into(OpId(3)).size(), 1u);
  EXPECT_EQ(made.edges_into(OpId(3)).front().pred, OpId(1));
  EXPECT_EQ(made.arguments(made.op(OpId(4))).compare.op, OpId(1));
}

TEST_F(Changes, DropsWithEdges) {
  ScheduleRewriter copy(in_, out_);
  copy.keep(OpId(0));
  copy.keep(OpId(2));
  EXPECT_FALSE(copy[OpId(1)].valid());
  copy.finish();
  const Schedule made = out_.build();
  EXPECT_EQ(made.op_count(), 2u);
  EXPECT_TRUE(made.edges().empty());
}

TEST_F(Changes, RefusesToDropWhatIsNamed) {
  ScheduleRewriter copy(in_, out_);
  copy.keep(OpId(1));
  copy.keep(OpId(2));
  EXPECT_THROW(copy.finish(), InternalError);
}

TEST(ScheduleRewriter, WidensRegionsByWhatIsInserted) {
  ProgramWriter draft(1);
  const OpId first = draft.join({RankId(0)});
  draft.join({RankId(0)});
  Region region;
  region.kind = RegionKind::kRepeat;
  region.entry = first;
  region.count = 2;
  region.max_attempts = 3;
  draft.add_region(region);
  const Schedule in = draft.build();
  ProgramWriter out(1);
  ScheduleRewriter copy(in, out);
  out.join({RankId(0)});
  copy.keep(OpId(0));
  out.join({RankId(0)});
  copy.keep(OpId(1));
  copy.finish();
  const Schedule made = out.build();
  ASSERT_EQ(made.regions().size(), 1u);
  EXPECT_EQ(made.regions().front().entry, OpId(1));
  EXPECT_EQ(made.regions().front().count, 3u);
  EXPECT_EQ(made.regions().front().max_attempts, 3u);
}

}  // namespace
}  // namespace slackline::sched
