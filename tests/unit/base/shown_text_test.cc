// How text of users is shown to people.
#include "base/shown_text.h"

#include <gtest/gtest.h>

#include <random>

namespace slackline::sched {
namespace {

TEST(ShownText, LeavesOrdinaryText) {
  for (const std::string text : {"", "a b~", "256 MiB × 2…", "é", "日本", "𝄞", "a\\x1b"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(ShownText, CommandsOfATerminalAreWrittenOut) {
  EXPECT_EQ(shown("\x1b[2J\x07\r\n\t\x7f"), "\\x1b[2J\\x07\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(shown(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(shown("\u009b2J"), "\\u009b2J");
  EXPECT_EQ(shown("a\u202eb\u2066c\u200fd\u2028e\ufefff"),
            "a\\u202eb\\u2066c\\u200fd\\u2028e\\ufefff");
}

TEST(ShownText, WhatIsNoUtf8IsWrittenOut) {
  EXPECT_EQ(shown("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(shown("\xc3"), "\\xc3");
  EXPECT_EQ(shown("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf");                    // longer than needed
  EXPECT_EQ(shown("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // so is this
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(shown("\x9b"
                  "2J"),
            "\\x9b2J");
}

TEST(ShownText, IsCutByCharacters) {
  EXPECT_EQ(shown("abc", 3), "abc");
  EXPECT_EQ(shown("abcd", 3), "abc…");
  EXPECT_EQ(shown("ééé", 3), "ééé");
  EXPECT_EQ(shown("éééé", 3), "ééé…");
  EXPECT_EQ(shown("a", 0), "…");
}

TEST(ShownText, LinesStay) {
  EXPECT_EQ(shown_lines("a\tb\n\x1b[0mc\r\né\n"), "a\tb\n\\x1b[0mc\\x0d\né\n");
}

TEST(ShownText, OfAMessageBothEndsStay) {
  EXPECT_EQ(shown_ends("", 8), "");
  EXPECT_EQ(shown_ends("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shown_ends("abcdefghi", 8), "abcdef … hi");
  EXPECT_EQ(shown_ends("éééééééé", 8), "éééééééé");
  EXPECT_EQ(shown_ends("éééééééüü", 8), "éééééé … üü");
  EXPECT_EQ(shown_ends("abcdefg\nh", 8), "abcdef … \\x0ah");
}

// Whatever the bytes: one line of valid UTF-8, which shown() then leaves as it is.
TEST(ShownText, IsItsOwnImage) {
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (auto i = random() % 24; i > 0; --i) text += static_cast<char>(random() % 256);
    for (const std::string& out : {shown(text), shown(text, 5), shown_ends(text, 8)}) {
      EXPECT_EQ(shown(out), out);
      EXPECT_EQ(shown_lines(out), out);
    }
  }
}

}  // namespace
}  // namespace slackline::sched
