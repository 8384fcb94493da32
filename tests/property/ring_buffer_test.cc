// The ring buffer, proved for all small sizes, and its bounds held in runs.
#include "sched/workloads/calls/ring_buffer.h"

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
#include "tests/support/draft.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::RankId;
using sched::Schedule;
using sched::Spec;
using testing::Dice;

Spec options_of(std::uint32_t ranks, std::uint32_t messages, std::uint32_t slots,
                bool copy_out = true, std::uint64_t bytes = 24, std::uint32_t root = 0) {
  Spec spec;
  spec.pattern = "ring-buffer";
  spec.multicast = {ranks, bytes, 1, RankId(root)};
  spec.messages = messages;
  spec.slots = slots;
  spec.edit_own<sched::RingOptions>().in_place = !copy_out;
  return spec;
}

std::string defect(const Spec& options) {
  const sched::Diagnostics found = verify(ring_buffer(options));
  if (found.empty()) return "";
  return fmt::format("{} ranks, {} messages, {} slots: {}", options.multicast.ranks,
                     options.messages, options.slots, found.front().message);
}

TEST(RingBuffer, IsProvedForAllSmallSizes) {
  for (const bool copy_out : {true, false}) {
    for (std::uint32_t n = 1; n <= 20; ++n) {
      for (std::uint32_t m = 1; m <= 40; ++m) {
        for (std::uint32_t w = 1; w <= 8; ++w) {
          const std::uint64_t bytes = (n + m + w) % 5 == 0 ? 0 : 1 + (n * m) % 30;
          ASSERT_EQ(defect(options_of(n, m, w, copy_out, bytes, (m + w) % n)), "");
        }
      }
    }
  }
}

TEST(RingBuffer, IsProvedForLargeRings) {
  Dice dice(3);
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(defect(options_of(2 + dice.below(6), 1 + dice.below(600), 1 + dice.below(70),
                                dice.one_in(2))),
              "");
  }
}

// What stands between reports and slots is needed: without any one edge the proof fails, but for
// those that only keep a rank's own order on top of a channel's.
TEST(RingBuffer, RestsOnItsReports) {
  const Schedule sound = ring_buffer(options_of(3, 10, 4));
  std::uint32_t caught = 0;
  for (std::size_t e = 0; e < sound.edges().size(); ++e) {
    testing::Draft draft = testing::Draft::from(sound);
    const sched::Edge edge = draft.edges[e];
    draft.edges.erase(draft.edges.begin() + static_cast<std::ptrdiff_t>(e));
    const bool found = !verify(draft.build()).empty();
    caught += found ? 1 : 0;
    const bool to_root_put = sound.op(edge.succ).kind == OpKind::kPut;
    const bool to_copy = sound.op(edge.succ).kind == OpKind::kCopy;
    if (to_root_put || to_copy) {
      EXPECT_TRUE(found) << describe(sound, edge.pred) << " -> " << describe(sound, edge.succ);
    }
  }
  EXPECT_GT(caught, sound.edges().size() / 2);
}

// The operations of a receiver, by message; and the root's to it.
struct Series {
  std::vector<OpId> puts;
  std::vector<OpId> polls;
  std::vector<OpId> copies;
  std::uint32_t reports = 0;
};
Series series_of(const Schedule& schedule, RankId root, RankId receiver) {
  Series series;
  for (OpId id = schedule.first_op(receiver); id < schedule.end_op(receiver); ++id.value) {
    const Op& op = schedule.op(id);
    if (op.kind == OpKind::kPut) ++series.reports;
    if (op.kind == OpKind::kCopy) series.copies.push_back(id);
    if (op.kind != OpKind::kPoll) continue;
    series.polls.push_back(id);
    series.puts.push_back(op.match);
    EXPECT_EQ(schedule.op(op.match).rank, root);
  }
  return series;
}

TEST(RingBuffer, NeverHasMoreUnderWayThanSlots) {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    const std::uint32_t n = 2 + dice.below(6);
    const Spec options = options_of(n, 1 + dice.below(60), 1 + dice.below(12), true,
                                    dice.below(9000), dice.below(n));
    const Schedule schedule = ring_buffer(options);
    const sched::Trace trace = analysis::run_events(
        {schedule, testing::random_platform(dice, machine::NicDiscipline::kSerial),
         testing::random_delays(dice, schedule)});
    for (std::uint32_t r = 0; r < n; ++r) {
      if (RankId(r) == options.multicast.root) continue;
      const Series series = series_of(schedule, options.multicast.root, RankId(r));
      ASSERT_EQ(series.puts.size(), options.messages);
      ASSERT_EQ(series.copies.size(), options.messages);
      for (std::uint32_t m = 0; m < options.messages; ++m) {
        ASSERT_EQ(schedule.op(series.puts[m]).step, m);
        if (m < options.slots) continue;
        ASSERT_GE(trace.ops[series.puts[m].value].issued_s,
                  trace.ops[series.copies[m - options.slots].value].done_s)
            << "seed " << seed;
      }
    }
  }
}

TEST(RingBuffer, ReportsHalfARingAndNoMoreThanIsAwaited) {
  const auto reports = [](std::uint32_t messages, std::uint32_t slots) {
    return series_of(ring_buffer(options_of(2, messages, slots)), RankId(0), RankId(1)).reports;
  };
  EXPECT_EQ(reports(16, 16), 0u);
  EXPECT_EQ(reports(17, 16), 1u);
  EXPECT_EQ(reports(24, 16), 1u);
  EXPECT_EQ(reports(25, 16), 2u);
  EXPECT_EQ(reports(5, 1), 4u);
  EXPECT_EQ(reports(5, 3), 2u);  // every message
  for (std::uint32_t m = 1; m <= 40; ++m) {
    for (std::uint32_t w = 1; w <= 9; ++w) {
      for (const bool copy_out : {true, false}) {
        const Spec options = options_of(5, m, w, copy_out);
        EXPECT_EQ(ring_buffer(options).op_count(), ring_buffer_ops(options));
      }
    }
  }
}

