// Of which requests puts and gets are made, and when the last of them may be posted.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hw/executor.h"
#include "tests/hw/loop_ranks.h"
#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

using hw::RequestKind;

// One put or get between buffers of 1000 bytes, 0 of rank 0 and 1 of rank 1, with facts that say
// what it brings. Of a put with a notice, its receive or poll.
struct OneSided : Draft {
  ChannelId there;
  OpId first{0};

  OneSided(OpKind kind, const std::vector<Slice>& reads, const std::vector<Slice>& writes,
           Notify notify = Notify::kNone) {
    ranks = 2;
    buffer(0, 1000);
    buffer(1, 1000);
    there = channel(0, 1);
    add(kind, 0, there, reads, writes, notify);
    if (notify == Notify::kImm) recv(there);
    if (notify == Notify::kFlag) flag(first, poll(1, {{writes.back()}}));
    std::uint64_t at = 0;
    for (const Slice& slice : reads) {
      pre.push_back({slice, ValueId(0), at});
      at += slice.bytes;
    }
    at = 0;
    for (const Slice& slice : writes) {
      post.push_back({slice, ValueId(0), at});
      at += slice.bytes;
    }
  }
};

std::vector<Slice> slices(std::uint32_t buffer,
                          const std::vector<std::array<std::uint64_t, 2>>& places) {
  std::vector<Slice> made;
  for (const auto& [offset, bytes] : places) made.push_back({BufferId(buffer), offset, bytes});
  return made;
}

// What rank 0 posted, when all ran well: offsets in rank 1's buffer 1.
std::vector<std::uint64_t> offsets(const Draft& draft, bool ordered_writes = true) {
  const Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.transport(0).ordered_writes = ordered_writes;
  ranks.set_up(plain);
  ranks.begin();
  EXPECT_TRUE(ranks.finish());
  ranks.expect_proved();
  const auto base =
      std::bit_cast<std::uint64_t>(ranks.executor(1).memory().at({BufferId(1), 0, 1}).data());
  std::vector<std::uint64_t> found;
  for (const hw::WorkRequest& request : ranks.transport(0).posted) {
    EXPECT_TRUE(request.signalled);
    found.push_back(request.remote.address - base);
  }
  return found;
}

using Offsets = std::vector<std::uint64_t>;

TEST(PutRequests, OneRunOfRemoteMemoryIsOneRequest) {
  // A transport takes four segments a request.
  const std::vector<Slice> apart = slices(0, {{0, 10}, {20, 10}, {40, 5}, {90, 15}});
  for (const Notify notify : {Notify::kNone, Notify::kImm, Notify::kFlag}) {
    for (const bool ordered : {true, false}) {
      EXPECT_EQ(offsets(OneSided(OpKind::kPut, apart, slices(1, {{100, 40}}), notify), ordered),
                Offsets{100});
      // Two slices that lie in one run.
      EXPECT_EQ(offsets(OneSided(OpKind::kPut, slices(0, {{0, 40}}),
                                 slices(1, {{100, 15}, {115, 25}}), notify),
                        ordered),
                Offsets{100});
    }
  }
  OneSided get(OpKind::kGet, slices(1, {{100, 40}}), apart);
  EXPECT_EQ(offsets(get), Offsets{100});
}

TEST(PutRequests, ARequestHasAsManySegmentsAsTheTransportTakes) {
  std::vector<std::array<std::uint64_t, 2>> places;
  Offsets expected;
  std::uint64_t bytes = 0;
  for (std::uint64_t count = 1; count <= 13; ++count) {
    if (count % 4 == 1) expected.push_back(100 + bytes);
    places.push_back({50 * count, count});
    bytes += count;
    const std::vector<Slice> target = slices(1, {{100, bytes}});
    EXPECT_EQ(offsets(OneSided(OpKind::kPut, slices(0, places), target)), expected);
    EXPECT_EQ(offsets(OneSided(OpKind::kGet, target, slices(0, places))), expected);
    for (const Notify notify : {Notify::kImm, Notify::kFlag}) {
      for (const bool ordered : {true, false}) {
        EXPECT_EQ(offsets(OneSided(OpKind::kPut, slices(0, places), target, notify), ordered),
                  expected);
      }
    }
  }
}

TEST(PutRequests, RunsApartAreRequestsApart) {
  const std::vector<Slice> source = slices(0, {{0, 40}});
  // A gap, a step back, and a place taken twice.
  EXPECT_EQ(offsets(OneSided(OpKind::kPut, source, slices(1, {{100, 10}, {111, 30}}))),
            (Offsets{100, 111}));
  EXPECT_EQ(offsets(OneSided(OpKind::kPut, source, slices(1, {{100, 10}, {90, 10}, {200, 20}}))),
            (Offsets{100, 90, 200}));
  OneSided twice(OpKind::kGet, slices(1, {{100, 20}, {100, 20}}), slices(0, {{0, 20}, {20, 20}}));
  twice.pre.pop_back();
  twice.post[1].value_offset = 0;
  EXPECT_EQ(offsets(twice), (Offsets{100, 100}));
  // Runs of several segments each.
  EXPECT_EQ(offsets(OneSided(OpKind::kPut, slices(0, {{0, 5}, {10, 5}, {20, 5}, {30, 5}}),
                             slices(1, {{100, 10}, {200, 10}}))),
            (Offsets{100, 200}));
}

