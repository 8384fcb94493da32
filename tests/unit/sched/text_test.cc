#include "sched/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "sched/builder.h"
#include "tests/support/error_of.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;
using testing::random_schedule;
using testing::small_chain;
using ::testing::StartsWith;

std::string error_of(const std::string& text) {
  return testing::error_of([&] { read_text(text, "x.sched"); });
}

// A header, two ranks with a buffer each and a channel, and then `rest`.
std::string with_header(const std::string& rest) {
  return "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 100\nbuffer 1 rank 1 bytes 100\n"
         "channel 0 from 0 to 1\n" +
         rest;
}

std::string without_digest(std::string text) {
  const std::size_t begin = text.find("digest ");
  return text.erase(begin, text.find('\n', begin) - begin + 1);
}

TEST(Text, RandomSchedulesComeBackTheSame) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Schedule schedule = random_schedule(seed);
    const std::string text = write_text(schedule);
    const Schedule back = read_text(text);
    ASSERT_EQ(back.digest(), schedule.digest()) << text;
    ASSERT_EQ(write_text(back), text);
    ASSERT_EQ(back.title(), schedule.title());
    // The digest is recomputed, not believed.
    ASSERT_EQ(read_text(without_digest(text)).digest(), schedule.digest());
  }
}

TEST(Text, TheExtremesComeBackTheSame) {
  ScheduleBuilder b(1);
  b.set_title(std::string("\0\n\"\\ \x7f\xff", 8));
  b.set_message_bytes(~0ull);
  constexpr std::uint64_t kMost = ~0ull >> 1;
  b.add_buffer(RankId(0), kMost);
  Op op;
  op.rank = RankId(0);
  op.kind = OpKind::kCopy;
  op.reads = b.add_slice({BufferId(0), kMost - 7, 7});
  op.writes = b.add_slice({BufferId(0), kMost, 0});
  op.lane = 65535;
  op.step = 0xfffffffeu;
  b.add(op);
  op = {};
  op.rank = RankId(0);
  op.kind = OpKind::kDelay;
  b.add(op, {});  // arguments that are all absent are not the same as none
  b.add(op);
  b.add(op, {kForever, {}, {}, {}});
  b.add_pre({{BufferId(0), 0, kMost}, ValueId(0xffffffffu), 0});
  const Schedule schedule = b.build();
  const std::string text = write_text(schedule);
  const Schedule back = read_text(text);
  EXPECT_EQ(back.digest(), schedule.digest());
  EXPECT_EQ(back.title(), schedule.title());
  EXPECT_EQ(write_text(back), text);
}

TEST(Text, ReadsWhatPeopleWrite) {
  const Schedule schedule =
      read_text(with_header("# a comment\r\n"
                            "\trank 0   # another\n"
                            "0 send reads 0[0+50] on 0 after done:1 step 3\n"
                            "  1 calc for 1.5us lane 1\n\n"
                            "rank 1\n2 recv on 0 writes 1[50B+50]"));
  ASSERT_EQ(schedule.op_count(), 3u);
  EXPECT_EQ(schedule.op(OpId(0)).match, OpId(2));
  EXPECT_EQ(schedule.op(OpId(0)).step, 3u);
  EXPECT_EQ(schedule.edges().size(), 1u);
  EXPECT_EQ(schedule.arguments(schedule.op(OpId(1))).duration, Time{1'500'000});
  EXPECT_EQ(schedule.slices(schedule.op(OpId(2)).writes)[0], (Slice{BufferId(1), 50, 50}));
}