// In its contract every message is a value of its own.
TEST(RingBuffer, PromisesEveryMessageOrTheLastOfThem) {
  const Schedule copied = ring_buffer(options_of(3, 7, 4));
  EXPECT_EQ(copied.contract().post.size(), 7u + 2 * 7u);
  const Schedule in_place = ring_buffer(options_of(3, 7, 4, false));
  EXPECT_EQ(in_place.contract().post.size(), 7u + 2 * 4u);
  for (std::size_t i = 7; i < 11; ++i) {
    EXPECT_EQ(in_place.contract().post[i].value, sched::ValueId(static_cast<std::uint32_t>(i - 4)));
  }
  EXPECT_EQ(copied.message_bytes(), 7u * 24);
}

TEST(RingBuffer, ByItsSpec) {
  const sched::Spec spec = sched::parse_spec(
      "ring-buffer:ranks=5,bytes=1KB,messages=40,slots=8,root=2,consume=in-place");
  EXPECT_EQ(format_spec(spec),
            "ring-buffer:ranks=5,bytes=1000,root=2,messages=40,slots=8,consume=in-place");
  const Schedule schedule = compile(spec);
  EXPECT_EQ(schedule.title(), format_spec(spec));
  EXPECT_EQ(schedule.digest(), ring_buffer(options_of(5, 40, 8, false, 1000, 2)).digest());
  EXPECT_EQ(most_ops(spec), schedule.op_count());
  EXPECT_FALSE(block_count(spec).has_value());
  EXPECT_TRUE(sched::looks_like_spec("ring-buffer"));
  EXPECT_THROW(plan_of(spec), InputError);
}

TEST(RingBuffer, SaysWhatIsWrong) {
  const auto error_of = [](const std::string& options) {
    return testing::error_of([&] { compile(sched::parse_spec("ring-buffer:" + options)); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of("ranks=3,bytes=1,block=1"),
              HasSubstr("block: not an option of ring-buffer; it takes ranks, bytes, root"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,order=lockstep"), HasSubstr("order: not an option of"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,messages=0"), HasSubstr("messages: '0'"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,slots=0"), HasSubstr("slots: '0'"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,consume=eat"), HasSubstr("expected copy or in-place"));
  EXPECT_THAT(error_of("ranks=9,bytes=1,messages=2147483648"),
              HasSubstr("make 55834574816 operations"));
  EXPECT_THAT(error_of("ranks=3,bytes=9223372036854775807,messages=2"),
              HasSubstr("expected less than 9223372036854775807 bytes together"));
  EXPECT_THAT(error_of("ranks=3,root=3,bytes=1"), HasSubstr("root: '3'"));
  EXPECT_THROW(ring_buffer(options_of(0, 1, 1)), InputError);
  EXPECT_THROW(ring_buffer(options_of(1, 0, 1)), InputError);
  EXPECT_THROW(ring_buffer(options_of(1, 1, 0)), InputError);
  EXPECT_THROW(ring_buffer(options_of(1, 1, 1, true, 1, 1)), InputError);
}

// More slots never make a series slower on a machine without surprises, and from some number on no
// faster: then the ring is no longer what bounds it.
TEST(RingBuffer, GainsFromSlotsUntilTheyAreEnough) {
  const machine::Platform platform = machine::load_platform("fractus");
  double last_s = 1e300;
  for (const std::uint32_t slots : {1u, 2u, 4u, 8u, 16u, 64u}) {
    const double makespan_s =
        analysis::run_events({ring_buffer(options_of(4, 64, slots, true, 1000)), platform})
            .makespan_s();
    EXPECT_LE(makespan_s, last_s) << slots;
    last_s = makespan_s;
  }
}

class MessageSeries : public ::testing::TestWithParam<std::string> {};

// Messages of one group, one after the other.
TEST_P(MessageSeries, IsProvedAndKeepsItsOrder) {
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    Dice dice(seed);
    const std::string one = testing::random_spec(dice, GetParam(), 12, 6);
    const std::uint32_t count = 2 + dice.below(4);
    const std::string lockstep = dice.one_in(4) ? ",order=lockstep" : "";
    const sched::Spec spec =
        sched::parse_spec(fmt::format("{}{},messages={}", one, lockstep, count));
    const Schedule schedule = compile(spec);
    const sched::Diagnostics found = verify(schedule);
    ASSERT_TRUE(found.empty()) << format_spec(spec) << ": " << found.front().message;
    const Schedule single = compile(sched::parse_spec(one + lockstep));
    EXPECT_EQ(schedule.message_bytes(), count * single.message_bytes());
    EXPECT_EQ(schedule.contract().post.size(), count * single.contract().post.size());
    EXPECT_EQ(schedule.step_count(), single.step_count());
    EXPECT_EQ(block_count(spec), count * spec.multicast.blocks());
    const machine::Platform platform =
        testing::random_platform(dice, machine::NicDiscipline::kSerial);
    const double makespan_s = analysis::run_events({schedule, platform}).makespan_s();
    const double one_s = analysis::run_events({single, platform}).makespan_s();
    EXPECT_GE(makespan_s, one_s);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const sched::PatternEntry& entry : sched::plan_patterns()) result.emplace_back(entry.name);
  return result;
}
INSTANTIATE_TEST_SUITE_P(Patterns, MessageSeries, ::testing::ValuesIn(names()),
                         [](const auto& named) {
                           std::string name = named.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace slackline
