// The words of the text form one by one: each limit, each word that may stand once, each default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text_scan.h"
#include "sched/builder.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

using ::testing::StartsWith;

std::string error_of(const std::string& text) {
  return testing::error_of([&] { read_text(text, "x.sched"); });
}

const std::string kHead =
    "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 100\nbuffer 1 rank 1 bytes 100\n"
    "channel 0 from 0 to 1\n";

TEST(TextNumbers, FitSixtyFourBitsAndNoMore) {
  const auto taken = [](std::string_view text) -> std::pair<std::string, std::string> {
    std::uint64_t value = 7;
    const bool good = take_number(text, value);
    return {good ? std::to_string(value) : value == 7 ? "none" : "changed", std::string(text)};
  };
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(taken("0"), Pair("0", ""));
  EXPECT_EQ(taken("9:"), Pair("9", ":"));
  EXPECT_EQ(taken("12/"), Pair("12", "/"));
  EXPECT_EQ(taken("1234567890123456789"), Pair("1234567890123456789", ""));
  EXPECT_EQ(taken("9999999999999999999"), Pair("9999999999999999999", ""));
  EXPECT_EQ(taken("12345678901234567890"), Pair("12345678901234567890", ""));
  EXPECT_EQ(taken("18446744073709551615x"), Pair("18446744073709551615", "x"));
  EXPECT_EQ(taken("000000000000000000000001"), Pair("1", ""));
  for (const char* text : {"", "x1", "-1", "18446744073709551616", "18446744073709551620",
                           "99999999999999999999", "100000000000000000000"}) {
    EXPECT_EQ(taken(text), Pair("none", text));
  }
}

TEST(TextNumbers, BytesHaveEachUnit) {
  const auto taken = [](std::string_view text) -> std::pair<std::string, std::string> {
    std::uint64_t value = 7;
    const bool good = take_bytes(text, value);
    return {good ? std::to_string(value) : value == 7 ? "none" : "changed", std::string(text)};
  };
  using Pair = std::pair<std::string, std::string>;
  for (const auto& [text, value] : std::vector<std::pair<std::string, std::string>>{
           {"3B", "3"},
           {"3", "3"},
           {"3KB", "3000"},
           {"3MB", "3000000"},
           {"3GB", "3000000000"},
           {"3KiB", "3072"},
           {"3MiB", "3145728"},
           {"3GiB", "3221225472"},
           {"17179869183GiB", "18446744072635809792"}}) {
    EXPECT_EQ(taken(text), Pair(value, ""));
    EXPECT_EQ(taken(text + "]"), Pair(value, "]"));
  }
  EXPECT_EQ(taken("3A"), Pair("3", "A"));
  EXPECT_EQ(taken("3Z"), Pair("3", "Z"));
  EXPECT_EQ(taken("3ib"), Pair("3", "ib"));
  EXPECT_EQ(taken("17179869184GiB"), Pair("none", "17179869184GiB"));
  EXPECT_EQ(taken("KiB"), Pair("none", "KiB"));
}

TEST(TextWords, InQuotesShowsFortyCharacters) {
  EXPECT_EQ(in_quotes(std::string(40, 'a')), "'" + std::string(40, 'a') + "'");
  EXPECT_EQ(in_quotes(std::string(41, 'a')), "'" + std::string(40, 'a') + "…'");
  EXPECT_EQ(in_quotes(" ~\x7f\x1f\xff"), "' ~\\x7f\\x1f\\xff'");
}

TEST(TextWords, ATitleEscapesWhatCannotBeShown) {
  ScheduleBuilder b(1);
  b.set_title("\x01\x1f ~\x7f\"\\");
  EXPECT_THAT(write_text(b.build()), ::testing::HasSubstr("\ntitle \"\\x01\\x1f ~\\x7f\\\"\\\\\""));
  const auto title = [](const std::string& text) {
    return read_text("slackline schedule 1\ntitle " + text + "\nranks 1\n").title();
  };
  EXPECT_EQ(title("\"a\\x4fb\" # a comment"), "aOb");
  EXPECT_EQ(title("\t\"#\"#"), "#");
  EXPECT_EQ(title("\"\\xf0\"\t\r"), "\xf0");
  for (const char* bad :
       {"", "a\"", "\"", "\"a", "\"\\", "\"\\\"", "\"\\x1\"", "\"\\x1", "\"\\y12\"", "\"\\xg1\"",
        "\"\\x1g\"", "\"\\x1F\"", "\"a\" b", "\"a\"b"}) {
    EXPECT_EQ(error_of(std::string("slackline schedule 1\ntitle ") + bad + "\nranks 1\n"),
              "x.sched:2: title: expected a text between quotation marks")
        << bad;
  }
}

