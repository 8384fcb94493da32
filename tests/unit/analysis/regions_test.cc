// Regions and operands on the event engine, worked out by hand on round_platform(): an atomic that
// nobody keeps waiting takes 14.008 us, of which 9 until it has been served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "machine/static_forms.h"
#include "sched/value_bytes.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using sched::Op;
using sched::OpArguments;
using sched::Operand;
using sched::OpKind;
using sched::Region;
using sched::RegionKind;
using ::testing::HasSubstr;
using testing::OpId;
using testing::Program;
using testing::us;

Operand literal(std::uint64_t value) { return {Operand::From::kLiteral, {}, value}; }
Operand result(OpId op, std::uint64_t times = 1) { return {Operand::From::kResult, op, times}; }

// `word` numbers the words of the buffer of the channel's target.
OpId atomic(Program& p, OpKind kind, sched::ChannelId c, std::uint64_t word,
            const OpArguments& arguments) {
  const sched::Channel& channel = p.builder().channel(c);
  Op op;
  op.kind = kind;
  op.rank = channel.src;
  op.channel = c;
  op.reads = op.writes = p.builder().add_slice({sched::BufferId(channel.dst.value), 8 * word, 8});
  return p.builder().add(op, arguments);
}
OpId swap(Program& p, sched::ChannelId c, std::uint64_t expected, std::uint64_t value) {
  OpArguments arguments;
  arguments.compare = literal(expected);
  arguments.operand = literal(value);
  return atomic(p, OpKind::kCompareSwap, c, 0, arguments);
}
OpId fetch(Program& p, OpKind kind, sched::ChannelId c, std::uint64_t operand,
           std::uint64_t word = 0) {
  OpArguments arguments;
  arguments.operand = literal(operand);
  return atomic(p, kind, c, word, arguments);
}

Region region(RegionKind kind, OpId entry, std::uint32_t count, std::uint32_t attempts) {
  Region r;
  r.kind = kind;
  r.entry = entry;
  r.count = count;
  r.max_attempts = attempts;
  return r;
}

sched::Trace run(Program& p) {
  return analysis::run_events({p.build(), testing::round_platform()});
}

std::string error_of(Program& p) {
  return testing::error_of([&] { run(p); });
}

void expect_us(double time_s, double us) { EXPECT_NEAR(time_s * 1e6, us, 1e-9); }

TEST(Regions, RepeatRunsEachTimeAfterTheLast) {
  Program p(2);
  const OpId add = fetch(p, OpKind::kFetchAdd, p.channel(0, 1), 5);
  const OpId after = p.calc(0, us(1));
  p.after({add}, after, sched::On::kIssued);  // of the region: its end
  Region r = region(RegionKind::kRepeat, add, 1, 3);
  r.backoff = us(2);
  p.builder().add_region(r);
  const sched::Trace t = run(p);
  expect_us(t.ops[0].issued_s, 33.016);
  expect_us(t.ops[0].done_s, 46.024);
  expect_us(t.ops[1].issued_s, 46.024);
  EXPECT_EQ(t.ops[0].attempts, 3u);
  EXPECT_EQ(t.results[0], 10u);  // two times before
}

TEST(Regions, CertainRetriesTakeOneAttempt) {
  Program p(2);
  const OpId add = fetch(p, OpKind::kFetchAdd, p.channel(0, 1), 5);
  Region r = region(RegionKind::kRetry, add, 1, 3);
  r.p.value = 1'000'000;
  p.builder().add_region(r);
  const sched::Trace t = run(p);
  expect_us(t.ops[0].done_s, 14.008);
  EXPECT_EQ(t.ops[0].attempts, 1u);
}

TEST(Regions, RetriesThatCannotSucceedAreReported) {
  Program p(2);
  p.join(0);
  const OpId add = fetch(p, OpKind::kFetchAdd, p.channel(0, 1), 5);
  p.builder().add_region(region(RegionKind::kRetry, add, 1, 3));
  EXPECT_THAT(error_of(p), HasSubstr("region 0 (retry, from op 1 (fetch_add, rank 0)) has failed "
                                     "all of its 3 attempts"));
}

// Rank 2's first swap is served behind rank 0's at 14 and fails. Rank 0 gives the word back at
// 23.008, when rank 2's second swap arrives; it is served until 28.008.
TEST(Regions, SwapsAreTriedUntilTheyFindWhatTheyExpect) {
  Program p(3);
  const auto c = p.channel(0, 1);
  const auto d = p.channel(2, 1);
  const OpId first = swap(p, c, 0, 1);
  const OpId back = fetch(p, OpKind::kFetchAnd, c, 0);
  const OpId second = swap(p, d, 0, 1);
  p.after({first}, back);
  Region r = region(RegionKind::kRetry, second, 1, 10);
  r.outcome = sched::RegionOutcome::kActual;
  p.builder().add_region(r);
  const sched::Trace t = run(p);
  expect_us(t.ops[first.value].done_s, 14.008);
  expect_us(t.ops[second.value].done_s, 33.016);
  EXPECT_EQ(t.ops[second.value].attempts, 2u);
  EXPECT_EQ(t.results[back.value], 1u);
  EXPECT_EQ(t.results[second.value], 0u);
}

