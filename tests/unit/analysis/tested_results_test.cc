// Operations whose address, operand or outcome depends on what ran before, and the memory that they
// find: what data structures are made of.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "machine/static_forms.h"
#include "sched/kept_memory.h"
#include "sched/text.h"
#include "sched/value_bytes.h"
#include "tests/support/error_of.h"

namespace slackline::analysis {
namespace {

using machine::Platform;
using sched::KeptMemory;
using sched::Schedule;
using sched::Trace;

// A star on which everything but the way takes no time.
Platform one_microsecond() {
  Platform platform;
  platform.latency = sched::Time{1'000'000};
  return platform;
}

std::vector<std::uint64_t> words_of(const Schedule& schedule, const Trace& trace,
                                    std::uint32_t buffer) {
  const KeptMemory kept(schedule);
  const auto bytes = kept.of(sched::BufferId(buffer), std::span(trace.memory));
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), words.size() * 8);
  return words;
}

std::uint64_t value_word(std::uint32_t value) {
  std::array<std::byte, 8> bytes{};
  sched::write_value(sched::ValueId(value), 0, bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

// Two ranks insert into the third's table of four slots, both at slot 3: linear probing goes round.
constexpr std::string_view kInserts = R"(slackline schedule 1
ranks 3
buffer 0 rank 0 bytes 8
buffer 1 rank 1 bytes 8
buffer 2 rank 2 bytes 32
buffer 3 rank 2 bytes 32
channel 0 from 0 to 2
channel 1 from 1 to 2
rank 0
  0 compare_swap on 0 reads 2[0+8] writes 2[0+8] operand 1 compare 0 offset attempt:0*8+24%32
  1 put on 0 reads 0[0+8] writes 3[0+8] offset attempt:0*8+24%32 after done:0
rank 1
  2 compare_swap on 1 reads 2[0+8] writes 2[0+8] operand 1 compare 0 offset attempt:2*8+24%32
  3 put on 1 reads 1[0+8] writes 3[0+8] offset attempt:2*8+24%32 after done:2
region retry entry 0 count 1 attempts 4 outcome actual
region retry entry 2 count 1 attempts 4 outcome actual
pre 0[0+8] value 7
pre 1[0+8] value 8
)";

TEST(TestedResults, ProbingFindsTheNextSlot) {
  const Schedule schedule = sched::read_text(kInserts);
  const Trace trace = run_events({schedule, one_microsecond()});
  EXPECT_EQ(trace.ops[0].attempts, 1u);
  EXPECT_EQ(trace.ops[2].attempts, 2u);
  EXPECT_EQ(words_of(schedule, trace, 2), (std::vector<std::uint64_t>{1, 0, 0, 1}));
  EXPECT_EQ(words_of(schedule, trace, 3),
            (std::vector<std::uint64_t>{value_word(8), 0, 0, value_word(7)}));
}

TEST(TestedResults, StaticFormsActOnTheSameMemory) {
  const Schedule schedule = sched::read_text(kInserts);
  const Trace trace = run_events({schedule, one_microsecond()});
  const sched::Unrolled realised = machine::realise(schedule, trace);
  const Trace again = run_events({realised.schedule, one_microsecond()});
  EXPECT_DOUBLE_EQ(again.makespan_s(), trace.makespan_s());
  EXPECT_EQ(words_of(realised.schedule, again, 2), words_of(schedule, trace, 2));
  for (const sched::OpArguments& arguments : realised.schedule.argument_table()) {
    EXPECT_FALSE(arguments.address_offset.is_dynamic());
  }
}

// A table without room ends with a report.
TEST(TestedResults, FullTableIsReported) {
  std::string text(kInserts);
  text.replace(text.find("attempts 4 outcome actual\npre"), 10, "attempts 1");
  const Schedule schedule = sched::read_text(text);
  EXPECT_EQ(testing::error_of([&] {
              run_events({schedule, one_microsecond()});
            }),
            "region 1 (retry, from op 2 (compare_swap, rank 1)) has failed all of its 1 "
            "attempts");
}

// One puts after 10 us; the other looks until something is there, or until it is that very thing.
std::string reader(std::string_view test) {
  return "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 8\n"
         "buffer 2 rank 1 bytes 8\nchannel 0 from 0 to 1\nchannel 1 from 1 to 1\n"
         "rank 0\n  0 delay for 10us\n  1 put on 0 reads 0[0+8] writes 1[0+8] after done:0\n"
         "rank 1\n  2 get on 1 reads 1[0+8] writes 2[0+8] " +
         std::string(test) +
         "\nregion retry entry 2 count 1 attempts 100 outcome actual\npre 0[0+8] value 5\n";
}

TEST(TestedResults, GetsLookUntilAPutHasArrived) {
  for (const std::string& test :
       {std::string("compare 0 expect unequal"), "compare " + std::to_string(value_word(5)),
        "compare " + std::to_string(value_word(5) & 255) + " mask 255"}) {
    const Schedule schedule = sched::read_text(reader(test));
    const Trace trace = run_events({schedule, one_microsecond()});
    // At the target at 1, 3.00064, … 11.0032 us; the put arrives at 11.00064.
    EXPECT_EQ(trace.ops[2].attempts, 6u) << test;
    EXPECT_EQ(trace.results[2], value_word(5)) << test;
    EXPECT_EQ(words_of(schedule, trace, 1), std::vector<std::uint64_t>{value_word(5)}) << test;
  }
}

// Whoever swaps in what it found last gets there, however many others do.
TEST(TestedResults, OwnResultsAreThoseOfTheTimeBefore) {
  constexpr std::string_view kText = R"(slackline schedule 1
ranks 3
buffer 0 rank 2 bytes 8
channel 0 from 0 to 2
channel 1 from 1 to 2
rank 0
  0 compare_swap on 0 reads 0[0+8] writes 0[0+8] operand result:0+1 compare result:0
rank 1
  1 compare_swap on 1 reads 0[0+8] writes 0[0+8] operand result:1+1 compare result:1
region repeat entry 0 count 1 attempts 5
region retry entry 0 count 1 attempts 100 outcome actual
region repeat entry 1 count 1 attempts 7
region retry entry 1 count 1 attempts 100 outcome actual
)";
  const Schedule schedule = sched::read_text(kText);
  const Trace trace = run_events({schedule, one_microsecond()});
  EXPECT_EQ(words_of(schedule, trace, 0), std::vector<std::uint64_t>{12});
  EXPECT_GT(trace.ops[0].attempts, 5u);
}

