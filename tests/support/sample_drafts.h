// Small schedules that are right, and lean: most of what they hold is needed. For tests that break
// them.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/pass/lower_collective.h"
#include "sched/pass/lower_credits.h"
#include "sched/pass/lower_transfers.h"
#include "sched/pattern/collective.h"
#include "sched/pattern/pattern.h"
#include "tests/support/draft.h"

namespace slackline::testing {

struct SampleDraft {
  std::string name;
  Draft draft;
};

/// Messages through a ring of slots: the receiver copies each slot out and only then posts it
/// again, and says so by a credit.
inline Draft ring_sample(std::uint32_t slots, std::uint32_t messages) {
  constexpr std::uint64_t kBytes = 3;
  Draft d;
  d.ranks = 2;
  const BufferId source = d.buffer(0, kBytes * messages);
  const BufferId ring = d.buffer(1, kBytes * slots);
  const BufferId sink = d.buffer(1, kBytes * messages);
  const ChannelId data = d.channel(0, 1, slots);
  const ChannelId credits = d.channel(1, 0);
  d.pre.push_back({{source, 0, kBytes * messages}, ValueId(0), 0});
  d.post.push_back({{sink, 0, kBytes * messages}, ValueId(0), 0});
  for (std::uint32_t k = 0; k < messages; ++k) {
    const OpId credit = d.recv(credits);
    d.edge(credit, d.send(data, {{source, kBytes * k, kBytes}}));
  }
  std::vector<OpId> copies;
  for (std::uint32_t k = 0; k < messages; ++k) {
    const Slice slot{ring, kBytes * (k % slots), kBytes};
    const OpId recv = d.recv(data, {slot});
    if (k >= slots) d.edge(copies[k - slots], recv);
    d.edge(recv, d.send(credits), On::kIssued);
    copies.push_back(d.copy(1, slot, {sink, kBytes * k, kBytes}));
    d.edge(recv, copies.back());
  }
  return d;
}

/// Puts that raise a flag behind their payload; the target polls, copies, and raises a flag back.
/// Both flags are used again and again.
inline Draft flag_sample(std::uint32_t messages) {
  constexpr std::uint64_t kBytes = 4;
  Draft d;
  d.ranks = 2;
  const BufferId source = d.buffer(0, (kBytes + 1) * messages);
  const BufferId ready_flag = d.buffer(0, 1);
  const BufferId slot = d.buffer(1, kBytes + 1);
  const BufferId sink = d.buffer(1, kBytes * messages);
  const BufferId ones = d.buffer(1, 1);
  const ChannelId there = d.channel(0, 1);
  const ChannelId back = d.channel(1, 0);
  d.pre.push_back({{source, 0, (kBytes + 1) * messages}, ValueId(0), 0});
  d.pre.push_back({{ones, 0, 1}, ValueId(1), 0});
  for (std::uint32_t k = 0; k < messages; ++k) {
    d.post.push_back({{sink, kBytes * k, kBytes}, ValueId(0), (kBytes + 1) * k});
  }
  std::vector<OpId> puts;
  std::vector<OpId> ready;
  for (std::uint32_t k = 0; k < messages; ++k) {
    if (k > 0) {
      ready.push_back(d.poll(0, {{ready_flag, 0, 1}}));
      d.edge(puts.back(), ready.back(), On::kIssued);
    }
    puts.push_back(
        d.put(there, {source, (kBytes + 1) * k, kBytes + 1}, {slot, 0, kBytes + 1}, Notify::kFlag));
    if (k > 0) d.edge(ready.back(), puts.back());
  }
  std::vector<OpId> answers;
  for (std::uint32_t k = 0; k < messages; ++k) {
    const OpId poll = d.poll(1, {{slot, kBytes, 1}});
    if (k > 0) d.edge(answers.back(), poll, On::kIssued);
    d.flag(puts[k], poll);
    const OpId copy = d.copy(1, {slot, 0, kBytes}, {sink, kBytes * k, kBytes});
    d.edge(poll, copy);
    if (k + 1 == messages) break;
    answers.push_back(d.put(back, {ones, 0, 1}, {ready_flag, 0, 1}, Notify::kFlag));
    d.edge(copy, answers.back());
    d.flag(answers.back(), ready[k]);
  }
  return d;
}

/// Gets of a page that its owner writes anew once it hears that it was fetched.
inline Draft get_sample(std::uint32_t rounds) {
  constexpr std::uint64_t kBytes = 4;
  Draft d;
  d.ranks = 2;
  const BufferId source = d.buffer(0, kBytes * rounds);
  const BufferId page = d.buffer(0, kBytes);
  const BufferId sink = d.buffer(1, kBytes * rounds);
  const ChannelId full = d.channel(0, 1);
  const ChannelId taken = d.channel(1, 0);
  d.pre.push_back({{source, 0, kBytes * rounds}, ValueId(3), 100});
  d.post.push_back({{sink, 0, kBytes * rounds}, ValueId(3), 100});
  OpId freed;
  for (std::uint32_t k = 0; k < rounds; ++k) {
    const OpId fill = d.copy(0, {source, kBytes * k, kBytes}, {page, 0, kBytes});
    if (k > 0) d.edge(freed, fill);
    d.edge(fill, d.send(full));
    if (k + 1 < rounds) freed = d.recv(taken);
  }
  for (std::uint32_t k = 0; k < rounds; ++k) {
    const OpId told = d.recv(full);
    const OpId get = d.get(taken, {page, 0, kBytes}, {sink, kBytes * k, kBytes});
    d.edge(told, get);
    if (k + 1 < rounds) d.edge(get, d.send(taken));
  }
  return d;
}

/// Two ranks count in a word of a third, one swaps by what it fetched, and the owner reads the word
/// when both have said that they are done.
inline Draft atomic_sample() {
  Draft d;
  d.ranks = 3;
  const BufferId word = d.buffer(0, 8);
  const BufferId seen = d.buffer(0, 8);
  const BufferId first = d.buffer(1, 16);
  const BufferId second = d.buffer(2, 8);
  const ChannelId from_1 = d.channel(1, 0);
  const ChannelId from_2 = d.channel(2, 0);
  d.pre.push_back({{word, 0, 8}, ValueId(0), 0});
  const OpId done_1 = d.recv(from_1);
  const OpId done_2 = d.recv(from_2);
  const OpId look = d.copy(0, {word, 0, 8}, {seen, 0, 8});
  d.edge(done_1, look);
  d.edge(done_2, look);
  const OpId add = d.atomic(OpKind::kFetchAdd, from_1, {word, 0, 8}, {{first, 0, 8}});
  const OpId swap = d.atomic(OpKind::kCompareSwap, from_1, {word, 0, 8}, {{first, 8, 8}});
  OpArguments arguments;
  arguments.compare = {Operand::From::kResult, add, 1};
  arguments.operand = {Operand::From::kLiteral, {}, 7};
  d.ops[swap.value].arguments = arguments;
  d.edge(add, swap);
  d.edge(swap, d.send(from_1, {}));
  const OpId other = d.atomic(OpKind::kFetchOr, from_2, {word, 0, 8}, {{second, 0, 8}});
  d.edge(other, d.send(from_2, {}));
  return d;
}

/// Contributions arrive in slots and are reduced in place; the rest of the payload moves on.
inline Draft reduce_sample(std::uint32_t others) {
  constexpr std::uint64_t kBytes = 4;
  Draft d;
  d.ranks = others + 1;
  const BufferId sum = d.buffer(0, kBytes);
  const BufferId slots = d.buffer(0, kBytes * others);
  d.pre.push_back({{sum, 0, kBytes}, ValueId(0), 0});
  std::vector<ChannelId> up;
  std::vector<ChannelId> down;
  for (std::uint32_t r = 1; r <= others; ++r) {
    up.push_back(d.channel(r, 0));
    down.push_back(d.channel(0, r));
  }
  OpId last;
  for (std::uint32_t r = 0; r < others; ++r) {
    const OpId arrived = d.recv(up[r], {{slots, kBytes * r, kBytes}});
    const OpId reduce = d.add(OpKind::kReduce, 0, {},
                              {{sum, 0, kBytes}, {slots, kBytes * r, kBytes}}, {{sum, 0, kBytes}});
    d.edge(arrived, reduce);
    if (last.valid()) d.edge(last, reduce);
    last = reduce;
  }
  for (std::uint32_t r = 0; r < others; ++r) d.edge(last, d.send(down[r], {{sum, 0, kBytes}}));
  for (std::uint32_t r = 1; r <= others; ++r) {
    const BufferId own = d.buffer(r, kBytes);
    d.pre.push_back({{own, 0, kBytes}, ValueId(r), 0});
    const OpId sent = d.send(up[r - 1], {{own, 0, kBytes}});
    const OpId result = d.recv(down[r - 1], {{own, 0, kBytes}});
    d.edge(sent, result);
  }
  return d;
}

/// Every pattern that takes any number of ranks, lowered in every way, for small sizes.
inline std::vector<SampleDraft> lowered_samples() {
  std::vector<SampleDraft> samples;
  const auto add = [&](const PatternEntry& pattern, std::uint32_t ranks, std::uint64_t bytes,
                       const TransferOptions& transfers, const CreditOptions& credits) {
    MulticastOptions options;
    options.ranks = ranks;
    options.bytes = bytes;
    options.block_bytes = 3;
    if (pattern.name == "hybrid") {
      for (std::uint32_t r = 0; r < ranks; ++r) options.rack_of_rank.push_back(r / 2);
    }
    const Schedule schedule =
        lower_credits(lower_transfers(pattern.plan(options), transfers), credits);
    samples.push_back(
        {std::string(pattern.name) + " " + std::to_string(samples.size()), Draft::from(schedule)});
  };
  for (const PatternEntry& pattern : plan_patterns()) {
    for (const Ready ready : {Ready::kNone, Ready::kSend, Ready::kWrite}) {
      const CreditOptions credits{ready, Start::kPairwise, 1};
      add(pattern, 3, 8, {}, credits);
      add(pattern, 4, 6, {Lowering::kPut, 1, false}, credits);
      add(pattern, 3, 9, {Lowering::kSend, 2, true}, {ready, Start::kAll, 2});
    }
  }
  return samples;
}

/// What no pattern has: buffers used again, flags, gets, atomics, reductions.
inline std::vector<SampleDraft> handmade_samples() {
  return {{"ring 1", ring_sample(1, 4)}, {"ring 2", ring_sample(2, 5)},
          {"flags", flag_sample(3)},     {"gets", get_sample(3)},
          {"atomics", atomic_sample()},  {"reduce", reduce_sample(3)}};
}

/// Allreduces whose contract says what is summed: ranks tell each other their sums, fold into
/// others, reduce along a tree, and pass shares round.
inline std::vector<SampleDraft> summing_samples() {
  std::vector<SampleDraft> samples;
  for (const auto& [by, ranks, bytes] :
       {std::tuple("recursive-doubling", 3u, 4u), std::tuple("recursive-doubling", 4u, 6u),
        std::tuple("bruck", 5u, 4u), std::tuple("binomial-tree", 4u, 4u),
        std::tuple("ring", 3u, 6u)}) {
    MulticastOptions options;
    options.ranks = ranks;
    options.bytes = bytes;
    options.block_bytes = 4;
    const Schedule schedule = lower_credits(lower_collective(allreduce_plan(options, by)));
    samples.push_back({std::string("allreduce by ") + by, Draft::from(schedule)});
  }
  return samples;
}

}  // namespace slackline::testing
