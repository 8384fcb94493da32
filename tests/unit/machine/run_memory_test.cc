// What operations do to the bytes that a run keeps, one operation at a time.
#include "machine/run_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sched/builder.h"
#include "sched/value_bytes.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using sched::BufferId;
using sched::ChannelId;
using sched::Op;
using sched::OpArguments;
using sched::Operand;
using sched::OpId;
using sched::OpKind;
using sched::OpTimes;
using sched::RankId;
using sched::Slice;
using sched::Time;
using From = Operand::From;

constexpr Operand literal(std::uint64_t value) { return {From::kLiteral, {}, value}; }

// Two ranks, each with a buffer of 64 bytes that is kept and one that is not, and a channel from
// the first rank to the second.
class Bench {
 public:
  static constexpr BufferId kHere{0}, kThere{1}, kNotKeptHere{2}, kNotKeptThere{3};

  Bench() {
    for (const std::uint32_t rank : {0u, 1u, 0u, 1u}) builder_.add_buffer(RankId(rank), 64);
    sched::Channel channel;
    channel.src = RankId(0);
    channel.dst = RankId(1);
    builder_.add_channel(channel);
    channel.dst = RankId(0);
    builder_.add_channel(channel);
    // An atomic on each of the first two buffers makes them kept.
    add(OpKind::kFetchAdd, {{kThere, 56, 8}}, {{kThere, 56, 8}});
    add(OpKind::kFetchAdd, {{kHere, 56, 8}}, {{kHere, 56, 8}}, {}, ChannelId(1));
  }

  OpId add(OpKind kind, std::vector<Slice> reads, std::vector<Slice> writes,
           const OpArguments& arguments = {}, ChannelId channel = ChannelId(0)) {
    Op op;
    op.kind = kind;
    op.rank = RankId(kind == OpKind::kRecv ? 1 : 0);
    if (has_channel(kind)) op.channel = channel;
    op.reads = builder_.add_slices(reads);
    op.writes = builder_.add_slices(writes);
    return builder_.add(op, arguments);
  }
  OpId atomic(OpKind kind, std::uint64_t word, const OpArguments& arguments,
              std::vector<Slice> local = {}) {
    const Slice at{kThere, 8 * word, 8};
    local.insert(local.begin(), at);
    return add(kind, {at}, local, arguments);
  }
  sched::ScheduleBuilder& builder() { return builder_; }