TEST(Regions, AltsFollowTheSwapThatTheyWaitFor) {
  for (const bool found : {false, true}) {
    Program p(2);
    const OpId tried = swap(p, p.channel(0, 1), found ? 0 : 5, 1);
    const OpId calc = p.calc(0, us(10));
    const OpId after = p.join(0);
    p.after({tried}, calc);
    p.after({calc}, after);
    Region r = region(RegionKind::kAlt, calc, 1, 1);
    r.outcome = sched::RegionOutcome::kActual;
    p.builder().add_region(r);
    const sched::Trace t = run(p);
    expect_us(t.ops[after.value].done_s, found ? 24.008 : 14.008);
    expect_us(t.makespan_s(), found ? 24.008 : 14.008);
    EXPECT_EQ(t.ops[calc.value].attempts, found ? 1u : 0u);
  }
}

TEST(Regions, NothingDecidesAnActualOutcomeWithoutASwap) {
  Program p(2);
  const OpId calc = p.calc(0, us(10));
  Region r = region(RegionKind::kRetry, calc, 1, 4);
  r.outcome = sched::RegionOutcome::kActual;
  p.builder().add_region(r);
  EXPECT_THAT(error_of(p), HasSubstr("region 0 (retry, from op 0 (calc, rank 0)) has an actual "
                                     "outcome, but nothing decides it"));
}

TEST(Regions, OverlapOnlyOneInsideTheOther) {
  Program p(1);
  const OpId first = p.join(0);
  const OpId second = p.join(0);
  p.join(0);
  p.builder().add_region(region(RegionKind::kRepeat, first, 2, 2));
  p.builder().add_region(region(RegionKind::kRepeat, second, 2, 2));
  EXPECT_THAT(error_of(p), HasSubstr("region 1 (repeat, from op 1 (join, rank 0)) begins within "
                                     "region 0 (repeat, from op 0 (join, rank 0))"));
}

// The k-th message meets the k-th receive, also where only one side repeats.
TEST(Regions, MessagesMeetInOrder) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const OpId send = p.send(c, 1'000);
  const OpId one = p.recv(c, 1'000);
  const OpId two = p.recv(c, 1'000);
  Region r = region(RegionKind::kRepeat, send, 1, 2);
  p.builder().add_region(r);
  const sched::Trace t = run(p);
  // Posted at 1, there at 5, seen at 7, acknowledged at 8, seen at 10; then again.
  expect_us(t.ops[one.value].done_s, 7);
  expect_us(t.ops[two.value].done_s, 17);
  expect_us(t.ops[send.value].done_s, 20);
}

TEST(StaticForms, RegionsAreWrittenOut) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const OpId add = fetch(p, OpKind::kFetchAdd, c, 1);
  const OpId calc = p.calc(0, us(1));
  p.after({add}, calc);
  const OpId after = p.put(c, 100);
  Region r = region(RegionKind::kRepeat, add, 2, 2);
  r.backoff = us(3);
  p.builder().add_region(r);
  const sched::Schedule schedule = p.build();
  const sched::Unrolled fixed = machine::unroll(schedule, 0);
  const OpId none;
  // A join, an attempt, the backoff, an attempt, a join; the put waits for it on its channel.
  EXPECT_EQ(fixed.origin, (std::vector<OpId>{none, add, calc, none, add, calc, none, after}));
  EXPECT_EQ(fixed.schedule.op(OpId(3)).kind, OpKind::kDelay);
  ASSERT_EQ(fixed.schedule.edges_into(OpId(7)).size(), 1u);
  EXPECT_EQ(fixed.schedule.edges_into(OpId(7)).front().pred, OpId(6));
  EXPECT_TRUE(fixed.schedule.is_static());
}

TEST(StaticForms, ActualOutcomesAreForARunToTell) {
  Program p(2);
  const OpId tried = swap(p, p.channel(0, 1), 0, 1);
  Region r = region(RegionKind::kRetry, tried, 1, 9);
  r.outcome = sched::RegionOutcome::kActual;
  p.builder().add_region(r);
  EXPECT_THROW(machine::unroll(p.build(), 0), Unsupported);
}

// What the verifier refuses of a dynamic schedule it proves of the one that ran.
TEST(StaticForms, AddressesOfARunAreFixed) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const OpId ticket = fetch(p, OpKind::kFetchAdd, c, 3);
  const OpId again = fetch(p, OpKind::kFetchAdd, c, 3);
  OpArguments arguments;
  arguments.address_offset = result(again, 16);
  const OpId moved = atomic(p, OpKind::kFetchAdd, c, 1, arguments);
  p.after({ticket}, again);
  p.after({again}, moved);
  const sched::Schedule schedule = p.build();
  const sched::Trace t = analysis::run_events({schedule, testing::round_platform()});
  const sched::Unrolled ran = machine::realise(schedule, t);
  EXPECT_EQ(ran.schedule.arguments(ran.schedule.op(moved)).address_offset, literal(48));
}

