// Dice dynamic schedules with results that do not depend on who is faster: regions of all kinds,
// operands and addresses made of results and attempts, messages and flags repeated on both sides;
// but every word has one writer, and what one rank does is in order.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/builder.h"
#include "tests/property/random_runs.h"

namespace slackline::testing {

class RandomWords {
 public:
  /// Blocks in one global order, each of one rank or of the two ends of a channel.
  RandomWords(Dice& random, std::uint32_t ranks, std::uint32_t blocks)
      : random_(random), ranks_(ranks), builder_(ranks), last_(ranks), results_(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      words_.push_back(builder_.add_buffer(RankId(r), 128ull * ranks));
      own_.push_back(builder_.add_buffer(RankId(r), kOwnBytes));
      inbox_.push_back(builder_.add_buffer(RankId(r), 16ull * (ranks + 1)));
      builder_.add_pre({{own_[r], 0, kValueBytes}, sched::ValueId(r), 0});
    }
    for (std::uint32_t a = 0; a < ranks; ++a) {
      for (std::uint32_t b = 0; b < ranks; ++b) channels_.push_back(channel(a, b));
    }
    for (std::uint32_t i = 0; i < blocks; ++i) add_block();
  }

  sched::Schedule build() {
    for (const sched::Region& region : regions_) builder_.add_region(region);
    return builder_.build();
  }

 private:
  using Operand = sched::Operand;
  using OpKind = sched::OpKind;
  using RegionKind = sched::RegionKind;

  // Of a rank's own buffer, the first bytes are a value, the rest is for what comes back.
  static constexpr std::uint64_t kValueBytes = 64;
  static constexpr std::uint64_t kOwnBytes = 128;

  ChannelId channel(std::uint32_t a, std::uint32_t b) {
    sched::Channel channel;
    channel.src = RankId(a);
    channel.dst = RankId(b);
    return builder_.add_channel(channel);
  }
  ChannelId between(std::uint32_t a, std::uint32_t b) { return channels_[a * ranks_ + b]; }

  // Eight words of rank a at rank b, and one more that only ever holds 0 to 4.
  sched::Slice word_of(std::uint32_t a, std::uint32_t b) { return {words_[b], 128ull * a, 8}; }
  sched::Slice small_of(std::uint32_t a, std::uint32_t b) {
    return {words_[b], 128ull * a + 64, 8};
  }
  sched::Slice any_back(std::uint32_t a) {
    return {own_[a], kValueBytes + 8 * random_.below(8), 8};
  }

  static Operand literal(std::uint64_t value) { return {Operand::From::kLiteral, {}, value}; }
  // By which an operation goes through 0, step, … in its attempts.
  static Operand attempt(OpId op, std::uint64_t step, std::uint64_t modulus) {
    return {Operand::From::kAttempt, op, step, 0, modulus};
  }

  void add_block() {
    const std::uint32_t a = random_.below(ranks_);
    const std::uint32_t b = random_.below(ranks_);
    switch (random_.below(5)) {
      case 0:
        if (a != b) return add_messages(a, b);
        break;
      case 1:
        if (a != b) return add_flags(a, b);
        break;
      default:
        break;
    }
    add_body(a, 2);
  }

  OpId next_op() const { return OpId(count_); }
  // After everything that its rank does before.
  OpId add(std::uint32_t a, sched::Op op, const sched::OpArguments& arguments = {}) {
    op.rank = RankId(a);
    const OpId id =
        arguments == sched::OpArguments{} ? builder_.add(op) : builder_.add(op, arguments);
    if (last_[a].valid()) builder_.add_edge(last_[a], id);
    last_[a] = id;
    ++count_;
    return id;
  }

  void add_body(std::uint32_t a, int depth) {
    for (std::uint32_t i = 1 + random_.below(3); i != 0; --i) {
      depth > 0 && random_.one_in(2) ? add_region(a, depth) : add_operation(a);
    }
  }