  // From here on the schedule stands, and all kept bytes are zero but for the pre facts.
  RunMemory& start() {
    schedule_ = builder_.build();
    kept_.emplace(*schedule_);
    EXPECT_EQ(kept_->bytes(), 128u);
    // What lies around is no zero, so that whoever reads it is noticed.
    bytes_.assign(64 + kept_->bytes() + 64, std::byte{0xee});
    std::fill(memory().begin(), memory().end(), std::byte{0});
    results.assign(schedule_->op_count(), 0);
    times.resize(schedule_->op_count());
    operands_.emplace(*schedule_, sched::OpRange::of_all(*schedule_), times, results);
    return run_.emplace(*schedule_, *kept_, *operands_, memory());
  }
  Operands& operands() { return *operands_; }
  std::span<std::byte> memory() { return std::span(bytes_).subspan(64, kept_->bytes()); }
  std::byte& at(BufferId buffer, std::uint64_t offset) {
    return kept_->of(buffer, memory())[offset];
  }
  std::uint64_t word(BufferId buffer, std::uint64_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, &at(buffer, offset), 8);
    return value;
  }
  void set_word(BufferId buffer, std::uint64_t offset, std::uint64_t value) {
    std::memcpy(&at(buffer, offset), &value, 8);
  }
  // Whether nothing but the kept bytes was written.
  bool intact() const {
    for (std::size_t i = 0; i < 64; ++i) {
      if (bytes_[i] != std::byte{0xee} || bytes_[bytes_.size() - 1 - i] != std::byte{0xee}) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::uint64_t> results;
  std::vector<OpTimes> times;

 private:
  sched::ScheduleBuilder builder_{2};
  std::optional<sched::Schedule> schedule_;
  std::optional<sched::KeptMemory> kept_;
  std::vector<std::byte> bytes_;
  std::optional<Operands> operands_;
  std::optional<RunMemory> run_;
};

OpArguments arguments_of(Operand operand, Operand compare = {}, Operand address = {}) {
  return {Time{0}, operand, compare, address};
}

// The message with which posting fails.
std::string refusal(Bench& bench, OpId op, double now_s) {
  return testing::error_of([&] { bench.operands().read(op.value, now_s); });
}

TEST(RunMemory, AtomicsActOnTheirWord) {
  struct Case {
    OpKind kind;
    std::uint64_t after;
  };
  for (const Case& each : {Case{OpKind::kFetchAdd, 0b1100 + 0b1010},
                           {OpKind::kFetchAnd, 0b1000},
                           {OpKind::kFetchOr, 0b1110},
                           {OpKind::kFetchXor, 0b0110}}) {
    Bench b;
    const OpId op = b.atomic(each.kind, 2, arguments_of(literal(0b1010)));
    RunMemory& run = b.start();
    b.set_word(Bench::kThere, 16, 0b1100);
    b.operands().read(op.value, 0);
    EXPECT_EQ(run.address_of(op), 64u + 16);
    run.apply(op);
    EXPECT_EQ(b.results[op.value], 0b1100u);
    EXPECT_EQ(b.word(Bench::kThere, 16), each.after);
    EXPECT_EQ(b.word(Bench::kThere, 8), 0u);
    EXPECT_EQ(b.word(Bench::kThere, 24), 0u);
    EXPECT_TRUE(b.operands().succeeded(op.value));
  }
}

TEST(RunMemory, ACompareSwapSwapsWhatItExpects) {
  for (const std::uint64_t found : {7ull, 8ull}) {
    Bench b;
    const OpId op = b.atomic(OpKind::kCompareSwap, 1, arguments_of(literal(100), literal(7)));
    RunMemory& run = b.start();
    b.set_word(Bench::kThere, 8, found);
    b.operands().read(op.value, 0);
    run.apply(op);
    EXPECT_EQ(b.results[op.value], found);
    EXPECT_EQ(b.word(Bench::kThere, 8), found == 7 ? 100u : 8u);
    EXPECT_EQ(b.operands().succeeded(op.value), found == 7);
  }
}

TEST(RunMemory, AResultIsWrittenWhereItFits) {
  Bench b;
  const OpId whole =
      b.atomic(OpKind::kFetchAdd, 0, arguments_of(literal(1)), {{Bench::kHere, 8, 8}});
  const OpId part =
      b.atomic(OpKind::kFetchAdd, 0, arguments_of(literal(1)), {{Bench::kHere, 24, 3}});
  const OpId more =
      b.atomic(OpKind::kFetchAdd, 0, arguments_of(literal(1)), {{Bench::kHere, 32, 16}});
  const OpId lost =
      b.atomic(OpKind::kFetchAdd, 0, arguments_of(literal(1)), {{Bench::kNotKeptHere, 0, 8}});
  RunMemory& run = b.start();
  b.set_word(Bench::kThere, 0, 0x8877665544332211u);
  for (const OpId op : {whole, part, more, lost}) {
    b.operands().read(op.value, 0);
    run.apply(op);
  }
  EXPECT_EQ(b.word(Bench::kHere, 8), 0x8877665544332211u);
  EXPECT_EQ(b.word(Bench::kHere, 24), 0x332212u);
  EXPECT_EQ(b.word(Bench::kHere, 32), 0x8877665544332213u);
  EXPECT_EQ(b.word(Bench::kHere, 40), 0u);
  EXPECT_EQ(b.results[lost.value], 0x8877665544332214u);
  EXPECT_EQ(b.word(Bench::kThere, 0), 0x8877665544332215u);
  EXPECT_TRUE(b.intact());
}

TEST(RunMemory, TestsLookAtTheMaskedBits) {
  for (const std::uint64_t found : {0xf5ull, 0xf6ull}) {
    for (const sched::Expect expect : {sched::Expect::kEqual, sched::Expect::kUnequal}) {
      Bench b;
      const OpId op =
          b.atomic(OpKind::kFetchAdd, 0, {Time{0}, literal(0), literal(0x05), {}, 0x0f, expect});
      const OpId plain = b.atomic(OpKind::kFetchAdd, 0, arguments_of(literal(0)));
      RunMemory& run = b.start();
      b.set_word(Bench::kThere, 0, found);
      for (const OpId each : {op, plain}) {
        b.operands().read(each.value, 0);
        run.apply(each);
      }
      EXPECT_EQ(b.operands().succeeded(op.value),
                (found == 0xf5) == (expect == sched::Expect::kEqual));
      EXPECT_TRUE(b.operands().succeeded(plain.value));
    }
  }
}

TEST(RunMemory, PutsAndGetsMoveTheirPieces) {
  Bench b;
  const OpId put =
      b.add(OpKind::kPut, {{Bench::kHere, 0, 4}, {Bench::kHere, 8, 4}},
            {{Bench::kThere, 0, 2}, {Bench::kThere, 16, 6}}, arguments_of({}, {}, literal(1)));
  const OpId get = b.add(OpKind::kGet, {{Bench::kThere, 15, 3}, {Bench::kThere, 19, 7}},
                         {{Bench::kHere, 32, 10}}, arguments_of({}, {}, literal(2)));
  RunMemory& run = b.start();
  EXPECT_TRUE(run.moves(put));
  EXPECT_TRUE(run.moves(get));
  EXPECT_FALSE(run.moves(OpId(0)));
  for (std::uint64_t i = 0; i < 12; ++i) b.at(Bench::kHere, i) = static_cast<std::byte>(i + 1);
  b.operands().read(put.value, 0);
  run.move(put);
  EXPECT_EQ(b.word(Bench::kThere, 0), 0x020100u);
  EXPECT_EQ(b.word(Bench::kThere, 16), 0x0c0b0a09040300u);
  b.operands().read(get.value, 0);
  run.move(get);
  // Bytes 17, 18, 19 and 21 to 27 of the target.
  EXPECT_EQ(b.word(Bench::kHere, 32), 0x0c0b090403u);
  EXPECT_EQ(b.results[get.value], b.word(Bench::kHere, 32));
  EXPECT_TRUE(b.intact());
}

TEST(RunMemory, AGetsResultIsItsFirstWord) {
  Bench b;
  const OpId whole = b.add(OpKind::kGet, {{Bench::kThere, 4, 20}}, {{Bench::kNotKeptHere, 0, 20}});
  const OpId pieces =
      b.add(OpKind::kGet, {{Bench::kThere, 0, 3}, {Bench::kThere, 8, 3}, {Bench::kThere, 16, 8}},
            {{Bench::kNotKeptHere, 0, 14}});
  const OpId mixed = b.add(OpKind::kGet, {{Bench::kThere, 0, 3}, {Bench::kNotKeptThere, 0, 8}},
                           {{Bench::kNotKeptHere, 0, 11}});
  RunMemory& run = b.start();
  for (std::uint64_t i = 0; i < 32; ++i) b.at(Bench::kThere, i) = static_cast<std::byte>(i);
  for (const OpId op : {whole, pieces, mixed}) {
    EXPECT_TRUE(run.moves(op));
    b.operands().read(op.value, 0);
    run.move(op);
  }
  EXPECT_EQ(b.results[whole.value], 0x0b0a090807060504u);
  EXPECT_EQ(b.results[pieces.value], 0x11100a0908020100u);
  EXPECT_EQ(b.results[mixed.value], 0x020100u);
  EXPECT_TRUE(b.intact());
}

TEST(RunMemory, CopiesReducesAndMessagesMoveBytes) {
  Bench b;
  const OpId copy = b.add(OpKind::kCopy, {{Bench::kHere, 0, 4}}, {{Bench::kHere, 2, 4}});
  const OpId sum =
      b.add(OpKind::kReduce, {{Bench::kHere, 0, 2}, {Bench::kHere, 8, 2}, {Bench::kHere, 16, 2}},
            {{Bench::kHere, 24, 2}});
  const OpId send = b.add(OpKind::kSend, {{Bench::kHere, 0, 4}}, {});
  const OpId away = b.add(OpKind::kCopy, {{Bench::kHere, 0, 4}}, {{Bench::kNotKeptHere, 2, 4}});
  const OpId recv = b.add(OpKind::kRecv, {}, {{Bench::kThere, 5, 8}});
  RunMemory& run = b.start();
  EXPECT_TRUE(run.moves(copy));
  EXPECT_TRUE(run.moves(sum));
  EXPECT_TRUE(run.moves(send));
  EXPECT_FALSE(run.moves(away));
  EXPECT_FALSE(run.moves(recv));
  for (std::uint64_t i = 0; i < 4; ++i) b.at(Bench::kHere, i) = static_cast<std::byte>(i + 1);
  run.move(copy);
  EXPECT_EQ(b.word(Bench::kHere, 0), 0x040302010201u);
  b.set_word(Bench::kHere, 8, 0x0390u);
  b.set_word(Bench::kHere, 16, 0xfc70u);
  run.move(sum);
  EXPECT_EQ(b.word(Bench::kHere, 24), 0x0101u);  // 1 + 0x90 + 0x70, and 2 + 3 + 0xfc
  run.receive(send, recv);
  EXPECT_EQ(b.word(Bench::kThere, 5), 0x02010201u);
  EXPECT_TRUE(b.intact());
}

TEST(RunMemory, BeginsAsTheContractSays) {
  Bench b;
  b.builder().add_pre({{Bench::kThere, 3, 10}, sched::ValueId(5), 6});
  b.builder().add_pre({{Bench::kNotKeptThere, 3, 10}, sched::ValueId(5), 6});
  b.start();
  for (std::uint64_t i = 0; i < 64; ++i) {
    const bool given = i >= 3 && i < 13;
    EXPECT_EQ(b.at(Bench::kThere, i),
              given ? sched::value_byte(sched::ValueId(5), i - 3 + 6) : std::byte{0});
    EXPECT_EQ(b.at(Bench::kHere, i), std::byte{0});
  }
  EXPECT_TRUE(b.intact());
}

TEST(RunMemory, AddressesStayInTheirBuffer) {
  const auto posting = [](OpKind kind, const Slice& slice, std::uint64_t by) {
    Bench b;
    const OpArguments arguments = arguments_of({}, {}, literal(by));
    const OpId op =
        kind == OpKind::kPut   ? b.add(kind, {{Bench::kHere, 0, slice.bytes}}, {slice}, arguments)
        : kind == OpKind::kGet ? b.add(kind, {slice}, {{Bench::kHere, 0, slice.bytes}}, arguments)
                               : b.add(kind, {slice}, {slice}, arguments);
    b.start();
    return refusal(b, op, 0);
  };
  const auto there = [](std::uint64_t offset, std::uint64_t bytes) {
    return Slice{Bench::kThere, offset, bytes};
  };
  for (const OpKind kind : {OpKind::kPut, OpKind::kGet, OpKind::kFetchAdd}) {
    EXPECT_EQ(posting(kind, there(8, 8), 48), "");
    EXPECT_EQ(posting(kind, there(8, 8), 56),
              "op 2 (" + std::string(name(kind)) +
                  ", rank 0) acts on 8 bytes at 8 + 56 of buffer 1, which has 64");
    EXPECT_NE(posting(kind, there(0, 8), 57), "");
    EXPECT_NE(posting(kind, there(8, 8), ~0ull - 7), "");
  }
  EXPECT_EQ(posting(OpKind::kPut, there(3, 8), 53), "");
  EXPECT_NE(posting(OpKind::kPut, there(3, 8), 54), "");
  EXPECT_EQ(
      posting(OpKind::kFetchAdd, there(8, 8), 12),
      "op 2 (fetch_add, rank 0) works on a word at byte 20 of its buffer; expected a multiple "
      "of 8");
  EXPECT_EQ(posting(OpKind::kFetchAdd, there(4, 8), 4), "");
}

TEST(RunMemory, OperandsAreOfWhatIsDone) {
  const auto posting = [](const Operand& operand, std::uint32_t attempts, double done_s,
                          std::uint64_t* got = nullptr) {
    Bench b;
    const OpId first = b.atomic(OpKind::kFetchAdd, 0, arguments_of(literal(1)));
    const OpId op = b.atomic(OpKind::kFetchAdd, 1, arguments_of(operand));
    EXPECT_EQ(first, OpId(2));
    RunMemory& run = b.start();
    b.results[first.value] = 10;
    b.results[op.value] = 20;
    b.times[first.value].attempts = attempts;
    b.times[first.value].done_s = done_s;
    b.times[op.value].attempts = 4;
    b.times[op.value].done_s = std::numeric_limits<double>::infinity();
    const std::string wrong = refusal(b, op, 2);
    if (wrong.empty()) run.apply(op);
    if (got != nullptr) *got = b.word(Bench::kThere, 8);
    return wrong;
  };
  std::uint64_t got = 0;
  EXPECT_EQ(posting({From::kResult, OpId(2), 3, 4, 0}, 1, 2, &got), "");
  EXPECT_EQ(got, 34u);
  EXPECT_EQ(posting({From::kResult, OpId(2), 3, 4, 5}, 1, 1, &got), "");
  EXPECT_EQ(got, 4u);
  EXPECT_EQ(posting({From::kAttempt, OpId(2), 100}, 3, 1, &got), "");
  EXPECT_EQ(got, 200u);
  EXPECT_EQ(posting({From::kResult, OpId(3), 1}, 0, 9, &got), "");  // of itself, the time before
  EXPECT_EQ(got, 20u);
  EXPECT_EQ(posting({From::kAttempt, OpId(3), 1}, 0, 9, &got), "");
  EXPECT_EQ(got, 3u);
  EXPECT_EQ(posting({From::kResult, OpId(2), 1}, 1, 2.5),
            "op 3 (fetch_add, rank 0) uses the result of op 2 (fetch_add, rank 0) when it is not "
            "there; expected an edge that waits for it");
  EXPECT_THAT(posting({From::kAttempt, OpId(2), 1}, 0, 1),
              ::testing::HasSubstr("uses the attempt of"));
}

}  // namespace
}  // namespace slackline::machine
