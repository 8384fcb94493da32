// How users' text is quoted, refused and read.
#include "machine/input_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using slackline::testing::error_of;

TEST(InputText, IsQuotedOnOneLine) {
  EXPECT_EQ(machine::in_quotes(""), "''");
  EXPECT_EQ(machine::in_quotes("a b~\xc3\xa9"), "'a b~\xc3\xa9'");
  EXPECT_EQ(machine::in_quotes("\x01\x1f\x7f\n"), "'\\x01\\x1f\\x7f\\x0a'");
  EXPECT_EQ(machine::in_quotes(std::string(80, 'x')), "'" + std::string(80, 'x') + "'");
  EXPECT_EQ(machine::in_quotes(std::string(81, 'x')), "'" + std::string(80, 'x') + "…'");
}

TEST(InputText, ControlCharactersAreNotPlain) {
  EXPECT_EQ(error_of([] { require_plain(" a~\xc3\xa9", "here"); }), "");
  for (const char c : {'\0', '\t', '\n', '\x1f', '\x7f'}) {
    EXPECT_NE(error_of([&] { require_plain(std::string("a") + c, "here"); }), "");
  }
  EXPECT_EQ(error_of([] { require_plain("a\tb", "here"); }),
            "here: 'a\\x09b' has a control character; expected plain text");
}

TEST(InputText, APathHasALengthAndNoComma) {
  EXPECT_EQ(parse_path("a/b c", "file"), "a/b c");
  EXPECT_EQ(parse_path(std::string(4096, 'x'), "file").size(), 4096u);
  for (const std::string& bad : {std::string(), std::string(4097, 'x'), std::string("a,b")}) {
    EXPECT_NE(error_of([&] { parse_path(bad, "file"); }), "");
  }
  EXPECT_EQ(error_of([] { parse_path("a,b", "file"); }),
            "file: 'a,b' is no path; expected a file's path without commas");
}

TEST(InputText, AFileIsReadUpToItsBound) {
  const auto path = std::filesystem::path(::testing::TempDir()) /
                    ("slackline-input-" + std::to_string(::getpid()));
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const auto with = [&](std::size_t bytes) {
    std::ofstream(path, std::ios::binary) << std::string(bytes, 'x') << "end";
    return error_of([&] {
      const std::string text = read_input_file(path.string(), "delay", "a plan", kMost);
      EXPECT_EQ(text.size(), bytes + 3);
      EXPECT_TRUE(text.ends_with("xend") || bytes == 0);
    });
  };
  for (const std::size_t bytes :
       {std::size_t{0}, (std::size_t{1} << 16) - 3, (std::size_t{1} << 16) - 2, kMost - 3}) {
    EXPECT_EQ(with(bytes), "");
  }
  EXPECT_EQ(with(kMost - 2), "delay file " + machine::in_quotes(path.string()) +
                                 ": more than 1 MiB; expected a plan");
  std::filesystem::remove(path);
  EXPECT_EQ(
      error_of([&] { read_input_file(path.string(), "delay", "a plan"); }),
      "delay file " + machine::in_quotes(path.string()) + ": cannot be read; expected a plan");
}

}  // namespace
}  // namespace slackline::machine