  void add_region(std::uint32_t a, int depth) {
    sched::Region region;
    region.kind = random_.pick({RegionKind::kRetry, RegionKind::kRepeat, RegionKind::kAlt});
    const bool actual = region.kind != RegionKind::kRepeat && calm_ == 0 && random_.one_in(2);
    region.outcome = actual ? sched::RegionOutcome::kActual : sched::RegionOutcome::kSampled;
    region.backoff = sched::Time{random_.pick({0, 0, 1, 300}) * 1'000'000};
    region.p.value = random_.pick<std::uint32_t>({500'000, 800'000});
    region.max_attempts = 1 + random_.below(3);
    if (region.kind == RegionKind::kRetry) region.max_attempts = actual ? 8 : 1'000;
    if (actual && region.kind == RegionKind::kAlt) add_test(a, false);
    const std::vector<OpId> results = results_[a];
    region.entry = next_op();
    // Of one range of operations, the first in the table is around the others.
    const std::size_t place = regions_.size();
    regions_.emplace_back();
    if (actual && region.kind == RegionKind::kRetry) {
      // No other test may fail it.
      ++calm_;
      add_test(a, true);
      if (random_.one_in(2)) add_body(a, depth - 1);
      --calm_;
    } else {
      add_body(a, depth - 1);
    }
    region.count = count_ - region.entry.value;
    regions_[place] = region;
    // What an alt leaves out has no result.
    if (region.kind == RegionKind::kAlt) results_[a] = results;
  }