TEST(TextWords, StandOnceEach) {
  const auto twice = [](const std::string& line, const std::string& word) {
    EXPECT_EQ(error_of(kHead + "rank 0\n" + line), "x.sched:7: '" + word + "' is given twice")
        << line;
  };
  for (const char* word :
       {"step 1", "on 0", "reads 0[0+1]", "writes 0[0+1]", "lane 1", "for 1us", "operand 1",
        "compare 1", "offset 1", "mask 1", "expect equal", "sees 0", "after done:0"}) {
    const std::string text = word;
    const std::string keyword = text.substr(0, text.find(' '));
    twice("0 join " + text + (keyword == "after" ? " step 1 " : " ") + text, keyword);
  }
  twice("0 put imm flag", "imm' or 'flag");
  for (const char* word : {"service ud", "window 1", "credit_on 0", "credit_batch 1", "bundle none",
                           "bundle_bytes 1", "bundle_delay 1us"}) {
    const std::string text = word;
    twice("channel 1 from 0 to 1 " + text + " " + text, text.substr(0, text.find(' ')));
  }
  for (const char* word : {"attempts 1", "p 1", "outcome actual", "backoff 1us"}) {
    const std::string text = word;
    twice("region retry entry 0 count 1 " + text + " " + text, text.substr(0, text.find(' ')));
  }
  twice("ranks 2", "ranks");
}

TEST(TextWords, OfTheHeadStandOnceEach) {
  EXPECT_EQ(error_of(kHead + "message 1\nmessage 1\n"), "x.sched:7: 'message' is given twice");
  EXPECT_EQ(error_of(kHead + "title \"\"\ntitle \"\"\n"), "x.sched:7: 'title' is given twice");
  const std::string digest = "digest 00000000000000000000000000000000\n";
  EXPECT_EQ(error_of(kHead + digest + digest), "x.sched:7: 'digest' is given twice");
  EXPECT_THAT(error_of(kHead + digest + "title \"\"\nmessage 1\nrank 0\n0 join\n"),
              StartsWith("x.sched:6: the contents have digest"));
}

TEST(TextWords, ThatNeedTheRanksSaySo) {
  for (const char* line :
       {"message 1", "buffer 0 rank 0 bytes 1", "channel 0 from 0 to 0", "rank 0", "0 join",
        "region retry entry 0 count 1", "pre 0[0+1] value 0", "post 0[0+1] value 0"}) {
    EXPECT_EQ(error_of(std::string("slackline schedule 1\n") + line),
              "x.sched:2: this line comes too early; expected 'ranks N' before it");
  }
}

