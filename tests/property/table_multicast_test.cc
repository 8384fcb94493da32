// Derecho's small messages: proved for all small sizes, their writes counted, and their times held
// to closed forms.
#include "sched/workloads/calls/table_multicast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "base/read_file.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/property/random_runs.h"
#include "tests/support/draft.h"
#include "tests/support/error_of.h"
#include "tests/support/source_dir.h"

namespace slackline {
namespace {

using sched::Edge;
using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::RankId;
using sched::Schedule;
using sched::Spec;
using testing::Dice;

struct Shape {
  std::uint32_t ranks = 3;
  std::uint32_t messages = 1;
  std::uint32_t batch = 1;
  std::uint32_t rooms = 4;  // batches that there are slots for
  bool stable = false;
  std::uint64_t bytes = 24;
  std::uint32_t root = 0;
  std::uint32_t senders = 1;
};

Spec spec_of(const Shape& shape) {
  Spec spec;
  spec.pattern = "table-multicast";
  spec.multicast = {shape.ranks, shape.bytes, 1, RankId(shape.root)};
  spec.messages = shape.messages;
  spec.slots = shape.rooms * shape.batch;
  spec.edit_own<sched::TableOptions>() = {shape.batch, shape.stable, shape.senders};
  return spec;
}
Schedule schedule_of(const Shape& shape) { return table_multicast(spec_of(shape)); }

std::string defect(const Shape& shape) {
  const Schedule schedule = schedule_of(shape);
  if (schedule.op_count() != table_multicast_ops(spec_of(shape))) return "operations";
  const sched::Diagnostics found = verify(schedule);
  if (found.empty()) return "";
  return format_spec(spec_of(shape)) + ": " + found.front().message;
}

TEST(TableMulticast, IsProvedForAllSmallSizes) {
  for (const bool stable : {false, true}) {
    for (std::uint32_t n = 1; n <= 6; ++n) {
      for (std::uint32_t m = 1; m <= 10; ++m) {
        for (std::uint32_t batch = 1; batch <= 3; ++batch) {
          for (std::uint32_t rooms = 1; rooms <= 3; ++rooms) {
            const std::uint64_t bytes = (n + m + batch) % 5 == 0 ? 0 : 1 + (n * m) % 30;
            ASSERT_EQ(defect({n, m, batch, rooms, stable, bytes, (m + rooms) % n}), "");
          }
        }
      }
    }
  }
}

TEST(TableMulticast, IsProvedForSeveralSenders) {
  for (const bool stable : {false, true}) {
    for (std::uint32_t n = 2; n <= 4; ++n) {
      for (std::uint32_t senders = 2; senders <= n; ++senders) {
        for (std::uint32_t m = 1; m <= 5; ++m) {
          for (std::uint32_t batch = 1; batch <= 2; ++batch) {
            for (std::uint32_t rooms = 1; rooms <= 2; ++rooms) {
              ASSERT_EQ(
                  defect({n, m, batch, rooms, stable, 1 + (n * m) % 30, (m + rooms) % n, senders}),
                  "");
            }
          }
        }
      }
    }
  }
}

TEST(TableMulticast, IsProvedForLargerGroupsAndSeries) {
  Dice dice(7);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(defect({2 + dice.below(14), 1 + dice.below(40), 1 + dice.below(8), 1 + dice.below(6),
                      dice.one_in(2), dice.below(100), 0}),
              "");
  }
}

// Bytes of the contract, and channels by what they carry: 0 data and counter, or counts.
std::map<std::uint64_t, int> writes_by_bytes(const Schedule& schedule) {
  std::map<std::uint64_t, int> count;
  for (const Op& op : schedule.ops()) {
    if (op.kind != OpKind::kPut) continue;
    ++count[schedule.slices(op.reads).front().bytes];
  }
  return count;
}

TEST(TableMulticast, OneMessageToThreeMembersIsTenWrites) {
  // The data has a word behind it.
  EXPECT_EQ(writes_by_bytes(schedule_of({})), (std::map<std::uint64_t, int>{{32, 2}, {8, 2 + 6}}));
  EXPECT_EQ(writes_by_bytes(schedule_of({.stable = true})),
            (std::map<std::uint64_t, int>{{32, 2}, {8, 2 + 6 + 6}}));
  // A batch is one message that is longer.
  EXPECT_EQ(writes_by_bytes(schedule_of({.messages = 4, .batch = 4})),
            (std::map<std::uint64_t, int>{{4 * 24 + 8, 2}, {8, 2 + 6}}));
  EXPECT_EQ(writes_by_bytes(schedule_of({.messages = 5, .batch = 4})),
            (std::map<std::uint64_t, int>{{4 * 24 + 8, 2}, {24 + 8, 2}, {8, 2 * (2 + 6)}}));
  // Of each sender.
  EXPECT_EQ(writes_by_bytes(schedule_of({.stable = true, .senders = 3})),
            (std::map<std::uint64_t, int>{{32, 3 * 2}, {8, 3 * (2 + 6 + 6)}}));
}

TEST(TableMulticast, OfThreeMembersIsAsWrittenDown) {
  EXPECT_EQ(
      write_text(compile(sched::parse_spec("table-multicast:ranks=3,bytes=64,delivery=stable"))),
      sched::read_file(testing::source_dir() + "/tests/golden/table_multicast.sched"));
}

// Slots are used again by what waits for batches before.
bool frees_slots(const Schedule& schedule, const Edge& edge) {
  return schedule.op(edge.succ).kind == OpKind::kJoin &&
         schedule.op(edge.pred).step != schedule.op(edge.succ).step;
}

TEST(TableMulticast, RestsOnEveryMembersCount) {
  for (const bool stable : {false, true}) {
    const Schedule sound = schedule_of({.messages = 6, .rooms = 2, .stable = stable});
    int frees = 0;
    for (std::size_t e = 0; e < sound.edges().size(); ++e) {
      const Edge edge = sound.edges()[e];
      const bool data = sound.op(edge.succ).kind == OpKind::kCopy &&
                        sound.op(edge.pred).kind == OpKind::kPoll &&
                        sound.slices(sound.op(sound.op(edge.pred).match).reads).front().bytes > 8;
      const bool told =
          sound.op(edge.succ).kind == OpKind::kPut && sound.op(edge.pred).kind == OpKind::kCopy &&
          sound.op(edge.succ).notify == sched::Notify::kFlag && sound.op(edge.succ).step < 4;
      if (!data && !told && !frees_slots(sound, edge)) continue;
      if (frees_slots(sound, edge)) ++frees;
      testing::Draft draft = testing::Draft::from(sound);
      draft.edges.erase(draft.edges.begin() + static_cast<std::ptrdiff_t>(e));
      EXPECT_FALSE(verify(draft.build()).empty())
          << describe(sound, edge.pred) << " -> " << describe(sound, edge.succ);
    }
    EXPECT_EQ(frees, 4 * 2);
  }
}

// A member that has received a message may not have delivered it: this is what the third count is
// for.
TEST(TableMulticast, StableDeliveryCannotFreeSlotsByReceivedCounts) {
  const Schedule sound = schedule_of({.messages = 4, .rooms = 2, .stable = true});
  testing::Draft draft = testing::Draft::from(sound);
  int changed = 0;
  for (Edge& edge : draft.edges) {
    if (!frees_slots(sound, edge)) continue;
    const Op& delivered = sound.op(edge.pred);
    for (OpId id = sound.first_op(RankId(0)); id < edge.pred; ++id.value) {
      const Op& op = sound.op(id);
      if (op.kind != OpKind::kPoll || op.step != delivered.step) continue;
      if (sound.op(op.match).rank != sound.op(delivered.match).rank) continue;
      edge.pred = id;
      ++changed;
      break;
    }
  }
  EXPECT_EQ(changed, 2 * 2);
  const sched::Diagnostics found = verify(draft.build());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().code, sched::Code::kWar) << found.front().message;
}

