// GOAL as bytes: read as its text is, and nothing believed that the bytes only say.
#include "sched/export/goal_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/export/goal.h"
#include "sched/import/goal.h"
#include "tests/support/error_of.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::StartsWith;

TEST(GoalBinary, ReadsAsTheTextDoesAndComesBackAsTheSameText) {
  int written = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Schedule schedule = testing::random_schedule(seed, 8);
    std::string text;
    Schedule of_text = testing::small_chain();
    try {
      text = write_goal(schedule);
      of_text = read_goal(text);
    } catch (const Error&) {
      continue;
    }
    ++written;
    const Schedule of_bytes = read_goal_binary(write_goal_binary(schedule));
    ASSERT_EQ(of_bytes.digest(), of_text.digest()) << seed << '\n' << text;
    const std::string again = write_goal(of_text);
    ASSERT_EQ(write_goal(read_goal_binary(write_goal_binary(of_text))),
              write_goal(read_goal(again)))
        << seed;
  }
  EXPECT_GT(written, 50);
}

TEST(GoalBinary, TextToBytesToTextIsEqual) {
  for (const char* spec :
       {"chain:ranks=4,bytes=13KiB,block=4KiB", "binomial-pipeline:ranks=6,bytes=16KiB,block=4KiB",
        "allreduce:ranks=5,bytes=20KiB", "chain:ranks=1,bytes=1KiB"}) {
    const Schedule program = read_goal(write_goal(compile(parse_spec(spec))));
    EXPECT_EQ(write_goal(read_goal_binary(write_goal_binary(program))), write_goal(program))
        << spec;
  }
}

// Two ranks: 0 computes, then sends 8 bytes; 1 receives them.
//
//   0 head, 14 table, 46 rank 0: 2 nodes, 1 root, [54] root 0, [58] node 0, [97] node 1,
//   [136] the arc; 140 rank 1: 1 node, 1 root, [148] root 0, [152] node 0; 191 end.
std::string program() {
  return write_goal_binary(
      read_goal("num_ranks 2\nrank 0 {\na: calc 5 cpu 1\nb: send 8b to 1 tag 3\nb requires a\n}\n"
                "rank 1 {\nrecv 8b from 0 tag 3\n}\n"));
}

template <class T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

std::string error_of(const std::string& bytes) {
  return testing::error_of<Error>([&] { read_goal_binary(bytes, "x.bin"); });
}

TEST(GoalBinary, RefusesWhatItsNumbersDoNotAgreeOn) {
  const std::string good = program();
  ASSERT_EQ(good.size(), 191u);
  ASSERT_EQ(error_of(good), "");
  using U8 = std::uint8_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {good.substr(0, 10), "x.bin: byte 8: the head ends too early; expected 4 bytes more"},
      {with(good, 0, U64{2342}), "x.bin: byte 0: a run of LogGOPSim with --save-mem has spoilt it"},
      {with(good, 8, U32{0}), "x.bin: byte 8: 0 ranks; expected 1 to 16777216"},
      {with(good, 8, U32{12}), "x.bin: byte 8: 12 ranks; expected"},
      {with(good, 8, U32{0xffffffff}), "x.bin: byte 8: 4294967295 ranks; expected"},
      {with(good, 12, U8{0}), "x.bin: byte 58: cpu 1 and nic 0; expected at most 0 and 0"},
      {with(good, 14, U64{39}), "x.bin: byte 14: the block of rank 0 is from byte 39 to 132"},
      {with(good, 22, ~U64{0}), "x.bin: byte 14: the block of rank 0 is from byte 38 to 1844674"},
      {with(good, 22, U64{0}), "x.bin: byte 14: the block of rank 0 is from byte 38 to 0"},
      {with(good, 30, U64{38}), "x.bin: byte 30: the block of rank 1 is from byte 38 to 183"},
      {with(good, 38, U64{182}), "x.bin: byte 140: 1 nodes, 1 of them roots; expected what 42 by"},
      {good + "x", "x.bin: byte 191: 1 bytes behind the last rank's block; expected the file's"},
      {with(good, 46, U32{3}), "x.bin: byte 46: 3 nodes, 1 of them roots; expected what 86 bytes"},
      {with(good, 46, ~U32{0}), "x.bin: byte 46: 4294967295 nodes"},
      {with(good, 46, U32{1}), "x.bin: byte 46: 43 bytes are left for arcs of 4"},
      {with(good, 50, U32{3}), "x.bin: byte 46: 2 nodes, 3 of them roots"},
      {with(good, 50, U32{2}), "x.bin: byte "},
      {with(good, 54, U32{1}), "x.bin: byte 54: node 1 as a root that has arcs into it"},
      {with(good, 54, U32{7}), "x.bin: byte 54: a root names node 7; expected 0 to 1"},
      {with(good, 58, U32{1}), "x.bin: byte 58: a node that waits for 1 arcs, but 0 lead to it"},
      {with(good, 97, U32{0}), "x.bin: byte 97: a node that waits for 0 arcs, but 1 lead to it"},
      {with(good, 62, U8{4}), "x.bin: byte 58: a node of kind 4; expected 1 (send), 2 (recv)"},
      {with(good, 67, ~U64{0}), "x.bin: byte 58: a calc of 18446744073709551615; expected 0 to"},
      {with(good, 81, U32{2}), "x.bin: byte 81: 2 arcs; expected at most 1, which the block has"},
      {with(good, 81, U32{0}), "x.bin: byte 136: 1 arcs, of which nodes have 0; expected no oth"},
      {with(good, 85, U32{1}), "x.bin: byte 81: arcs from number 1 on; expected 0, behind"},
      {with(good, 136, U32{2}), "x.bin: byte 136: an arc names node 2; expected 0 to 1"},
      {with(good, 102, U32{2}), "x.bin: byte 97: a send with rank 2; expected 0 to 1"},
      {with(good, 102, ~U32{0}), "x.bin: byte 97: a message of any rank (-1) is not supported"},
      {with(good, 114, ~U32{0}), "x.bin: byte 97: a message of any tag (-1) is not supported"},
      {with(good, 106, U64{9}),
       "x.bin: byte 97: the send at byte 97 of rank 0 sends 9 bytes, but "
       "the recv at byte 152 of rank 1 (byte 152) receives 8"},
      {with(good, 114, U32{4}),
       "x.bin: byte 97: the send at byte 97 of rank 0 to rank 1 with tag "
       "4 has no matching recv"},
  };
  for (const auto& [bytes, expected] : cases) EXPECT_THAT(error_of(bytes), StartsWith(expected));
  // Node 1 requires itself, and node 0 nothing.
  std::string itself = with(with(good, 136, U32{1}), 81, U32{0});
  itself = with(with(itself, 120, U32{1}), 124, U32{0});
  EXPECT_THAT(error_of(itself),
              StartsWith("x.bin: byte 97: dependency cycle in rank 0: the send at byte 97 requires "
                         "the send at byte 97; expected none"));
}

TEST(GoalBinary, EveryPrefixAndEveryChangedByteReadsOrIsRefused) {
  const auto attempt = [](const std::string& bytes) {
    try {
      const Schedule s = read_goal_binary(bytes);
      ASSERT_EQ(read_goal_binary(write_goal_binary(s)).op_count(), s.op_count());
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
    }
  };
  std::string bytes = program();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_NE(error_of(bytes.substr(0, n)), "") << n;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char kept = bytes[i];
    for (int c = 0; c < 256; ++c) {
      bytes[i] = static_cast<char>(c);
      attempt(bytes);
    }
    bytes[i] = kept;
  }
}

}  // namespace
}  // namespace slackline::sched