TEST(TestedResults, MessagesCarryWhatIsLookedAt) {
  constexpr std::string_view kText = R"(slackline schedule 1
ranks 2
buffer 0 rank 0 bytes 16
buffer 1 rank 1 bytes 16
buffer 2 rank 1 bytes 8
buffer 3 rank 0 bytes 8
channel 0 from 0 to 1
rank 0
  0 send on 0 reads 0[0+16]
  1 delay for 20us
  2 get on 0 reads 2[0+8] writes 3[0+8] compare 0 expect unequal after done:1
rank 1
  3 recv on 0 writes 1[0+16]
  4 reduce reads 1[0+8] 1[8+8] writes 2[0+8] after done:3
region retry entry 2 count 1 attempts 1 outcome actual
pre 0[0+16] value 9
)";
  const Schedule schedule = sched::read_text(kText);
  const Trace trace = run_events({schedule, one_microsecond()});
  std::array<std::byte, 16> sent{};
  sched::write_value(sched::ValueId(9), 0, sent);
  std::array<std::byte, 8> sum{};
  for (std::size_t b = 0; b < 8; ++b) {
    sum[b] = static_cast<std::byte>(std::to_integer<unsigned>(sent[b]) +
                                    std::to_integer<unsigned>(sent[b + 8]));
  }
  EXPECT_EQ(trace.results[2], std::bit_cast<std::uint64_t>(sum));
}

TEST(TestedResults, OnlyWhatMattersIsKept) {
  const Schedule inserts = sched::read_text(kInserts);
  for (std::uint32_t b = 0; b < 4; ++b) EXPECT_TRUE(KeptMemory(inserts).keeps(sched::BufferId(b)));
  constexpr std::string_view kPlain = R"(slackline schedule 1
ranks 2
buffer 0 rank 0 bytes 64
buffer 1 rank 1 bytes 64
channel 0 from 0 to 1
rank 0
  0 put on 0 reads 0[0+8] writes 1[0+8] offset 8
  1 get on 0 reads 1[0+8] writes 0[0+8] after done:0
)";
  EXPECT_TRUE(KeptMemory(sched::read_text(kPlain)).empty());
}

}  // namespace
}  // namespace slackline::analysis