// When each batch has come to each member but the root, and when it is delivered at each.
struct Batch {
  std::vector<double> arrived_s;
  std::vector<double> delivered_s;
};
std::vector<Batch> batches_of(const Schedule& schedule, const sched::Trace& trace) {
  std::vector<Batch> batches(schedule.step_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.op(OpId(i));
    if (op.kind == OpKind::kCopy) batches[op.step].delivered_s.push_back(trace.ops[i].done_s);
    if (op.kind == OpKind::kPoll && schedule.slices(schedule.op(op.match).reads)[0].bytes > 8) {
      batches[op.step].arrived_s.push_back(trace.ops[i].done_s);
    }
  }
  // The root's last join of a batch.
  for (OpId id = schedule.first_op(RankId(0)); id < schedule.end_op(RankId(0)); ++id.value) {
    const Op& op = schedule.op(id);
    if (op.kind == OpKind::kJoin)
      batches[op.step].delivered_s.push_back(trace.ops[id.value].done_s);
  }
  return batches;
}

double last(const std::vector<double>& times_s) {
  return *std::max_element(times_s.begin(), times_s.end());
}
double first(const std::vector<double>& times_s) {
  return *std::min_element(times_s.begin(), times_s.end());
}

TEST(TableMulticast, DeliversWhatIsStableOnceAllHaveIt) {
  int early = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    Shape shape{2 + dice.below(5),   1 + dice.below(12), 1 + dice.below(3), 20, true,
                1 + dice.below(9000)};
    const machine::Platform platform =
        testing::random_platform(dice, machine::NicDiscipline::kSerial);
    for (const bool stable : {true, false}) {
      shape.stable = stable;
      const Schedule schedule = schedule_of(shape);
      Dice delays(seed);
      const sched::Trace trace =
          analysis::run_events({schedule, platform, testing::random_delays(delays, schedule)});
      for (const Batch& batch : batches_of(schedule, trace)) {
        ASSERT_EQ(batch.arrived_s.size(), shape.ranks - 1);
        ASSERT_EQ(batch.delivered_s.size(), shape.ranks - (stable ? 0 : 1));
        ASSERT_TRUE(!stable || first(batch.delivered_s) >= last(batch.arrived_s)) << seed;
        if (first(batch.delivered_s) < last(batch.arrived_s)) ++early;
      }
    }
  }
  EXPECT_GT(early, 100);  // where it is not asked for, members do not wait
}

