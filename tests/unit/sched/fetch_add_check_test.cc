// Lost and doubled updates of words, as what the fetch_adds fetched tells them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "sched/builder.h"
#include "sched/value_bytes.h"
#include "sched/workloads/run_check.h"

namespace slackline::sched {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kBytes = 64;  // of each buffer

// Rank 0 acts on words of two buffers of rank 1.
class Words {
 public:
  Words() {
    local_ = builder_.add_buffer(RankId(0), kBytes);
    for (BufferId& buffer : remote_) buffer = builder_.add_buffer(RankId(1), kBytes);
    sched::Channel channel;
    channel.src = RankId(0);
    channel.dst = RankId(1);
    channel_ = builder_.add_channel(channel);
  }
  OpId add(std::size_t buffer, std::uint64_t offset, sched::OpArguments arguments,
           sched::OpKind kind = sched::OpKind::kFetchAdd) {
    sched::Op op;
    op.kind = kind;
    op.rank = RankId(0);
    op.channel = channel_;
    op.reads = op.writes = builder_.add_slice({remote_[buffer], offset, 8});
    return builder_.add(op, arguments);
  }
  OpId add(std::size_t buffer, std::uint64_t offset, std::uint64_t operand) {
    return add(buffer, offset, literal(operand));
  }
  static sched::OpArguments literal(std::uint64_t operand) {
    sched::OpArguments arguments;
    arguments.operand.from = sched::Operand::From::kLiteral;
    arguments.operand.value = operand;
    return arguments;
  }
  // Buffer 0 is the local one.
  void given(std::size_t buffer, std::uint64_t offset, std::uint64_t bytes, std::uint32_t value,
             std::uint64_t value_offset) {
    const BufferId where = buffer == 0 ? local_ : remote_[buffer - 1];
    builder_.add_pre({{where, offset, bytes}, sched::ValueId(value), value_offset});
  }
  sched::Schedule build() { return builder_.build(); }

 private:
  sched::ScheduleBuilder builder_{2};
  BufferId local_;
  BufferId remote_[2];
  sched::ChannelId channel_;
};

sched::Trace fetched(const sched::Schedule& schedule, std::vector<std::uint64_t> results) {
  sched::Trace trace;
  trace.schedule = schedule.digest();
  trace.ops.resize(schedule.op_count());
  trace.results = std::move(results);
  return trace;
}

// Facts of any place and length; a word of them may have bytes of several, and some of none.
TEST(FetchAddCheck, WordsBeginWithTheBytesOfTheContract) {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 200; ++round) {
    Words words;
    std::vector<std::byte> memory[3];
    for (std::size_t b = 0; b < 3; ++b) {
      memory[b].resize(kBytes);
      for (std::uint64_t at = below(20); at < kBytes;) {
        const std::uint64_t bytes = std::min(1 + below(20), kBytes - at);
        const auto value = static_cast<std::uint32_t>(below(5));
        const std::uint64_t from = below(100);
        words.given(b, at, bytes, value, from);
        for (std::uint64_t i = 0; i < bytes; ++i) {
          memory[b][at + i] = sched::value_byte(sched::ValueId(value), from + i);
        }
        at += bytes + below(10);
      }
    }
    std::vector<std::uint64_t> results;
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::uint64_t offset = 0; offset < kBytes; offset += 8) {
        words.add(b, offset, 1 + below(9));
        std::uint64_t word = 0;
        std::memcpy(&word, memory[b + 1].data() + offset, 8);
        results.push_back(word);
      }
    }
    const sched::Schedule schedule = words.build();
    ASSERT_THAT(check_fetch_adds(schedule, fetched(schedule, results)), IsEmpty()) << round;
    const std::size_t changed = below(results.size());
    results[changed] ^= std::uint64_t{1} << below(64);
    const sched::Diagnostics found = check_fetch_adds(schedule, fetched(schedule, results));
    ASSERT_EQ(found.size(), 1u) << round;
    EXPECT_EQ(found[0].op, OpId(static_cast<std::uint32_t>(changed)));
  }
}

