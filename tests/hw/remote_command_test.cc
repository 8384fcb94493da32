// What a shell of another host makes of a command line: tried with this host's sh.
#include "hw/launch/remote_command.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <random>

namespace slackline::hw {
namespace {

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), got);
  }
  pclose(pipe);
  return text;
}

// Each argument as a program gets it, with a zero byte behind it.
std::string as_sh_reads(const std::vector<std::string>& words) {
  std::string command = "printf '%s\\0'";
  for (const std::string& word : words) command += " " + quoted_for_shell(word);
  return output_of(command);
}

std::string with_zeros(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

TEST(RemoteCommand, WordsThatNeedNoQuotes) {
  EXPECT_EQ(quoted_for_shell("/usr/bin/slackline"), "/usr/bin/slackline");
  EXPECT_EQ(quoted_for_shell("--rank"), "--rank");
  EXPECT_EQ(quoted_for_shell("chain:ranks=2,bytes=1MiB"), "'chain:ranks=2,bytes=1MiB'");
  EXPECT_EQ(quoted_for_shell(""), "''");
  EXPECT_EQ(quoted_for_shell("it's"), "'it'\\''s'");
}

TEST(RemoteCommand, ShReadsBackWhatWasQuoted) {
  const std::vector<std::string> words = {
      "",     " ",     "'",   "''",   "\\", "\\'",  "a'b'c",    "$HOME",    "$(touch /tmp/x)",
      "`id`", "a;b",   "a&b", "a|b",  ">x", "<x",   "*",        "?",        "[a]",
      "~",    "~root", "#x",  "a\nb", "\n", "a\tb", "!x",       "{a,b}",    "=x",
      "a=b",  "\"",    "\\n", "-e",   "--", "%s",   "\x80\xff", "\x01\x7f", "caf\xc3\xa9"};
  EXPECT_EQ(as_sh_reads(words), with_zeros(words));
}

TEST(RemoteCommand, ShReadsBackWhateverBytes) {
  std::mt19937_64 random(13);
  constexpr std::string_view kOdd = "'\\\"$`!\n;&|<>(){}[]*?~#= \t";
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> words(20);
    for (std::string& word : words) {
      for (std::uint64_t left = random() % 20; left > 0; --left) {
        word += random() % 2 == 0 ? kOdd[random() % kOdd.size()]
                                  : static_cast<char>(1 + random() % 255);
      }
    }
    EXPECT_EQ(as_sh_reads(words), with_zeros(words));
  }
}

TEST(RemoteCommand, GoesToTheFolderIfItIsThere) {
  EXPECT_EQ(output_of(remote_command("/usr/bin", "pwd", {})), "/usr/bin\n");
  EXPECT_EQ(output_of("cd /; " + remote_command("/no/such it's folder", "pwd", {})), "/\n");
  EXPECT_EQ(output_of(remote_command("/", "printf", {"%s|", "a b", "c'd"})), "a b|c'd|");
}

}  // namespace
}  // namespace slackline::hw
