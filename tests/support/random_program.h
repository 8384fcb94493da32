// Random programs: every kind of operation on few bytes, tied together loosely or tightly. Most are
// wrong in some way, and a good part is right.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/byte_adversary.h"
#include "tests/support/draft.h"

namespace slackline::testing {

class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, std::uint32_t tight) : random_(seed), tight_(tight) {
    d_.ranks = 2 + below(2);
    done_.resize(d_.ranks);
    flags_.resize(d_.ranks);
    for (std::uint32_t r = 0; r < d_.ranks; ++r) {
      d_.buffer(r, kBytes);
      if (below(8) != 0) d_.pre.push_back({{BufferId(r), 0, kBytes}, ValueId(r), 0});
    }
    // Where flags land: memory that no fact speaks of.
    for (std::uint32_t r = 0; r < d_.ranks; ++r) d_.buffer(r, kBytes);
    for (std::uint32_t src = 0; src < d_.ranks; ++src) {
      for (std::uint32_t dst = 0; dst < d_.ranks; ++dst) {
        if (src == dst && below(2) == 0) continue;
        const std::uint32_t window = below(6) == 0 ? 1 + below(2) : 0;
        const std::uint32_t service = below(10);
        d_.channel(src, dst, window,
                   service == 0   ? Service::kDatagram
                   : service == 1 ? Service::kEager
                                  : Service::kReliable);
      }
    }
  }

  Draft make() {
    const std::uint32_t actions = 2 + below(7);
    for (std::uint32_t i = 0; i < actions; ++i) act();
    return d_;
  }

 private:
  static constexpr std::uint64_t kBytes = 24;  // of a buffer

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  Slice slice(RankId rank, std::uint64_t bytes) {
    const bool landing = below(6) == 0;
    return {BufferId(rank.value + (landing ? d_.ranks : 0)),
            below(static_cast<std::uint32_t>(kBytes - bytes + 1)), bytes};
  }
  // Where a put lands that somebody polls for, and mostly where nobody has polled before.
  std::vector<Slice> landing(RankId rank, std::uint64_t bytes) {
    if (below(8) == 0) return slices(rank, bytes);
    std::vector<Slice>& used = flags_[rank.value];
    if (!used.empty() && below(3) == 0)
      return {used[below(static_cast<std::uint32_t>(used.size()))]};
    const BufferId buffer(rank.value + d_.ranks);
    const std::uint64_t at = used.empty() ? 0 : used.back().offset + used.back().bytes;
    if (at + bytes > kBytes) return slices(rank, bytes);
    used.push_back({buffer, at, bytes});
    // Now and then scattered, the part that comes first behind the other.
    if (bytes > 2 && below(6) == 0) return {{buffer, at + 1, bytes - 1}, {buffer, at, 1}};
    return {used.back()};
  }
  // What the poll looks at: mostly the end of the last slice.
  Slice polled(const std::vector<Slice>& target) {
    Slice flag = below(8) == 0 ? target.front() : target.back();
    const std::uint64_t bytes =
        below(3) == 0 ? 1 + below(static_cast<std::uint32_t>(flag.bytes)) : 1;
    if (below(10) != 0) flag.offset += flag.bytes - bytes;
    flag.bytes = bytes;
    return flag;
  }
  // A payload's memory: one slice or two.
  std::vector<Slice> slices(RankId rank, std::uint64_t bytes) {
    if (bytes < 2 || below(3) != 0) return {slice(rank, bytes)};
    const std::uint64_t first = 1 + below(static_cast<std::uint32_t>(bytes - 1));
    return {slice(rank, first), slice(rank, bytes - first)};
  }

  void tie(OpId op) {
    std::vector<OpId>& before = done_[d_.ops[op.value].op.rank.value];
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (below(100) < tight_) d_.edge(before[i], op, below(10) == 0 ? On::kIssued : On::kDone);
    }
    before.push_back(op);
  }

  OpId at(OpKind kind, RankId rank, ChannelId on, std::vector<Slice> reads,
          std::vector<Slice> writes, Notify notify = Notify::kNone) {
    const OpId op = d_.add(kind, rank.value, on, std::move(reads), std::move(writes), notify);
    tie(op);
    return op;
  }

  void act() {
    const ChannelId on(below(static_cast<std::uint32_t>(d_.channels.size())));
    const RankId src = d_.channels[on.value].src;
    const RankId dst = d_.channels[on.value].dst;
    const std::uint64_t bytes = 1 + below(6);
    switch (below(9)) {
      case 0:
      case 1: {  // a message, or a mere notice
        const std::uint64_t size = below(4) == 0 ? 0 : bytes;
        const auto post = [&] { at(OpKind::kRecv, dst, on, {}, slices(dst, size)); };
        const bool early = below(2) == 0;
        if (early) post();
        at(OpKind::kSend, src, on, slices(src, size), {});
        if (!early) post();
        break;
      }
      case 2:
        at(OpKind::kPut, src, on, slices(src, bytes), slices(dst, bytes));
        break;
      case 3:
        at(OpKind::kPut, src, on, slices(src, bytes), slices(dst, bytes), Notify::kImm);
        at(OpKind::kRecv, dst, on, {}, {});
        break;
      case 4: {
        const std::vector<Slice> target = landing(dst, bytes);
        const Slice flag = polled(target);
        const auto watch = [&] { return at(OpKind::kPoll, dst, {}, {flag}, {}); };
        const bool early = below(2) == 0;
        const OpId watched = early ? watch() : OpId::none();
        const std::uint64_t size = total(target);
        const OpId put = at(OpKind::kPut, src, on, source(src, size), target, Notify::kFlag);
        d_.flag(put, early ? watched : watch());
        break;
      }
      case 5:
        at(OpKind::kGet, src, on, slices(dst, bytes), slices(src, bytes));
        break;
      case 6:
        atomic(on, src, dst);
        break;
      case 7:
        at(OpKind::kCopy, src, {}, slices(src, bytes), slices(src, bytes));
        break;
      default: {
        const Slice sum = slice(src, bytes);
        at(OpKind::kReduce, src, {}, {below(2) == 0 ? sum : slice(src, bytes), slice(src, bytes)},
           {sum});
      }
    }
  }

  static std::uint64_t total(const std::vector<Slice>& slices) {
    std::uint64_t bytes = 0;
    for (const Slice& slice : slices) bytes += slice.bytes;
    return bytes;
  }
  // Mostly bytes of the contract.
  std::vector<Slice> source(RankId rank, std::uint64_t bytes) {
    std::vector<Slice> out = slices(rank, bytes);
    for (Slice& slice : out) {
      if (below(4) != 0) slice.buffer = BufferId(rank.value);
    }
    return out;
  }

  void atomic(ChannelId on, RankId src, RankId dst) {
    const Slice word{BufferId(dst.value), 8ull * below(2) + (below(12) == 0 ? 1 : 0), 8};
    std::vector<Slice> writes = {word};
    if (below(2) == 0) writes.push_back(slice(src, 8));
    const OpId op = at(OpKind::kFetchAdd, src, on, {word}, writes);
    OpArguments arguments;
    for (OpId earlier : done_[src.value]) {
      if (earlier != op && is_atomic(d_.ops[earlier.value].op.kind) && below(2) == 0) {
        arguments.operand = {Operand::From::kResult, earlier, 1};
      }
    }
    if (below(3) == 0)
      arguments.address_offset = {
          Operand::From::kLiteral, {}, below(8) == 0 ? below(7) : 8ull * below(2)};
    d_.ops[op.value].arguments = arguments;
  }

  std::mt19937_64 random_;
  std::uint32_t tight_;
  Draft d_;
  std::vector<std::vector<OpId>> done_;    // by rank
  std::vector<std::vector<Slice>> flags_;  // by rank: targets of flagged puts
};

/// Each action joins whatever its ranks have done before with a chance of `tight` percent.
inline Draft random_program(std::uint64_t seed, std::uint32_t tight) {
  return RandomProgram(seed, tight).make();
}

/// A post fact for each byte of the contract that a run leaves in memory. If the program is right,
/// every run leaves the same.
inline void add_facts_of_a_run(Draft& draft, std::uint64_t seed) {
  const Schedule bare = draft.build();
  ByteAdversary machine(bare, seed);
  if (machine.run() == "stuck") return;
  for (const auto& [place, symbol] : machine.memory()) {
    const auto byte = ByteAdversary::contract_byte(symbol);
    if (!byte) continue;
    draft.post.push_back(
        {{BufferId(place.first), place.second, 1}, ValueId(byte->first), byte->second});
  }
}

}  // namespace slackline::testing