// At each rank, the steps of what it delivers, in order of time: a copy of another's, or for its
// own the last join of the step.
std::vector<std::uint32_t> order_at(RankId rank, const Schedule& schedule,
                                    const sched::Trace& trace) {
  std::map<std::uint32_t, double> delivered_s;
  for (OpId id = schedule.first_op(rank); id < schedule.end_op(rank); ++id.value) {
    const Op& op = schedule.op(id);
    if (op.kind != OpKind::kCopy && op.kind != OpKind::kJoin) continue;
    delivered_s[op.step] = trace.ops[id.value].done_s;
  }
  std::vector<std::uint32_t> steps;
  for (const auto& [step, time_s] : delivered_s) steps.push_back(step);
  std::ranges::stable_sort(steps, {}, [&](std::uint32_t step) { return delivered_s[step]; });
  return steps;
}

TEST(TableMulticast, DeliversWhatSeveralSendInOneOrder) {
  int otherwise = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    Shape shape{2 + dice.below(4),
                1 + dice.below(8),
                1 + dice.below(3),
                1 + dice.below(3),
                true,
                1 + dice.below(9000),
                0,
                2};
    shape.senders += dice.below(shape.ranks - 1);
    shape.root = dice.below(shape.ranks);
    const machine::Platform platform =
        testing::random_platform(dice, machine::NicDiscipline::kSerial);
    for (const bool stable : {true, false}) {
      shape.stable = stable;
      const Schedule schedule = schedule_of(shape);
      Dice delays(seed);
      const sched::Trace trace =
          analysis::run_events({schedule, platform, testing::random_delays(delays, schedule)});
      for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        const auto order = order_at(RankId(r), schedule, trace);
        ASSERT_TRUE(!stable || order.size() == schedule.step_count()) << seed;
        ASSERT_TRUE(!stable || std::ranges::is_sorted(order)) << seed;
        if (!std::ranges::is_sorted(order)) ++otherwise;
      }
    }
  }
  EXPECT_GT(otherwise, 50);  // where it is not asked for
}

// Posts of 200 ns, longer than any message here is on the wire: no port is waited for.
const char* const kMachine =
    "star:rate=8Gbps,latency=1us,o_post=200ns,o_complete=300ns,gap=0,copy_rate=8Gbps";
constexpr double kPost = 200e-9;
constexpr double kWay = 8e-9 + 1000e-9 + 300e-9;  // of a count, until it is seen
constexpr double kCopy = 100e-9;

double latency_s(std::uint32_t ranks, bool stable) {
  const machine::Platform platform = machine::load_platform(kMachine);
  const Schedule schedule = schedule_of({.ranks = ranks, .stable = stable, .bytes = 100});
  return last(batches_of(schedule, analysis::run_events({schedule, platform}))[0].delivered_s);
}