TEST(TextWords, HaveTheirLimits) {
  const auto error = [](const std::string& line) { return error_of(kHead + "rank 0\n" + line); };
  const auto too_large = [&](const std::string& line, const std::string& what,
                             const std::string& high) {
    EXPECT_THAT(error(line), ::testing::AllOf(StartsWith("x.sched:7: " + what + ": '"),
                                              ::testing::EndsWith("from 0 to " + high)))
        << line;
  };
  too_large("0 join lane 65536", "lane", "65535");
  too_large("0 join on 4294967295", "on", "4294967294");
  too_large("0 join sees 4294967295", "sees", "4294967294");
  too_large("channel 1 from 2 to 0", "from", "1");
  too_large("channel 1 from 0 to 2", "to", "1");
  too_large("channel 1 from 0 to 1 credit_on 4294967295", "credit_on", "4294967294");
  too_large("channel 1 from 0 to 1 window 4294967296", "window", "4294967295");
  too_large("region retry entry 4294967295 count 1", "entry", "4294967294");
  too_large("region retry entry 0 count 1 p 1000001", "p", "1000000");
  too_large("pre 0[0+1] value 4294967296", "value", "4294967295");
  EXPECT_EQ(error("0 join on 1"), "x.sched:7: channel 1 is not defined above; there are 1");
  EXPECT_EQ(error("0 copy reads 2[0+1]"), "x.sched:7: buffer 2 is not defined above; there are 2");
  EXPECT_EQ(error("0 join after done:4294967295"), "x.sched:7: op 4294967295 does not exist");
  EXPECT_EQ(error("0 join after done:4294967294"),
            "x.sched:7: op 4294967294 does not exist; there are 1 operations");
  EXPECT_EQ(error("0 join after done:1"), "x.sched:7: op 1 does not exist; there are 1 operations");
  EXPECT_EQ(error("0 join\nrank 0"),
            "x.sched:8: rank 0 comes after rank 0; expected ascending ranks");
  for (const char* piece : {"0[101+0]", "0[100+1]", "0[0+101]"}) {
    EXPECT_EQ(error(std::string("0 copy reads ") + piece),
              std::string("x.sched:7: '") + piece +
                  "' goes past the end of buffer 0, which has 100 bytes");
  }
  const Schedule s = read_text(kHead + "rank 0\n0 copy reads 0[100+0] writes 0[0+0]\n");
  EXPECT_EQ(s.slices(s.op(OpId(0)).reads)[0], (Slice{BufferId(0), 100, 0}));
  EXPECT_NO_THROW(read_text("slackline schedule 1\nranks 2\nrank 1\n0 join lane 65535\n"));
}

TEST(TextWords, APieceHasItsMarks) {
  for (const char* piece :
       {"[0+1]", "00+1]", "0[+1]", "0[01]", "0[0+]", "0[0+1", "0[0+1]x", "0(0+1]", "0[0+1)"}) {
    EXPECT_EQ(error_of(kHead + "rank 0\n0 copy reads " + piece),
              std::string("x.sched:7: '") + piece +
                  "' is not a piece of memory; expected buffer[offset+bytes]");
  }
}

TEST(TextWords, AnOperandHasItsParts) {
  const auto operand = [](const std::string& text) {
    const std::string get = " get on 0 reads 1[0+8] writes 0[0+8]";
    const Schedule s =
        read_text(kHead + "rank 0\n0" + get + " offset " + text + "\n1" + get + "\n");
    return s.arguments(s.op(OpId(0))).address_offset;
  };
  using From = Operand::From;
  EXPECT_EQ(operand("5"), (Operand{From::kLiteral, {}, 5}));
  EXPECT_EQ(operand("18446744073709551615"), (Operand{From::kLiteral, {}, ~0ull}));
  EXPECT_EQ(operand("result:1"), (Operand{From::kResult, OpId(1), 1}));
  EXPECT_EQ(operand("attempt:1*0"), (Operand{From::kAttempt, OpId(1), 0}));
  EXPECT_EQ(operand("result:1*2+3%4"), (Operand{From::kResult, OpId(1), 2, 3, 4}));
  EXPECT_EQ(operand("result:0+3"), (Operand{From::kResult, OpId(0), 1, 3, 0}));
  EXPECT_EQ(operand("attempt:0%4"), (Operand{From::kAttempt, OpId(0), 1, 0, 4}));
  for (const char* bad : {"x", "5x", "result:", "result:x", "result:1*", "result:1+", "result:1%",
                          "result:1+3*2", "result:1*2*3", "result:1%4+3", "Result:1"}) {
    EXPECT_THAT(
        error_of("slackline schedule 1\nranks 1\nrank 0\n0 delay offset " + std::string(bad)),
        StartsWith(std::string("x.sched:4: offset: '") + bad + "' is not a value"));
  }
}

TEST(TextWords, AnEventHasItsName) {
  const Schedule s = read_text(
      "slackline schedule 1\nranks 1\nrank 0\n0 join\n1 join\n2 join after issued:0 done:1\n");
  EXPECT_EQ(std::vector<Edge>(s.edges().begin(), s.edges().end()),
            (std::vector<Edge>{{OpId(0), OpId(2), On::kIssued}, {OpId(1), OpId(2), On::kDone}}));
  for (const char* bad :
       {"0", "done:", "done:x", "issued:0x", "begun:0", "done:99999999999999999999"}) {
    EXPECT_EQ(
        error_of("slackline schedule 1\nranks 1\nrank 0\n0 join after " + std::string(bad)),
        std::string("x.sched:4: '") + bad + "' is not an event; expected done:OP or issued:OP");
  }
}