TEST(FetchAddCheck, TakesAnyOrderAndNoUpdateLostOrDoubled) {
  const auto findings = [](std::vector<std::uint64_t> results) {
    Words words;
    for (const std::uint64_t operand : {5, 0, 7, 0}) words.add(0, 8, operand);
    const sched::Schedule schedule = words.build();
    return check_fetch_adds(schedule, fetched(schedule, std::move(results)));
  };
  EXPECT_THAT(findings({0, 5, 5, 12}), IsEmpty());
  EXPECT_THAT(findings({7, 0, 0, 7}), IsEmpty());
  EXPECT_THAT(findings({0, 0, 5, 0}), IsEmpty());
  EXPECT_EQ(findings({0, 5, 5, 5 + 7 + 1}).size(), 1u);
  EXPECT_EQ(findings({0, 0, 0, 0}).size(), 1u);   // the 5 is lost to the 7
  EXPECT_EQ(findings({0, 5, 10, 5}).size(), 1u);  // it acted twice
  EXPECT_EQ(findings({0, 4, 5, 12}).size(), 1u);  // half of it was seen
}

TEST(FetchAddCheck, NamesTheFirstThatDoesNotFit) {
  Words words;
  words.add(0, 8, 5);
  words.add(0, 8, 6);
  words.add(1, 16, 1);
  const OpId off = words.add(1, 16, 2);
  words.add(1, 16, 4);
  const sched::Schedule schedule = words.build();
  const sched::Diagnostics found = check_fetch_adds(schedule, fetched(schedule, {0, 5, 0, 3, 9}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].op, off);
  EXPECT_EQ(found[0].code, sched::Code::kPost);
  EXPECT_EQ(found[0].severity, sched::Severity::kError);
  EXPECT_EQ(found[0].message, describe(schedule, off) +
                                  " fetched 3 more than the word at 16 of buffer 2 began with; "
                                  "expected 1, what others had added");
}

TEST(FetchAddCheck, FindsEachWordOnce) {
  Words words;
  for (const std::uint64_t offset : {0, 8}) {
    for (int i = 0; i < 3; ++i) words.add(0, offset, 1);
  }
  const sched::Schedule schedule = words.build();
  EXPECT_EQ(check_fetch_adds(schedule, fetched(schedule, {0, 3, 7, 2, 5, 9})).size(), 2u);
  EXPECT_THAT(check_fetch_adds(schedule, fetched(schedule, {})), IsEmpty());
}

// A word that something else acts on may hold anything; the others are looked at all the same.
TEST(FetchAddCheck, LeavesOutWordsThatItCannotFollow) {
  using Change = std::function<void(Words&, sched::Trace*)>;
  const auto result_of = [](std::uint32_t op) {
    sched::Operand operand;
    operand.from = sched::Operand::From::kResult;
    operand.op = OpId(op);
    operand.value = 1;
    return operand;
  };
  const Change changes[] = {
      [](Words& words, sched::Trace* trace) {
        if (trace == nullptr) words.add(0, 8, Words::literal(1), sched::OpKind::kFetchXor);
      },
      [&](Words& words, sched::Trace* trace) {
        sched::OpArguments arguments = Words::literal(0);
        arguments.operand = result_of(0);
        if (trace == nullptr) words.add(0, 8, arguments);
      },
      [&](Words& words, sched::Trace* trace) {
        sched::OpArguments arguments = Words::literal(0);
        arguments.address_offset = result_of(0);
        arguments.address_offset.modulus = 8;
        if (trace == nullptr) words.add(0, 8, arguments);
      },
      [](Words& words, sched::Trace* trace) {
        if (trace == nullptr) words.add(0, 8, 0);
        if (trace != nullptr) trace->ops.back().attempts = 2;
      },
      [](Words& words, sched::Trace* trace) {
        if (trace == nullptr) words.add(0, 8, 0);
        if (trace != nullptr) trace->ops.front().attempts = 0;
      },
  };
  for (const Change& change : changes) {
    Words words;
    words.add(0, 8, 1);
    words.add(0, 16, 1);
    change(words, nullptr);
    const sched::Schedule schedule = words.build();
    sched::Trace trace = fetched(schedule, {3, 0, 3});
    EXPECT_EQ(check_fetch_adds(schedule, fetched(schedule, {0, 1, 0})).back().op, OpId(1));
    change(words, &trace);
    EXPECT_THAT(check_fetch_adds(schedule, trace), IsEmpty());
    trace.results[1] = 1;
    const sched::Diagnostics found = check_fetch_adds(schedule, trace);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].op, OpId(1));
  }
}

}  // namespace
}  // namespace slackline::sched
