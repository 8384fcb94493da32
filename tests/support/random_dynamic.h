// Dice dynamic schedules that finish, by construction: regions of one-sided and local operations,
// messages repeated as often on both sides, locks that ranks spin for.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/property/random_runs.h"
#include "tests/support/random_bundles.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

/// Blocks in one global order, each of one rank or of the two ends of a channel. A block waits for
/// blocks before it only, so there is no deadlock; and locks are given back.
class RandomDynamic {
 public:
  /// With `locks`, some outcomes are actual.
  RandomDynamic(Dice& random, std::uint32_t ranks, std::uint32_t blocks, bool locks)
      : random_(random), ranks_(ranks), locks_(locks), program_(ranks), last_(ranks) {
    for (std::uint32_t a = 0; a < ranks; ++a) {
      for (std::uint32_t b = 0; b < ranks; ++b) channels_.push_back(program_.channel(a, b));
    }
    for (std::uint32_t i = 0; i < blocks; ++i) add_block();
  }

  /// Channels gather messages; the delay is finite, so that nothing waits for a flush.
  void gather() {
    for (const ChannelId c : channels_) {
      gather_randomly(random_, program_.builder().channel(c), true);
    }
  }

  sched::Schedule build() { return program_.build(); }

 private:
  std::uint32_t rank() { return random_.below(ranks_); }
  ChannelId channel(std::uint32_t a, std::uint32_t b) { return channels_[a * ranks_ + b]; }
  sched::Time duration() { return sched::Time{random_.pick({0, 1, 700, 5'000}) * 1'000}; }

  void add_block() {
    const std::uint32_t a = rank();
    switch (random_.below(locks_ ? 6 : 4)) {
      case 0:
        return add_messages(a, rank());
      case 4:
      case 5:
        return add_lock(a, rank());
      default: {
        std::vector<OpId> ops;
        add_body(a, ops, 2);
        last_[a] = ops;
      }
    }
  }

  // A run of operations, any part of it in a region of its own.
  void add_body(std::uint32_t a, std::vector<OpId>& ops, int depth) {
    for (std::uint32_t i = 1 + random_.below(3); i != 0; --i) {
      if (depth > 0 && random_.one_in(2)) {
        std::vector<OpId> inner;
        add_body(a, inner, depth - 1);
        enclose(inner);
        ops.insert(ops.end(), inner.begin(), inner.end());
      } else {
        add_operation(a, ops);
      }
    }
  }

  void enclose(const std::vector<OpId>& ops) {
    sched::Region region;
    region.kind = random_.pick(
        {sched::RegionKind::kRetry, sched::RegionKind::kAlt, sched::RegionKind::kRepeat});
    region.entry = ops.front();
    region.count = static_cast<std::uint32_t>(ops.size());
    region.p.value = random_.pick<std::uint32_t>({500'000, 1'000'000, 800'000});
    region.backoff = duration();
    const bool retry = region.kind == sched::RegionKind::kRetry;
    region.max_attempts = retry ? 1'000 : 1 + random_.below(3);
    program_.builder().add_region(region);
  }

  void add_operation(std::uint32_t a, std::vector<OpId>& ops) {
    const ChannelId c = channel(a, rank());
    const auto bytes = random_.pick<std::uint64_t>({0, 8, 4'096, 30'000});
    OpId op;
    switch (random_.below(7)) {
      case 0:
        op = program_.put(c, bytes);
        break;
      case 1:
        op = program_.get(c, bytes);
        break;
      case 2:
        op = program_.calc(a, duration());
        break;
      case 3:
        op = program_.copy(a, 1 + bytes);
        break;
      case 4:
        op = random_.one_in(2) ? program_.delay(a, duration()) : program_.join(a);
        break;
      default:
        op = program_.fetch_add(c, random_.below(2));
    }
    wait_for_some(a, ops, op);
    ops.push_back(op);
  }

  void wait_for_some(std::uint32_t a, const std::vector<OpId>& ops, OpId op) {
    const sched::On on = random_.one_in(3) ? sched::On::kIssued : sched::On::kDone;
    const auto any_of = [&](const std::vector<OpId>& of) {
      return of[random_.below(static_cast<std::uint32_t>(of.size()))];
    };
    if (!ops.empty() && random_.one_in(2)) program_.after({any_of(ops)}, op, on);
    if (!last_[a].empty() && random_.one_in(2)) program_.after({any_of(last_[a])}, op, on);
  }

  // As many messages as receives, in regions of their own, and not always of one size.
  void add_messages(std::uint32_t a, std::uint32_t b) {
    const ChannelId c = channel(a, b);
    const std::uint32_t times = 1 + random_.below(3);
    const bool immediate = random_.one_in(2);
    const auto bytes = random_.pick<std::uint64_t>({0, 700, 30'000});
    const auto repeated = [&](std::uint32_t of, OpId first, OpId calc, bool waits) {
      if (waits) program_.after({first}, calc);
      wait_for_some(of, {}, first);
      sched::Region region;
      region.kind = sched::RegionKind::kRepeat;
      region.entry = first;
      region.count = 2;
      region.max_attempts = times;
      region.backoff = duration();
      program_.builder().add_region(region);
      if (a != b) last_[of] = {first, calc};
    };
    const OpId recv = program_.recv(c, immediate ? 0 : bytes);
    const OpId after = program_.calc(b, duration());
    repeated(b, recv, after, true);
    const OpId send =
        immediate ? program_.put(c, bytes, sched::Notify::kImm) : program_.send(c, bytes);
    const OpId calc = program_.calc(a, duration());
    repeated(a, send, calc, random_.one_in(2));
  }

  // Swaps 0 for 1 until that works, holds it for a while, and gives it back.
  void add_lock(std::uint32_t a, std::uint32_t b) {
    const ChannelId c = channel(a, b);
    sched::Op swap;
    swap.kind = sched::OpKind::kCompareSwap;
    swap.rank = RankId(a);
    swap.channel = c;
    const sched::Slice word = program_.word(b, 4 + random_.below(2));
    swap.reads = swap.writes = program_.builder().add_slice(word);
    sched::OpArguments arguments;
    arguments.operand = {sched::Operand::From::kLiteral, {}, 1};
    arguments.compare = {sched::Operand::From::kLiteral, {}, 0};
    const OpId taken = program_.builder().add(swap, arguments);
    sched::Region region;
    region.entry = taken;
    region.count = 1;
    region.max_attempts = 100'000;
    region.outcome = sched::RegionOutcome::kActual;
    region.backoff = sched::Time{1'000 * (1 + random_.below(3'000))};
    program_.builder().add_region(region);
    const OpId held = program_.calc(a, duration());
    sched::Op give = swap;
    give.kind = sched::OpKind::kFetchAnd;
    arguments.operand.value = 0;
    arguments.compare = {};
    const OpId given = program_.builder().add(give, arguments);
    program_.after({taken}, held);
    program_.after({held}, given);
    if (!last_[a].empty()) program_.after({last_[a].back()}, taken);
    last_[a] = {given};
  }

  Dice& random_;
  std::uint32_t ranks_;
  bool locks_;
  Program program_;
  std::vector<std::vector<OpId>> last_;  // of each rank, the block before
  std::vector<ChannelId> channels_;
};

}  // namespace slackline::testing