TEST(TextWords, LinesEndWhereTheyShould) {
  EXPECT_EQ(error_of("slackline schedule 1 2\nranks 1\n"),
            "x.sched:1: '2' is out of place; expected the end of the line");
  EXPECT_EQ(error_of("slackline plan 1\nranks 1\n"),
            "x.sched:1: 'plan' is out of place; expected 'schedule'");
  EXPECT_EQ(error_of("slackline schedule 1\nranks 1 1\n"),
            "x.sched:2: '1' is out of place; expected the end of the line");
  EXPECT_EQ(error_of(kHead + "pre 0[0+1] value 1 at 2 3\n"),
            "x.sched:6: '3' is out of place; expected the end of the line");
  EXPECT_EQ(error_of(kHead + "pre 0[0+1] value 1 terms\n"),
            "x.sched:6: the line ends too early; expected terms");
  EXPECT_EQ(error_of(kHead + "pre 0[0+1] value 1 in 2\n"),
            "x.sched:6: 'in' is out of place; expected 'at'");
}

TEST(TextWords, FactsKeepTermsAndOffset) {
  const Schedule s = read_text(kHead +
                               "pre 0[0+8] value 1 terms 1 at 1KiB\npre 0[8+8] value 2 at 5\n"
                               "post 1[0+8] value 4 terms 3 at 6\npost 1[8+8] value 4\n");
  ASSERT_EQ(s.contract().pre.size(), 2u);
  ASSERT_EQ(s.contract().post.size(), 2u);
  EXPECT_EQ(s.contract().pre[0].terms, 1u);
  EXPECT_EQ(s.contract().pre[0].value_offset, 1024u);
  EXPECT_EQ(s.contract().pre[1].terms, 1u);
  EXPECT_EQ(s.contract().pre[1].value_offset, 5u);
  EXPECT_EQ(s.contract().post[0].value, ValueId(4));
  EXPECT_EQ(s.contract().post[0].terms, 3u);
  EXPECT_EQ(s.contract().post[0].value_offset, 6u);
  EXPECT_EQ(s.contract().post[1].terms, 1u);
}

// What the text leaves out is the default, and what differs from it is there: both are told by the
// words themselves, since a reader that shares the writer's mistake would not notice.
TEST(TextWriter, LeavesOutDefaultsAlone) {
  ScheduleBuilder b(2);
  b.set_message_bytes(1024);
  for (const std::uint64_t bytes :
       {0ull, 1000ull, 1023ull, 1024ull, 1536ull, 1ull << 20, 3ull << 20, 1ull << 30,
        (1ull << 30) + 1024, (1ull << 20) + 512}) {
    b.add_buffer(RankId(0), bytes);
  }
  Channel c;
  c.src = RankId(0);
  c.dst = RankId(1);
  b.add_channel(c);
  c.window = 1;
  c.credit_batch = 2;
  c.credit_on = ChannelId(0);
  c.bundle_bytes = 1;
  b.add_channel(c);
  Op op;
  op.rank = RankId(1);
  b.add(op);
  op.lane = 1;
  op.step = 1;
  b.add(op);
  const std::string text = write_text(b.build());
  const std::size_t begin = text.find("\nranks");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(text.substr(begin),
            "\nranks 2\nmessage 1KiB\n"
            "buffer 0 rank 0 bytes 0\nbuffer 1 rank 0 bytes 1000\nbuffer 2 rank 0 bytes 1023\n"
            "buffer 3 rank 0 bytes 1KiB\nbuffer 4 rank 0 bytes 1536\nbuffer 5 rank 0 bytes 1MiB\n"
            "buffer 6 rank 0 bytes 3MiB\nbuffer 7 rank 0 bytes 1GiB\n"
            "buffer 8 rank 0 bytes 1048577KiB\nbuffer 9 rank 0 bytes 1049088\n"
            "channel 0 from 0 to 1\n"
            "channel 1 from 0 to 1 window 1 credit_on 0 credit_batch 2 bundle_bytes 1\n"
            "rank 1\n  0 join\n  1 join lane 1 step 1\n");
}

}  // namespace
}  // namespace slackline::sched