// The root posts the data and then the counter. The member that sees it posts its received count,
// by which the root, which is last, knows that both have the message.
TEST(TableMulticast, LatencyOfTwoMembers) {
  EXPECT_NEAR(latency_s(2, false), 2 * kPost + kWay + kCopy, 1e-15);
  EXPECT_NEAR(latency_s(2, true), (2 * kPost + kWay) + (kPost + kWay), 1e-15);
}

// Data to 1 and 2, the counter to 1 and 2: 2 is the last to see it, after four posts. It posts its
// received count to 0 and then to 1, which sees it last and copies.
TEST(TableMulticast, LatencyOfThreeMembers) {
  EXPECT_NEAR(latency_s(3, false), 4 * kPost + kWay + kCopy, 1e-15);
  EXPECT_NEAR(latency_s(3, true), (4 * kPost + kWay) + (2 * kPost + kWay) + kCopy, 1e-15);
}

// So stable delivery costs a post for each other member and the way of a count.
TEST(TableMulticast, LatencyOfLargerGroups) {
  for (std::uint32_t n = 3; n <= 24; ++n) {
    const double posts_s = (n - 1) * kPost;
    EXPECT_NEAR(latency_s(n, false), 2 * posts_s + kWay + kCopy, 1e-14) << n;
    EXPECT_NEAR(latency_s(n, true) - latency_s(n, false), posts_s + kWay, 1e-14) << n;
  }
}

TEST(TableMulticast, BatchesSaveWrites) {
  const machine::Platform platform = machine::load_platform("fractus");
  double before_s = 1e300;
  for (const std::uint32_t batch : {1u, 2u, 4u, 8u}) {
    const Schedule schedule = schedule_of({.ranks = 5,
                                           .messages = 64,
                                           .batch = batch,
                                           .rooms = 16 / batch,
                                           .stable = true,
                                           .bytes = 100});
    const double makespan_s = analysis::run_events({schedule, platform}).makespan_s();
    EXPECT_LT(makespan_s, before_s) << batch;
    before_s = makespan_s;
  }
}

TEST(TableMulticast, BySpecAndWhatIsWrong) {
  const sched::Spec spec = sched::parse_spec(
      "table-multicast:delivery=stable,batch=4,slots=8,ranks=5,bytes=1KB,messages=40,root=2");
  EXPECT_EQ(
      format_spec(spec),
      "table-multicast:ranks=5,bytes=1000,root=2,messages=40,slots=8,batch=4,delivery=stable");
  const Schedule schedule = compile(spec);
  EXPECT_EQ(schedule.title(), format_spec(spec));
  EXPECT_EQ(schedule.digest(), schedule_of({5, 40, 4, 2, true, 1000, 2}).digest());
  EXPECT_EQ(schedule.message_bytes(), 40'000u);
  EXPECT_EQ(most_ops(spec), schedule.op_count());
  const auto error_of = [](const std::string& options) {
    return testing::error_of([&] { compile(sched::parse_spec("table-multicast:" + options)); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of("ranks=3,bytes=1,slots=10,batch=4"),
              HasSubstr("slots: 10; expected a multiple of the batch, as 12"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,slots=3,batch=4"), HasSubstr("as 4"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,batch=0"), HasSubstr("batch: '0'"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,delivery=late"), HasSubstr("expected received or stable"));
  EXPECT_THAT(error_of("ranks=9223,bytes=1,messages=2147483648"), HasSubstr("operations"));
  EXPECT_THAT(error_of("ranks=16777216,bytes=1,messages=2147483648"), HasSubstr("operations"));
  EXPECT_THAT(error_of("ranks=3,bytes=9223372036854775807,messages=2"),
              HasSubstr("expected less than 9223372036854775807 bytes together"));
  EXPECT_THROW(schedule_of({.ranks = 0}), InputError);
  EXPECT_THROW(schedule_of({.messages = 0}), InputError);
  EXPECT_THROW(schedule_of({.batch = 0}), InputError);
  EXPECT_THROW(schedule_of({.rooms = 0}), InputError);
  EXPECT_THROW(schedule_of({.root = 3}), InputError);
  EXPECT_THROW(schedule_of({.senders = 0}), InputError);
  EXPECT_THAT(error_of("ranks=3,bytes=1,senders=4"), HasSubstr("senders: 4; expected 1 to 3"));
  EXPECT_THAT(error_of("ranks=3,bytes=1,messages=2147483648,batch=2147483648,slots=2147483648,"
                       "senders=2"),
              HasSubstr("at most 2147483648 together"));
}

}  // namespace
}  // namespace slackline
