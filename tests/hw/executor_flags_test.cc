// Flags in the executor: which polls lower theirs, which flags are refused, and what another
// iteration sees of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/executor.h"
#include "tests/hw/loop_ranks.h"
#include "tests/support/draft.h"
#include "tests/support/error_of.h"

namespace slackline::testing {
namespace {

using ::testing::HasSubstr;

// Rank 0 puts into each of these slices of rank 1's two buffers of 4 bytes, and rank 1 polls them
// all, in this order.
Draft polled(const std::vector<Slice>& flags) {
  Draft draft;
  draft.ranks = 2;
  const ChannelId there = draft.channel(0, 1);
  draft.buffer(1, 4);
  draft.buffer(1, 4);
  const BufferId from = draft.buffer(0, 4);
  std::vector<OpId> puts;
  for (const Slice& flag : flags) {
    puts.push_back(draft.put(there, {from, 0, flag.bytes}, flag, Notify::kFlag));
  }
  for (std::size_t f = 0; f < flags.size(); ++f) draft.flag(puts[f], draft.poll(1, {flags[f]}));
  return draft;
}

std::string error_of(const Schedule& schedule) {
  return testing::error_of([&] { const hw::RankProgram program(schedule, RankId(1)); });
}

std::vector<Slice> small_slices() {
  std::vector<Slice> slices;
  for (std::uint32_t buffer = 0; buffer < 2; ++buffer) {
    for (std::uint64_t offset = 0; offset < 4; ++offset) {
      for (std::uint64_t bytes = 1; offset + bytes <= 4; ++bytes) {
        slices.push_back({BufferId(buffer), offset, bytes});
      }
    }
  }
  return slices;
}

bool share(const Slice& a, const Slice& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// All choices of three flags.
TEST(ExecutorFlags, AreTheSameBytesOrShareNone) {
  const std::vector<Slice> slices = small_slices();
  int refused = 0;
  for (const Slice& a : slices) {
    for (const Slice& b : slices) {
      for (const Slice& c : slices) {
        const std::array<Slice, 3> flags{a, b, c};
        const Schedule schedule = polled({a, b, c}).build();
        bool overlap = false;
        std::array<bool, 3> again{};
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = i + 1; j < 3; ++j) {
            overlap = overlap || (share(flags[i], flags[j]) && flags[i] != flags[j]);
            again[i] = again[i] || flags[i] == flags[j];
          }
        }
        if (overlap) {
          ++refused;
          ASSERT_THAT(error_of(schedule), HasSubstr("expected the same bytes or none of them"));
          continue;
        }
        const hw::RankProgram program(schedule, RankId(1));
        // Only a poll that another one follows lowers what it saw.
        for (std::uint32_t i = 0; i < 3; ++i) ASSERT_EQ(program.clears_flag(i), again[i]);
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(ExecutorFlags, ThatOverlapAreNamed) {
  const Schedule schedule =
      polled({{BufferId(0), 0, 1}, {BufferId(0), 2, 2}, {BufferId(0), 1, 2}}).build();
  EXPECT_EQ(error_of(schedule),
            "op 4 (poll, rank 1) polls bytes [2, 4) of buffer 0 on rank 1, and op 5 (poll, rank 1) "
            "polls bytes [1, 3) of buffer 0 on rank 1; expected the same bytes or none of them");
}

// The first message of these texts is the verifier's; the executor asks without a proof, too.
TEST(ExecutorFlags, AreTheLastBytesOfTheirPut) {
  Draft draft = polled({{BufferId(0), 0, 4}});
  const auto with = [&](const std::vector<Slice>& reads) {
    draft.ops.back().reads = reads;
    return error_of(draft.build());
  };
  EXPECT_EQ(with({{BufferId(0), 3, 1}}), "");
  EXPECT_THAT(with({{BufferId(0), 0, 3}}), HasSubstr("expected the end of bytes [0, 4)"));
  EXPECT_THAT(with({{BufferId(1), 3, 1}}), HasSubstr("expected the end of bytes [0, 4)"));
  EXPECT_THAT(with({{BufferId(0), 2, 1}, {BufferId(0), 3, 1}}), HasSubstr("looks at 2 slices"));
  EXPECT_THAT(with({}), HasSubstr("looks at 0 slices"));
  draft.flags.clear();
  EXPECT_THAT(with({{BufferId(0), 3, 1}}), HasSubstr("op 1 (poll, rank 1) has no match"));
}

// It may come again, so it must not see what it saw before.
TEST(ExecutorFlags, OfAPollInARegionAreLowered) {
  for (const bool in_region : {false, true}) {
    const Draft draft = polled({{BufferId(0), 0, 4}, {BufferId(1), 0, 4}});
    ScheduleBuilder builder(2);
    for (const Buffer& buffer : draft.buffers) builder.add_buffer(buffer.rank, buffer.bytes);
    builder.add_channel(draft.channels[0]);
    for (const DraftOp& op : draft.ops) {
      Op made = op.op;
      made.reads = builder.add_slices(op.reads);
      made.writes = builder.add_slices(op.writes);
      builder.add(made);
    }
    for (const auto& [put, poll] : draft.flags) builder.add_flag_match(put, poll);
    if (in_region) {
      Region region;
      region.kind = RegionKind::kAlt;
      region.entry = OpId(3);
      region.count = 1;
      region.p = PartsPerMillion{500'000};
      builder.add_region(region);
    }
    const Schedule schedule = builder.build();
    const hw::RankProgram program(schedule, RankId(1));
    EXPECT_FALSE(program.clears_flag(0));
    EXPECT_EQ(program.clears_flag(1), in_region);
  }
}

// Two puts into the same bytes, the second when an answer to the first is there.
TEST(ExecutorFlags, TheSecondPollWaitsForTheSecondPut) {
  Draft draft;
  draft.ranks = 2;
  const ChannelId there = draft.channel(0, 1);
  const ChannelId back = draft.channel(1, 0);
  const BufferId from = draft.buffer(0, 16);
  const Slice flag{draft.buffer(1, 8), 0, 8};
  const BufferId sink = draft.buffer(1, 16);
  const OpId first_put = draft.put(there, {from, 0, 8}, flag, Notify::kFlag);
  const OpId answer = draft.recv(back);
  const OpId second_put = draft.put(there, {from, 8, 8}, flag, Notify::kFlag);
  draft.edge(answer, second_put);
  const OpId first_poll = draft.poll(1, {flag});
  const OpId first_copy = draft.copy(1, flag, {sink, 0, 8});
  const OpId told = draft.send(back);
  const OpId second_poll = draft.poll(1, {{flag.buffer, 0, 8}});
  const OpId second_copy = draft.copy(1, flag, {sink, 8, 8});
  draft.edge(first_poll, first_copy);
  draft.edge(first_copy, told);
  draft.edge(told, second_poll);
  draft.edge(second_poll, second_copy);
  draft.flag(first_put, first_poll);
  draft.flag(second_put, second_poll);
  draft.pre.push_back({{from, 0, 16}, ValueId(0), 0});
  draft.post.push_back({{sink, 8, 8}, ValueId(0), 8});
  const Schedule schedule = draft.build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up(plain);
  const hw::RankProgram& program = ranks.executor(1).program();
  EXPECT_TRUE(program.clears_flag(0));
  EXPECT_FALSE(program.clears_flag(3));
  ranks.begin();
  for (int i = 0; i < 10; ++i) ranks.executor(0).progress();
  for (int i = 0; i < 10; ++i) ranks.executor(1).progress();
  // The first put was seen, and the second one is not posted yet.
  EXPECT_EQ(ranks.executor(1).first_unfinished(), second_poll);
  EXPECT_TRUE(ranks.executor(1).watches_memory());
  ASSERT_TRUE(ranks.finish());
  EXPECT_FALSE(ranks.executor(1).watches_memory());
  ranks.expect_proved();
}

// One byte that came is not the whole flag.
TEST(ExecutorFlags, AreUpWhenAllTheirBytesAre) {
  const Slice flag{BufferId(0), 0, 4};
  const Schedule schedule = polled({flag}).build();
  Loop loop;
  LoopRanks ranks(schedule, loop);
  ranks.set_up(plain);
  ranks.executor(1).begin();
  for (std::size_t byte = 4; byte-- > 0;) {
    ranks.executor(1).progress();
    EXPECT_FALSE(ranks.executor(1).finished()) << byte;
    ranks.executor(1).memory().at(flag)[byte] = std::byte{1};
  }
  ranks.executor(1).progress();
  EXPECT_TRUE(ranks.executor(1).finished());
}

// What was seen in one iteration must not be seen in the next; no other byte changes without a
// refill.
TEST(ExecutorFlags, AreLoweredBeforeEachIteration) {
  for (const bool refill : {false, true}) {
    Draft draft = polled({{BufferId(0), 0, 4}, {BufferId(1), 1, 2}});
    draft.ops[2].reads = {{BufferId(0), 2, 2}};
    draft.pre.push_back({{BufferId(2), 0, 4}, ValueId(0), 0});
    draft.post.push_back({{BufferId(0), 0, 4}, ValueId(0), 0});
    draft.post.push_back({{BufferId(1), 1, 2}, ValueId(0), 0});
    const Schedule schedule = draft.build();
    Loop loop;
    LoopRanks ranks(schedule, loop);
    ranks.set_up(plain);
    ranks.begin();
    ASSERT_TRUE(ranks.finish());
    ranks.expect_proved();
    const auto bytes = [&](std::uint32_t buffer) {
      const auto at = ranks.executor(1).memory().at({BufferId(buffer), 0, 4});
      return std::vector<std::byte>(at.begin(), at.end());
    };
    ranks.executor(1).memory().at({BufferId(1), 0, 1})[0] = std::byte{77};
    ranks.executor(1).memory().at({BufferId(1), 3, 1})[0] = std::byte{78};
    const std::vector<std::byte> before = bytes(0);
    for (std::uint32_t r = 0; r < 2; ++r) ranks.executor(r).reset(refill);
    EXPECT_EQ(bytes(0)[1], refill ? std::byte{0} : before[1]);
    EXPECT_EQ(bytes(1),
              refill ? std::vector<std::byte>(4)
                     : (std::vector{std::byte{77}, std::byte{0}, std::byte{0}, std::byte{78}}));
    ranks.executor(1).begin();
    for (int i = 0; i < 10; ++i) ranks.executor(1).progress();
    EXPECT_EQ(ranks.executor(1).first_unfinished(), OpId(2)) << refill;
    ranks.executor(0).begin();
    ASSERT_TRUE(ranks.finish());
    ranks.expect_proved();
  }
}

// Nobody fills what is given with zeros.
TEST(ExecutorFlags, AreInMemoryOfOnesOwn) {
  const Schedule schedule = polled({{BufferId(0), 0, 4}}).build();
  Loop loop;
  LoopTransport transport(loop);
  std::array<std::byte, 4> elsewhere{};
  for (const std::uint32_t given : {0u, 1u}) {
    hw::ExecutorOptions options;
    options.memory.push_back({BufferId(given), elsewhere, {}});
    const auto make = [&] { hw::Executor executor(schedule, RankId(1), transport, options); };
    if (given == 1) {
      EXPECT_NO_THROW(make());
      continue;
    }
    EXPECT_THAT(testing::error_of<InternalError>(make),
                HasSubstr("op 1 (poll, rank 1) polls buffer 0, which is given"));
  }
}

}  // namespace
}  // namespace slackline::testing