  Operand any_operand(std::uint32_t a) {
    if (results_[a].empty() || random_.one_in(3)) return literal(random_.below(1'000'000));
    const OpId of = results_[a][random_.below(static_cast<std::uint32_t>(results_[a].size()))];
    if (random_.one_in(3)) return {Operand::From::kAttempt, of, 7, 3, 0};
    return {Operand::From::kResult, of, random_.pick<std::uint64_t>({1, 3}), random_.below(9),
            random_.pick<std::uint64_t>({0, 1'000})};
  }
  // 0, 8, … 56.
  Operand any_place(std::uint32_t a) {
    Operand place = any_operand(a);
    if (!place.is_dynamic()) return literal(8 * (place.value % 8));
    place.value = 8;
    place.addend = 8;
    place.modulus = 64;
    return place;
  }

  void add_operation(std::uint32_t a) {
    const std::uint32_t b = random_.below(ranks_);
    sched::Op op;
    sched::OpArguments arguments;
    op.channel = between(a, b);
    op.reads = op.writes = builder_.add_slice(word_of(a, b));
    arguments.address_offset = any_place(a);
    const std::uint32_t kind = random_.below(6);
    if (kind == 0) {
      op.kind = OpKind::kPut;
      op.reads = builder_.add_slice({own_[a], 8 * random_.below(8), 8});
      add(a, op, arguments);
      return;
    }
    if (kind == 1) {
      op.kind = OpKind::kGet;
      op.writes = builder_.add_slice(any_back(a));
    } else {
      op.kind = random_.pick({OpKind::kFetchAdd, OpKind::kFetchAnd, OpKind::kFetchOr,
                              OpKind::kFetchXor, OpKind::kCompareSwap});
      if (op.kind == OpKind::kCompareSwap && calm_ != 0) op.kind = OpKind::kFetchAdd;
      arguments.operand = any_operand(a);
      if (op.kind == OpKind::kCompareSwap) arguments.compare = literal(0);
      if (random_.one_in(3)) {
        const sched::Slice both[] = {word_of(a, b), any_back(a)};
        op.writes = builder_.add_slices(both);
      }
    }
    results_[a].push_back(add(a, op, arguments));
  }

  // Of the word that holds 0 to 4. What is to succeed expects each of these by turns.
  void add_test(std::uint32_t a, bool succeeds) {
    const std::uint32_t b = random_.below(ranks_);
    sched::Op op;
    sched::OpArguments arguments;
    op.channel = between(a, b);
    op.reads = op.writes = builder_.add_slice(small_of(a, b));
    arguments.compare = succeeds ? attempt(next_op(), 1, 5) : literal(random_.below(2));
    if (random_.one_in(3)) {
      op.kind = OpKind::kGet;
      op.writes = builder_.add_slice(any_back(a));
      if (!succeeds) {
        arguments.expect = random_.pick({sched::Expect::kEqual, sched::Expect::kUnequal});
        arguments.compare_mask = random_.pick<std::uint64_t>({~std::uint64_t{0}, 1, 6});
      }
    } else {
      op.kind = OpKind::kCompareSwap;
      arguments.operand = any_operand(a);
      if (arguments.operand.is_dynamic()) arguments.operand.modulus = 5;
      if (!arguments.operand.is_dynamic()) arguments.operand.value %= 5;
    }
    results_[a].push_back(add(a, op, arguments));
  }

  void repeat(OpId entry, std::uint32_t times) {
    sched::Region region;
    region.kind = RegionKind::kRepeat;
    region.entry = entry;
    region.count = count_ - entry.value;
    region.max_attempts = times;
    region.backoff = sched::Time{random_.pick({0, 1, 300}) * 1'000'000};
    regions_.push_back(region);
  }

  // Puts what has come to the place among the words that the attempt says.
  void file(std::uint32_t b, const sched::Slice& from) {
    sched::Op op;
    op.kind = OpKind::kPut;
    op.channel = between(b, b);
    op.reads = builder_.add_slice(from);
    op.writes = builder_.add_slice(word_of(b, b));
    sched::OpArguments arguments;
    arguments.address_offset = attempt(next_op(), 8, 64);
    add(b, op, arguments);
  }

  // a counts, and sends each number; b files all of them, or the last.
  void add_messages(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t times = 1 + random_.below(4);
    const sched::Slice number{own_[a], kValueBytes, 8};
    const bool every = random_.one_in(2);
    sched::Op op;
    op.kind = OpKind::kFetchAdd;
    op.channel = between(a, b);
    op.reads = builder_.add_slice(word_of(a, b));
    const sched::Slice both[] = {word_of(a, b), number};
    op.writes = builder_.add_slices(both);
    sched::OpArguments arguments;
    arguments.operand = literal(1 + random_.below(100));
    const OpId counts = add(a, op, arguments);
    op = {};
    op.kind = OpKind::kSend;
    op.channel = between(a, b);
    op.reads = builder_.add_slice(number);
    add(a, op);
    repeat(counts, times);
    results_[a].push_back(counts);
    const OpId first = next_op();
    op = {};
    op.kind = OpKind::kRecv;
    op.channel = between(a, b);
    const sched::Slice arrived{inbox_[b], 0, 8};
    op.writes = builder_.add_slice(arrived);
    add(b, op);
    if (every) file(b, arrived);
    repeat(first, times);
    if (!every) file(b, arrived);
  }

  // a puts a value and a flag, and b files the value and lets a go on.
  void add_flags(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t times = 1 + random_.below(4);
    const sched::Slice slot{inbox_[b], 16ull * (a + 1), 16};
    sched::Op op;
    op.kind = OpKind::kPut;
    op.notify = sched::Notify::kFlag;
    op.channel = between(a, b);
    op.reads = builder_.add_slice({own_[a], 8 * random_.below(6), 16});
    op.writes = builder_.add_slice(slot);
    const OpId put = add(a, op);
    op = {};
    op.kind = OpKind::kRecv;
    op.channel = between(b, a);
    add(a, op);
    repeat(put, times);
    op = {};
    op.kind = OpKind::kPoll;
    op.reads = builder_.add_slice({slot.buffer, slot.offset + 8, 8});
    const OpId poll = add(b, op);
    builder_.add_flag_match(put, poll);
    file(b, {slot.buffer, slot.offset, 8});
    op = {};
    op.kind = OpKind::kSend;
    op.channel = between(b, a);
    add(b, op);
    repeat(poll, times);
  }

  Dice& random_;
  std::uint32_t ranks_;
  sched::ScheduleBuilder builder_;
  std::vector<sched::BufferId> words_;
  std::vector<sched::BufferId> own_;
  std::vector<sched::BufferId> inbox_;
  std::vector<ChannelId> channels_;
  std::vector<sched::Region> regions_;
  std::vector<OpId> last_;                  // by rank
  std::vector<std::vector<OpId>> results_;  // by rank: of operations that have surely run
  std::uint32_t count_ = 0;
  int calm_ = 0;
};

}  // namespace slackline::testing