TEST(PutRequests, SlicesWithoutBytesAreNotThere) {
  EXPECT_EQ(offsets(OneSided(OpKind::kPut, slices(0, {{0, 0}, {0, 20}, {9, 0}, {20, 20}}),
                             slices(1, {{7, 0}, {100, 40}, {200, 0}}), Notify::kImm),
                    false),
            Offsets{100});
  EXPECT_EQ(offsets(OneSided(OpKind::kPut, slices(0, {{0, 0}}), slices(1, {{7, 0}}))), Offsets{});
}

// Memory of another registration is another run, wherever it lies.
TEST(PutRequests, ARunHasOneKey) {
  for (const std::uint64_t key : {5u, 6u}) {
    OneSided draft(OpKind::kPut, slices(0, {{0, 40}}), {});
    draft.post.clear();
    draft.buffers[1].bytes = 16;
    draft.buffer(1, 24);
    draft.ops[0].writes = {{BufferId(1), 0, 16}, {BufferId(2), 0, 24}};
    const Schedule schedule = draft.build();
    std::array<std::byte, 40> memory{};
    const auto address = std::bit_cast<std::uint64_t>(memory.data());
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ranks.set_up([&](std::uint32_t rank) {
      hw::ExecutorOptions options;
      if (rank == 0) return options;
      options.memory.push_back({BufferId(1), std::span(memory).first(16), {1, {address, 5}}});
      options.memory.push_back(
          {BufferId(2), std::span(memory).subspan(16), {1, {address + 16, key}}});
      return options;
    });
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    const auto& posted = ranks.transport(0).posted;
    ASSERT_EQ(posted.size(), key == 5 ? 1u : 2u);
    EXPECT_EQ(posted.front().remote.key, 5u);
    EXPECT_EQ(posted.back().remote.key, key);
    for (std::size_t b = 0; b < memory.size(); ++b) EXPECT_EQ(memory[b], value_byte(ValueId(0), b));
  }
}

// A put in three runs of memory.
Draft in_three(Notify notify) {
  return OneSided(OpKind::kPut, slices(0, {{0, 60}}), slices(1, {{100, 10}, {200, 20}, {300, 30}}),
                  notify);
}

std::vector<RequestKind> kinds_of(const std::vector<hw::WorkRequest>& requests) {
  std::vector<RequestKind> kinds;
  for (const hw::WorkRequest& request : requests) kinds.push_back(request.kind);
  return kinds;
}

constexpr RequestKind kWrite = RequestKind::kWrite;
using Kinds = std::vector<RequestKind>;

TEST(PutRequests, WhereWritesAreOrderedTheLastFollowsTheOthersAtOnce) {
  for (const Notify notify : {Notify::kNone, Notify::kImm, Notify::kFlag}) {
    for (const bool ordered : {true, false}) {
      const Schedule schedule = in_three(notify).build();
      Loop loop;
      LoopRanks ranks(schedule, loop);
      ranks.transport(0).ordered_writes = ordered;
      ranks.set_up(plain);
      ranks.transport(0).held = true;
      ranks.begin();
      for (int i = 0; i < 10; ++i) ranks.round();
      const RequestKind last = notify == Notify::kImm ? RequestKind::kWriteImm : kWrite;
      const bool waits = !ordered && notify != Notify::kNone;
      EXPECT_EQ(kinds_of(ranks.transport(0).posted),
                waits ? (Kinds{kWrite, kWrite}) : (Kinds{kWrite, kWrite, last}));
      EXPECT_FALSE(ranks.executor(0).finished());
      EXPECT_EQ(ranks.executor(1).finished(), !waits);
      // It is issued when its last request is.
      EXPECT_EQ(std::isinf(ranks.executor(0).times()[0].issued_s), waits);
      ranks.transport(0).held = false;
      ASSERT_TRUE(ranks.finish());
      EXPECT_EQ(kinds_of(ranks.transport(0).posted), (Kinds{kWrite, kWrite, last}));
      ranks.expect_proved();
    }
  }
}

