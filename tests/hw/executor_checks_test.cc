// What the executor looks at itself, whether there was a proof or not: how much a message brought,
// and where atomics find their words.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "hw/executor.h"
#include "tests/hw/loop_ranks.h"
#include "tests/support/draft.h"
#include "tests/support/error_of.h"

namespace slackline::testing {
namespace {

using ::testing::HasSubstr;

// Empty if the run ended well.
std::string error_of(const Draft& draft, bool bitwise = true) {
  const Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  for (std::uint32_t r = 0; r < draft.ranks; ++r) ranks.transport(r).bitwise = bitwise;
  return testing::error_of([&] {
    ranks.set_up(plain);
    ranks.begin();
    EXPECT_TRUE(ranks.finish());
  });
}

TEST(ExecutorChecks, AMessageHasAsManyBytesAsItsReceive) {
  for (const std::uint64_t sent : {0u, 1u, 11u, 12u, 13u, 20u}) {
    Draft draft;
    draft.ranks = 2;
    const ChannelId there = draft.channel(0, 1);
    const BufferId from = draft.buffer(0, 20);
    const BufferId to = draft.buffer(1, 20);
    draft.send(there, {{from, 0, sent}});
    draft.recv(there, {{to, 0, 5}, {to, 10, 7}});
    EXPECT_EQ(error_of(draft), sent == 12 ? ""
                                          : "op 1 (recv, rank 1) took " + std::to_string(sent) +
                                                " bytes; expected 12: `check` lists what is wrong");
  }
}

// How many bytes a write brought is not told, and its receive has none.
TEST(ExecutorChecks, APutIsNotMeasured) {
  for (const std::uint64_t bytes : {0u, 8u}) {
    Draft draft;
    draft.ranks = 2;
    const ChannelId there = draft.channel(0, 1);
    const Slice from{draft.buffer(0, 8), 0, bytes};
    const Slice to{draft.buffer(1, 8), 0, bytes};
    draft.put(there, from, to, Notify::kImm);
    draft.recv(there, {to});
    EXPECT_EQ(error_of(draft), "");
  }
}

// An atomic of a word at `at`, `shift` bytes on.
Draft atomic(OpKind kind, std::uint64_t at, std::uint64_t shift) {
  Draft draft;
  draft.ranks = 2;
  const ChannelId there = draft.channel(0, 1);
  const BufferId words = draft.buffer(1, 64);
  draft.atomic(kind, there, {words, at, 8});
  OpArguments arguments;
  arguments.operand = {Operand::From::kLiteral, OpId::none(), 1};
  if (kind == OpKind::kCompareSwap) arguments.compare = arguments.operand;
  if (shift != 0) arguments.address_offset = {Operand::From::kLiteral, OpId::none(), shift};
  draft.ops.back().arguments = arguments;
  return draft;
}

constexpr std::array kAtomics{OpKind::kFetchAdd, OpKind::kFetchAnd, OpKind::kFetchOr,
                              OpKind::kFetchXor, OpKind::kCompareSwap};

TEST(ExecutorChecks, WordsBeginAtMultiplesOfEight) {
  for (const OpKind kind : kAtomics) {
    for (const bool bitwise : {false, true}) {
      for (std::uint64_t at = 0; at <= 17; ++at) {
        for (const std::uint64_t shift : {0u, 3u, 8u}) {
          const std::string error = error_of(atomic(kind, at, shift), bitwise);
          if ((at + shift) % 8 == 0) {
            EXPECT_EQ(error, "");
          } else {
            EXPECT_THAT(error, HasSubstr("works on a word at byte " + std::to_string(at + shift) +
                                         " of its buffer; expected a multiple of 8"));
          }
        }
      }
    }
  }
}

// A fixed place is known before the run, and no rank begins.
TEST(ExecutorChecks, AWordThatIsNotAlignedIsRefusedBeforeTheRun) {
  const Schedule schedule = atomic(OpKind::kFetchAdd, 12, 0).build();
  Loop loop;
  LoopTransport transport(loop);
  EXPECT_THROW(hw::Executor(schedule, RankId(0), transport), InputError);
  EXPECT_NO_THROW(hw::Executor(schedule, RankId(1), transport));
}

// Where the address is found in the run: a word that holds `found` says it.
TEST(ExecutorChecks, AnAddressThatTheRunFindsIsLookedAt) {
  const auto run = [](OpKind kind, std::uint64_t at, std::uint64_t found) {
    Draft draft = atomic(OpKind::kFetchAdd, 0, 0);
    draft.ops[0].arguments->operand.value = found;
    OpArguments arguments = *draft.ops[0].arguments;
    arguments.operand.value = 0;
    const OpId second = draft.atomic(OpKind::kFetchAdd, ChannelId(0), {BufferId(0), 0, 8});
    draft.ops.back().arguments = arguments;
    draft.edge(OpId(0), second);
    const BufferId here = draft.buffer(0, 8);
    const OpId third =
        kind == OpKind::kPut   ? draft.put(ChannelId(0), {here, 0, 8}, {BufferId(0), at, 8})
        : kind == OpKind::kGet ? draft.get(ChannelId(0), {BufferId(0), at, 8}, {here, 0, 8})
                               : draft.atomic(kind, ChannelId(0), {BufferId(0), at, 8});
    if (kind == OpKind::kPut || kind == OpKind::kGet) arguments = {};
    arguments.address_offset = {Operand::From::kResult, second, 1};
    draft.ops.back().arguments = arguments;
    draft.edge(second, third);
    return error_of(draft);
  };
  for (const std::uint64_t at : {0u, 4u, 8u}) {
    for (const std::uint64_t found : {0u, 4u, 8u, 12u, 48u, 52u, 56u, 60u, 64u}) {
      const bool inside = at + found + 8 <= 64;
      const std::string outside = fmt::format(
          "op 2 (fetch_add, rank 0) acts on 8 bytes at {} + {} of buffer 0, which has 64", at,
          found);
      const std::string error = run(OpKind::kFetchAdd, at, found);
      if (!inside) {
        EXPECT_EQ(error, outside);
      } else if ((at + found) % 8 == 0) {
        EXPECT_EQ(error, "");
      } else {
        EXPECT_THAT(error, HasSubstr("works on a word at byte " + std::to_string(at + found)));
      }
      // Only words need to be aligned.
      for (const OpKind kind : {OpKind::kPut, OpKind::kGet}) {
        EXPECT_EQ(run(kind, at, found).empty(), inside);
      }
    }
  }
}

}  // namespace
}  // namespace slackline::testing
