// Random schedules that a builder accepts, for tests of readers and writers: every kind, every
// attribute, regions, bundles, results as operands. They need not be sound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "sched/builder.h"

namespace slackline::testing {

using namespace sched;

class ScheduleDrawing {
 public:
  explicit ScheduleDrawing(std::uint64_t seed) : random_(seed), builder_(1) {}

  Schedule make(std::uint32_t max_ops = 40) {
    ranks_ = 1 + below(5);
    builder_ = ScheduleBuilder(ranks_);
    if (chance(70)) builder_.set_title("random \"title\" \\ #1\n\x01 \xc3\xa9");
    if (chance(70)) builder_.set_message_bytes(size());
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t i = 0; i <= below(3); ++i) add_buffer(r);
    }
    for (std::uint32_t i = 0, n = below(8); i < n; ++i) add_channel(n);
    // Grouped by rank, so that the ids below are the schedule's.
    std::vector<std::uint32_t> rank_of(below(max_ops + 1));
    for (auto& r : rank_of) r = below(ranks_);
    std::sort(rank_of.begin(), rank_of.end());
    for (std::uint32_t r : rank_of) add_op(r);
    add_edges(rank_of);
    for (std::size_t i = 0; i < std::min(flag_puts_.size(), polls_.size()); ++i) {
      if (builder_ok_flag(i)) builder_.add_flag_match(flag_puts_[i].op, polls_[i].op);
    }
    add_regions(rank_of);
    for (std::uint32_t i = 0, n = below(4); i < n; ++i) {
      builder_.add_pre({slice_of(below(ranks_)), ValueId(below(9)), chance(50) ? size() : 0});
      builder_.add_post({slice_of(below(ranks_)), ValueId(below(9)), chance(50) ? size() : 0});
    }
    return builder_.build();
  }

 private:
  struct At {
    OpId op;
    std::uint32_t rank;  // where the flag lands, or of the poll
  };

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  // Sizes of every look: none, odd, in KiB, MiB, GiB.
  std::uint64_t size() {
    const std::uint64_t n = below(5000);
    switch (below(5)) {
      case 0:
        return 0;
      case 1:
        return n << 10;
      case 2:
        return n << 20;
      case 3:
        return n << 30;
      default:
        return n;
    }
  }
  Time time() {
    if (chance(10)) return kForever;
    const std::int64_t n = below(5000);
    return Time{chance(50) ? n : n * (chance(50) ? 1'000'000 : 1'000'000'000'000)};
  }

  void add_buffer(std::uint32_t rank) {
    buffers_.push_back({RankId(rank), 8 + size()});
    builder_.add_buffer(RankId(rank), buffers_.back().bytes);
  }
  Slice slice_of(std::uint32_t rank) {
    std::vector<std::uint32_t> mine;
    for (std::uint32_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].rank == RankId(rank)) mine.push_back(i);
    }
    const std::uint32_t b = mine[below(static_cast<std::uint32_t>(mine.size()))];
    const std::uint64_t offset = random_() % (buffers_[b].bytes + 1);
    return {BufferId(b), offset, random_() % (buffers_[b].bytes - offset + 1)};
  }
  SliceRange slices_of(std::uint32_t rank, std::uint32_t count) {
    std::vector<Slice> slices;
    for (std::uint32_t i = 0; i < count; ++i) slices.push_back(slice_of(rank));
    return builder_.add_slices(slices);
  }

  void add_channel(std::uint32_t planned) {
    Channel c;
    c.src = RankId(below(ranks_));
    c.dst = RankId(below(ranks_));
    if (chance(30)) c.service = Service::kDatagram;
    if (chance(50)) c.window = below(1000);
    if (chance(50)) c.credit_on = ChannelId(below(planned));
    if (chance(30)) c.credit_batch = 1 + below(9);
    if (chance(40)) {
      c.bundle = static_cast<Bundle>(below(3));
      c.bundle_bytes = size();
      if (chance(60)) c.bundle_delay = time();
    }
    channels_.push_back(c);
    builder_.add_channel(c);
  }

  Operand operand(std::uint32_t rank) {
    Operand value;
    std::vector<OpId> results;
    for (const At& at : atomics_) {
      if (at.rank == rank) results.push_back(at.op);
    }
    if (chance(30)) return value;
    value.value = chance(30) ? 1 : random_();
    value.from = Operand::From::kLiteral;
    if (!results.empty() && chance(60)) {
      value.from = chance(50) ? Operand::From::kResult : Operand::From::kAttempt;
      value.op = results[below(static_cast<std::uint32_t>(results.size()))];
      if (chance(30)) value.addend = random_();
      if (chance(30)) value.modulus = random_();
    }
    return value;
  }

  void add_op(std::uint32_t rank) {
    Op op;
    op.rank = RankId(rank);
    op.kind = static_cast<OpKind>(below(kOpKinds));
    if (has_channel(op.kind)) {
      std::vector<std::uint32_t> fit;
      for (std::uint32_t i = 0; i < channels_.size(); ++i) {
        const Channel& c = channels_[i];
        if ((op.kind == OpKind::kRecv ? c.dst : c.src) == op.rank) fit.push_back(i);
      }
      if (fit.empty()) {
        op.kind = OpKind::kJoin;
      } else {
        op.channel = ChannelId(fit[below(static_cast<std::uint32_t>(fit.size()))]);
      }
    }
    if (chance(50)) op.step = chance(90) ? below(20) : 0xfffffffeu - below(2);
    if (chance(30)) op.lane = static_cast<std::uint16_t>(chance(50) ? 65535 : below(4));
    if (op.kind == OpKind::kPut) op.notify = static_cast<Notify>(below(3));
    OpArguments arguments;
    bool has_arguments = chance(10);
    const std::uint32_t target = op.channel.valid() ? channels_[op.channel.value].dst.value : rank;
    if (is_atomic(op.kind)) {
      const Slice word = slice_of(target);
      op.reads = builder_.add_slice(word);
      std::vector<Slice> writes = {word};
      if (chance(60)) writes.push_back(slice_of(rank));
      op.writes = builder_.add_slices(writes);
      arguments.operand = operand(rank);
      arguments.compare = operand(rank);
      if (op.kind != OpKind::kCompareSwap && arguments.compare.from != Operand::From::kAbsent) {
        if (chance(40)) arguments.compare_mask = random_();
        if (chance(40)) arguments.expect = Expect::kUnequal;
      }
      arguments.address_offset = operand(rank);
      has_arguments = true;
    } else {
      add_places(op, rank, target);
    }
    if ((op.kind == OpKind::kPut || op.kind == OpKind::kGet) && chance(40)) {
      arguments.address_offset = operand(rank);
      has_arguments = true;
    }
    if ((op.kind == OpKind::kCalc || op.kind == OpKind::kDelay) && chance(80)) {
      arguments.duration = time();
      has_arguments = true;
    }
    const OpId id = has_arguments ? builder_.add(op, arguments) : builder_.add(op);
    if (is_atomic(op.kind)) atomics_.push_back({id, rank});
    if (op.kind == OpKind::kPoll) polls_.push_back({id, rank});
    if (op.notify == Notify::kFlag) flag_puts_.push_back({id, target});
  }

  void add_places(Op& op, std::uint32_t rank, std::uint32_t target) {
    switch (op.kind) {
      case OpKind::kSend:
      case OpKind::kPoll:
        op.reads = slices_of(rank, below(3));
        break;
      case OpKind::kRecv:
        op.writes = slices_of(rank, below(3));
        break;
      case OpKind::kPut:
        op.reads = slices_of(rank, below(3));
        op.writes = slices_of(target, below(3));
        break;
      case OpKind::kGet:
        op.reads = slices_of(target, below(3));
        op.writes = slices_of(rank, below(3));
        break;
      case OpKind::kCopy:
        op.reads = slices_of(rank, below(3));
        op.writes = slices_of(rank, below(3));
        break;
      case OpKind::kReduce:
        op.reads = slices_of(rank, below(4));
        op.writes = slices_of(rank, 1);
        break;
      default:
        break;
    }
  }

  void add_edges(const std::vector<std::uint32_t>& rank_of) {
    if (rank_of.empty()) return;
    const auto ops = static_cast<std::uint32_t>(rank_of.size());
    for (std::uint32_t i = 0, n = below(3 * ops + 1); i < n; ++i) {
      const std::uint32_t pred = below(ops);
      const std::uint32_t succ = below(ops);
      if (rank_of[pred] != rank_of[succ]) continue;
      builder_.add_edge(OpId(pred), OpId(succ), chance(50) ? On::kDone : On::kIssued);
    }
  }

  bool builder_ok_flag(std::size_t i) { return flag_puts_[i].rank == polls_[i].rank; }

  void add_regions(const std::vector<std::uint32_t>& rank_of) {
    const auto ops = static_cast<std::uint32_t>(rank_of.size());
    if (ops == 0) return;
    for (std::uint32_t i = 0, n = below(3); i < n; ++i) {
      Region region;
      region.kind = static_cast<RegionKind>(below(3));
      region.entry = OpId(below(ops));
      while (region.entry.value + region.count < ops && region.count < 4 &&
             rank_of[region.entry.value + region.count] == rank_of[region.entry.value]) {
        ++region.count;
      }
      if (chance(60)) region.max_attempts = 1 + below(100);
      if (chance(60)) region.p.value = below(1'000'001);
      if (chance(40)) region.outcome = RegionOutcome::kActual;
      if (chance(40)) region.backoff = time();
      builder_.add_region(region);
    }
  }

  std::mt19937_64 random_;
  ScheduleBuilder builder_;
  std::uint32_t ranks_ = 1;
  std::vector<Buffer> buffers_;
  std::vector<Channel> channels_;
  std::vector<At> atomics_;
  std::vector<At> polls_;
  std::vector<At> flag_puts_;
};

inline Schedule random_schedule(std::uint64_t seed, std::uint32_t max_ops = 40) {
  return ScheduleDrawing(seed).make(max_ops);
}

}  // namespace slackline::testing
