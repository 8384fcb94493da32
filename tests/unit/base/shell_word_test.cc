#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace slackline::base {
namespace {

TEST(ShellWord, IsTheTextWhereAShellTakesItAsItIs) {
  EXPECT_EQ(shell_word("-goal"), "-goal");
  EXPECT_EQ(shell_word("/tmp/a.b/c-1_2.bin"), "/tmp/a.b/c-1_2.bin");
}

TEST(ShellWord, IsQuotedElse) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my file"), "'my file'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word("~"), "'~'");
}

}  // namespace
}  // namespace slackline::base