TEST(Text, ErrorsNameTheLineAndWhatWasExpected) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x.sched:1: not a schedule; expected 'slackline schedule 1'"},
      {"hello", "x.sched:1: not a schedule; expected 'slackline schedule 1'"},
      {"slackline schedule 2\nwhatever",
       "x.sched:1: file of version 2; this program reads up to 1"},
      {"slackline schedule 0", "x.sched:1: file of version 0; this program reads up to 1"},
      {"slackline schedule 1\n", "x.sched:1: the text ends too early; expected a line 'ranks N'"},
      {"slackline schedule 1\nranks 0", "x.sched:2: ranks: 0 is out of range; expected at least 1"},
      {"slackline schedule 1\nranks 16777217",
       "x.sched:2: ranks: '16777217' does not fit; expected a whole number from 0 to 16777216"},
      {with_header("buffer 3 rank 0 bytes 1"),
       "x.sched:6: buffers are numbered in order; expected buffer 2"},
      {with_header("0 join"),
       "x.sched:6: an operation comes too early; expected 'rank N' before it"},
      {with_header("rank 2"),
       "x.sched:6: rank: '2' does not fit; expected a whole number from 0 to 1"},
      {with_header("rank 1\nrank 0"),
       "x.sched:7: rank 0 comes after rank 1; expected ascending ranks"},
      {with_header("rank 0\n0 jump"),
       "x.sched:7: 'jump' is not known; expected an operation's kind, such as send or recv"},
      {with_header("rank 0\n1 join"), "x.sched:7: ops are numbered in order; expected op 0"},
      {with_header("rank 0\n0 join step 1 step 2"), "x.sched:7: 'step' is given twice"},
      {with_header("rank 0\n0 join step 4294967295"),
       "x.sched:7: step: '4294967295' does not fit; expected a whole number from 0 to 4294967294"},
      {with_header("rank 0\n0 send on 7"),
       "x.sched:7: channel 7 is not defined above; there are 1"},
      {with_header("rank 0\n0 send on 0 reads 0[51+50]"),
       "x.sched:7: '0[51+50]' goes past the end of buffer 0, which has 100 bytes"},
      {with_header("rank 0\n0 send on 0 reads 0[1+18446744073709551615]"),
       "x.sched:7: '0[1+18446744073709551615]' goes past the end of buffer 0, which has 100 bytes"},
      {with_header("rank 0\n0 send on 0 reads 9[0+1]"),
       "x.sched:7: buffer 9 is not defined above; there are 2"},
      {with_header("rank 0\n0 send on 0 reads 0[0-1]"),
       "x.sched:7: '0[0-1]' is not a piece of memory; expected buffer[offset+bytes]"},
      {with_header("rank 0\n0 recv on 0"),
       "x.sched:7: op 0 (recv) of rank 0 is on channel 0, whose destination is rank 1"},
      {with_header("rank 0\n0 join\n1 join after done:9"),
       "x.sched:8: op 9 does not exist; there are 2 operations"},
      {with_header("rank 0\n0 join\nrank 1\n1 join after done:0"), "x.sched:9: an edge joins"},
      {with_header("rank 0\n0 calc for 5 parsecs"), "x.sched:7: for: '5' is not a time; expected"},
      {with_header("title hello"), "x.sched:6: title: expected a text between quotation marks"},
      {with_header("digest 12"), "x.sched:6: digest: '12' is not a digest; expected 32"},
      {with_header("digest 00000000000000000000000000000000"),
       "x.sched:6: the contents have digest "},
      {with_header("channel 1 from 0 to 1 credit_on 9"),
       "x.sched: channel 1 has its credits on channel 9, which does not exist"},
      {with_header("region retry entry 0 count 1"), "x.sched:6: op 0 does not exist; there are 0"},
      {with_header("\x01\xff"), "x.sched:6: '\\x01\\xff' is not known here; expected"},
  };
  for (const auto& [text, expected] : cases) EXPECT_THAT(error_of(text), StartsWith(expected));
}

TEST(Text, ADigestThatDoesNotFitIsRefused) {
  std::string text = write_text(small_chain());
  const std::size_t at = text.find("step 1");
  ASSERT_NE(at, std::string::npos);
  text[at + 5] = '2';
  EXPECT_THAT(error_of(text), HasSubstr("x.sched:2: the contents have digest"));
}

// Damaged text either still reads as a schedule or is an InputError; nothing else may happen.
void try_damaged(const std::string& text) {
  try {
    const Schedule schedule = read_text(text);
    const std::string written = write_text(schedule);
    ASSERT_EQ(write_text(read_text(written)), written);
  } catch (const InputError&) {
  }
}

TEST(Text, EveryPrefixReadsOrIsRefused) {
  const std::string text = write_text(small_chain());
  for (std::size_t n = 0; n + 1 < text.size(); ++n) {
    // With its digest, no part passes for the whole.
    EXPECT_NE(error_of(text.substr(0, n)), "") << n;
    try_damaged(without_digest(text).substr(0, n));
  }
}

TEST(Text, EveryChangedByteReadsOrIsRefused) {
  for (std::string text : {without_digest(write_text(small_chain())),
                           without_digest(write_text(random_schedule(7, 12)))}) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char kept = text[i];
      for (const char c : {'\0', '\n', ' ', '0', '9', 'a', '"', '#', '[', '+', ':', '\x7f', '\xff',
                           static_cast<char>(kept ^ 1), static_cast<char>(kept ^ 0x20)}) {
        text[i] = c;
        try_damaged(text);
      }
      text[i] = kept;
    }
  }
}

TEST(Text, LooksLikeText) {
  EXPECT_TRUE(looks_like_text("slackline schedule 1\n"));
  EXPECT_TRUE(looks_like_text("\n slackline schedule 99\n"));
  EXPECT_FALSE(looks_like_text("{\"schema\":1}"));
  EXPECT_FALSE(looks_like_text(""));
}

}  // namespace
}  // namespace slackline::sched