// One completion of two is not enough.
TEST(PutRequests, TheLastWaitsForEveryOther) {
  const Schedule schedule = in_three(Notify::kImm).build();
  Loop loop;
  LoopTransport transport(loop);
  transport.ordered_writes = false;
  hw::ExecutorOptions options;
  options.polls = false;
  options.number = 3;
  hw::Executor source(schedule, RankId(0), transport, options);
  hw::Executor target(schedule, RankId(1), transport);
  source.connect(std::array{source.greeting(), target.greeting()});
  source.begin();
  source.progress();
  for (std::size_t taken = 0; taken < 2; ++taken) {
    ASSERT_EQ(transport.posted.size(), 2u);
    source.take({transport.posted[taken].tag, kWrite, 0, 0});
  }
  ASSERT_EQ(transport.posted.size(), 3u);
  EXPECT_EQ(transport.posted[2].kind, RequestKind::kWriteImm);
  EXPECT_EQ(transport.posted[2].tag, std::uint64_t{3} << 32);
  EXPECT_FALSE(source.finished());
  source.take({transport.posted[2].tag, RequestKind::kWriteImm, 0, 0});
  EXPECT_TRUE(source.finished());
}

// Where completions come in order, only what is waited for says that it is complete; the last piece
// of a put still waits for the others where writes come in no order.
TEST(PutRequests, TheLastWaitsAlsoWhereOthersNeedNotBeSignalled) {
  for (const Notify notify : {Notify::kImm, Notify::kFlag}) {
    for (const bool waited_for : {false, true}) {
      for (const bool ordered : {false, true}) {
        Draft draft = in_three(notify);
        // Another put behind, which waits for the first to be done, or not.
        const DraftOp behind = draft.ops.back();
        draft.ops.pop_back();
        const OpId second = draft.put(ChannelId(0), {BufferId(0), 0, 10}, {BufferId(1), 500, 10});
        if (waited_for) draft.edge(OpId(0), second);
        draft.ops.push_back(behind);
        for (auto& [put, poll] : draft.flags) poll = OpId(2);
        draft.post.push_back({{BufferId(1), 500, 10}, ValueId(0), 0});
        const Schedule schedule = draft.build();
        Loop loop;
        LoopRanks ranks(schedule, loop);
        ranks.transport(0).in_order = true;
        ranks.transport(0).ordered_writes = ordered;
        ranks.set_up(plain);
        ranks.begin();
        for (int i = 0; i < 100; ++i) ranks.round();
        EXPECT_TRUE(ranks.executor(0).finished() && ranks.executor(1).finished());
        std::vector<bool> signalled;
        for (const hw::WorkRequest& request : ranks.transport(0).posted) {
          signalled.push_back(request.signalled);
        }
        EXPECT_EQ(signalled, ordered ? (std::vector{false, false, waited_for, true})
                                     : (std::vector{false, true, true, true}));
        ranks.expect_proved();
      }
    }
  }
}

// Messages keep their order though the first one's notice waits.
TEST(PutRequests, ALaterNoticeDoesNotOvertake) {
  Draft draft = in_three(Notify::kImm);
  draft.ops.pop_back();
  draft.put(ChannelId(0), {BufferId(0), 0, 10}, {BufferId(1), 500, 10}, Notify::kImm);
  draft.recv(ChannelId(0));
  draft.recv(ChannelId(0));
  const Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.transport(0).ordered_writes = false;
  ranks.set_up(plain);
  ranks.begin();
  ASSERT_TRUE(ranks.finish());
  const auto& posted = ranks.transport(0).posted;
  EXPECT_EQ(kinds_of(posted),
            (Kinds{kWrite, kWrite, RequestKind::kWriteImm, RequestKind::kWriteImm}));
  EXPECT_EQ(posted[2].immediate, 0u);
  EXPECT_EQ(posted[3].immediate, 1u);
}

// The address that a run found counts for the last piece, too.
TEST(PutRequests, TheLastGoesWhereTheOthersWent) {
  for (const bool ordered : {false, true}) {
    Draft draft = in_three(Notify::kImm);
    const DraftOp receive = draft.ops.back();
    draft.ops.pop_back();
    DraftOp put = draft.ops.back();
    draft.ops.pop_back();
    const BufferId word = draft.buffer(1, 8);
    const OpId added = draft.atomic(OpKind::kFetchAdd, ChannelId(0), {word, 0, 8});
    OpArguments arguments;
    arguments.operand = {Operand::From::kLiteral, OpId::none(), 40};
    draft.ops.back().arguments = arguments;
    const OpId found = draft.atomic(OpKind::kFetchAdd, ChannelId(0), {word, 0, 8});
    draft.edge(added, found);
    arguments = {};
    arguments.address_offset = {Operand::From::kResult, found, 1};
    put.arguments = arguments;
    draft.ops.push_back(put);
    draft.edge(found, OpId(2));
    draft.ops.push_back(receive);
    for (Fact& fact : draft.post) fact.slice.offset += 40;
    const Schedule schedule = draft.build();
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ranks.transport(0).ordered_writes = ordered;
    ranks.set_up(plain);
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    ranks.expect_proved();
  }
}

}  // namespace
}  // namespace slackline::testing
