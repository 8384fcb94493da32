// The scanner under every text form: lines, words and what it says where they do not fit.
#include "base/text_scan.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

using slackline::testing::error_of;

TEST(TextScanner, LinesHoldWords) {
  TextScanner in("\n  # a comment\none two\t three # four\r\n \r\nfive#six\n", "f");
  EXPECT_EQ(in.line(), 0u);
  ASSERT_TRUE(in.next_line());
  EXPECT_EQ(in.line(), 3u);
  EXPECT_EQ(in.peek(), "one");
  EXPECT_EQ(in.word("a word"), "one");
  EXPECT_EQ(in.word("a word"), "two");
  EXPECT_FALSE(in.at_end());
  EXPECT_EQ(in.word("a word"), "three");
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.peek(), "");
  in.expect_end();
  EXPECT_EQ(in.rest(), "# four\r");
  ASSERT_TRUE(in.next_line());
  EXPECT_EQ(in.line(), 5u);
  EXPECT_EQ(in.word("a word"), "five#six");
  EXPECT_FALSE(in.next_line());
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.rest(), "");
  EXPECT_EQ(in.file(), "f");
  // The last line need not end.
  TextScanner last("a\nb", "f");
  ASSERT_TRUE(last.next_line());
  ASSERT_TRUE(last.next_line());
  EXPECT_EQ(last.word("b"), "b");
  EXPECT_FALSE(last.next_line());
  EXPECT_FALSE(TextScanner("", "f").next_line());
}

// What is said of a line of one word when it is read.
template <class Read>
std::string said(const std::string& line, Read&& read) {
  TextScanner in(line, "f");
  EXPECT_TRUE(in.next_line());
  return error_of([&] { read(in); });
}

TEST(TextScanner, NumbersHaveTheirRange) {
  const auto number = [](const std::string& text, std::uint64_t high) {
    return said(text, [&](TextScanner& in) { in.number("the count", high); });
  };
  EXPECT_EQ(number("7", 7), "");
  EXPECT_EQ(number("0", 0), "");
  EXPECT_EQ(number("8", 7),
            "f:1: the count: '8' does not fit; expected a whole number from 0 to 7");
  EXPECT_EQ(number("7x", 9),
            "f:1: the count: '7x' does not fit; expected a whole number from 0 to 9");
  EXPECT_EQ(number("-1", 9),
            "f:1: the count: '-1' does not fit; expected a whole number from 0 to 9");
  EXPECT_EQ(number("18446744073709551615", ~std::uint64_t{0}), "");
  EXPECT_NE(number("18446744073709551616", ~std::uint64_t{0}), "");
  EXPECT_EQ(said("4294967296", [](TextScanner& in) { in.number32("n"); }),
            "f:1: n: '4294967296' does not fit; expected a whole number from 0 to 4294967295");
  EXPECT_EQ(said("4294967295", [](TextScanner& in) { in.number32("n"); }), "");
}

TEST(TextScanner, SizesAndTimesHaveTheirUnits) {
  const auto bytes = [](const std::string& text) {
    return said(text, [](TextScanner& in) { in.bytes("size"); });
  };
  EXPECT_EQ(bytes("3KiB"), "");
  const std::string sizes =
      "; expected bytes, alone or with B, KB, MB, GB, KiB, MiB or GiB, such as 4096 or 1MiB";
  EXPECT_EQ(bytes("3kib"), "f:1: size: '3kib' is not a size" + sizes);
  EXPECT_EQ(bytes("KiB"), "f:1: size: 'KiB' is not a size" + sizes);
  const auto time = [](const std::string& text) {
    return said(text, [](TextScanner& in) { in.time("start"); });
  };
  const std::string expected =
      " is not a time; expected a number with ps, ns, us, ms or s, or 'forever'";
  EXPECT_EQ(time("3us"), "");
  EXPECT_EQ(time("forever"), "");
  EXPECT_EQ(time("3"), "f:1: start: '3'" + expected);
  EXPECT_EQ(time("ever"), "f:1: start: 'ever'" + expected);
  EXPECT_EQ(time(std::string(38, '0') + "ns"), "");
  EXPECT_EQ(time(std::string(39, '0') + "ns"),
            "f:1: start: '" + std::string(39, '0') + "n…'" + expected);
  TextScanner in("forever 5ns", "f");
  ASSERT_TRUE(in.next_line());
  EXPECT_EQ(in.time("t"), kForever);
  EXPECT_EQ(in.time("t"), Time{5'000});
}

TEST(TextScanner, WordsStandWhereTheyAreExpected) {
  EXPECT_EQ(said("a b",
                 [](TextScanner& in) {
                   in.expect("a");
                   in.expect("b");
                   in.expect_end();
                 }),
            "");
  EXPECT_EQ(said("a b", [](TextScanner& in) { in.expect("b"); }),
            "f:1: 'a' is out of place; expected 'b'");
  EXPECT_EQ(said("a",
                 [](TextScanner& in) {
                   in.expect("a");
                   in.expect("b");
                 }),
            "f:1: the line ends too early; expected 'b'");
  EXPECT_EQ(said("a b",
                 [](TextScanner& in) {
                   in.expect("a");
                   in.expect_end();
                 }),
            "f:1: 'b' is out of place; expected the end of the line");
  EXPECT_EQ(said("a",
                 [](TextScanner& in) {
                   in.word("x");
                   in.word("another");
                 }),
            "f:1: the line ends too early; expected another");
  EXPECT_EQ(said("a", [](TextScanner& in) { in.fail_at(7, "so"); }), "f:7: so");
}

}  // namespace
}  // namespace slackline::sched