TEST(Analytic, PricesTheBestCase) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const OpId add = fetch(p, OpKind::kFetchAdd, c, 1);
  const OpId maybe = p.calc(0, us(100));
  const OpId after = p.calc(0, us(1));
  p.after({add}, maybe);
  p.after({maybe}, after);
  Region retry = region(RegionKind::kRetry, add, 1, 9);
  retry.p.value = 1;
  p.builder().add_region(retry);
  Region alt = region(RegionKind::kAlt, maybe, 1, 1);
  alt.p.value = 999'999;
  p.builder().add_region(alt);
  const sched::Schedule schedule = p.build();
  const sched::Trace t = analysis::run_analytic({schedule, testing::round_platform()});
  EXPECT_EQ(t.engine, "best-case");
  EXPECT_EQ(t.schedule, schedule.digest());
  EXPECT_EQ(t.ops[add.value].attempts, 1u);
  EXPECT_EQ(t.ops[maybe.value].attempts, 0u);
  expect_us(t.makespan_s(), 15.008);
}

TEST(Operands, ResultsAreAddendsExpectedValuesAndAddresses) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const OpId first = fetch(p, OpKind::kFetchAdd, c, 3);  // 0, then 3
  const OpId second = fetch(p, OpKind::kFetchOr, c, 4);  // 3, then 7
  OpArguments arguments;
  arguments.compare = literal(7);
  arguments.operand = result(second, 30);
  const OpId third = atomic(p, OpKind::kCompareSwap, c, 0, arguments);  // 7, then 90
  const OpId fourth = fetch(p, OpKind::kFetchXor, c, 1);                // 90
  arguments = {};
  arguments.operand = result(fourth);
  arguments.address_offset = result(second, 8);
  const OpId moved = atomic(p, OpKind::kFetchAdd, c, 2, arguments);  // adds 90 to word 5
  const OpId seen = fetch(p, OpKind::kFetchAdd, c, 0, 5);
  p.after({first}, second);
  p.after({second}, third);
  p.after({third}, fourth);
  p.after({fourth}, moved);
  p.after({moved}, seen);
  EXPECT_EQ(run(p).results, (std::vector<std::uint64_t>{0, 3, 7, 90, 0, 90}));
}

TEST(Operands, ThatAreNotThereAreReported) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const OpId first = fetch(p, OpKind::kFetchAdd, c, 3);
  OpArguments arguments;
  arguments.operand = result(first);
  atomic(p, OpKind::kFetchAdd, c, 0, arguments);
  EXPECT_THAT(error_of(p), HasSubstr("op 1 (fetch_add, rank 0) uses the result of op 0 (fetch_add, "
                                     "rank 0) when it is not there"));
}

TEST(Operands, AddressesStayWithinTheirBuffer) {
  Program p(2);
  OpArguments arguments;
  arguments.address_offset = literal(Program::kBufferBytes);
  atomic(p, OpKind::kFetchAdd, p.channel(0, 1), 0, arguments);
  EXPECT_THAT(error_of(p), HasSubstr("op 0 (fetch_add, rank 0) acts on 8 bytes at 0 + 1048576 of "
                                     "buffer 1, which has 1048576"));
}

TEST(Operands, WordsBeginAsTheContractSays) {
  Program p(2);
  const auto c = p.channel(0, 1);
  fetch(p, OpKind::kFetchAdd, c, 0, 0);
  fetch(p, OpKind::kFetchAdd, c, 0, 1);
  p.builder().add_pre({{sched::BufferId(1), 4, 8}, sched::ValueId(7), 100});
  const sched::Trace t = run(p);
  for (std::uint64_t i = 0; i < 16; ++i) {
    const std::uint64_t byte = t.results[i / 8] >> (8 * (i % 8)) & 0xff;
    const bool told = i >= 4 && i < 12;
    EXPECT_EQ(byte, told ? std::to_integer<std::uint64_t>(
                               sched::value_byte(sched::ValueId(7), 100 + i - 4))
                         : 0u)
        << i;
  }
}

}  // namespace
}  // namespace slackline
