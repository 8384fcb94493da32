#include "base/ascii_text.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace slackline::base {
namespace {

TEST(AsciiText, SaysTheSameWithoutSigns) {
  EXPECT_EQ(ascii_text(""), "");
  EXPECT_EQ(ascii_text("plain \n\t text"), "plain \n\t text");
  EXPECT_EQ(ascii_text("… 3 × 4 − 1 → 5 ± 2 µs"), "... 3 x 4 - 1 -> 5 +/- 2 us");
  EXPECT_EQ(ascii_text("Zürich 東京 🚀"), "Z?rich ?? ?");
}

TEST(AsciiText, GoesByTheFirstVariableThatSaysSo) {
  const auto set = [](const char* all, const char* type, const char* lang) {
    const std::pair<const char*, const char*> values[] = {
        {"LC_ALL", all}, {"LC_CTYPE", type}, {"LANG", lang}};
    for (const auto& [name, value] : values) {
      if (value == nullptr) {
        ::unsetenv(name);
      } else {
        ::setenv(name, value, 1);
      }
    }
    return shows_utf8();
  };
  EXPECT_FALSE(set(nullptr, nullptr, nullptr));
  EXPECT_TRUE(set(nullptr, nullptr, "en_US.UTF-8"));
  EXPECT_TRUE(set("", "", "C.utf8"));
  EXPECT_TRUE(set("de_DE.utf-8@euro", "C", "C"));
  EXPECT_FALSE(set("C", "en_US.UTF-8", "en_US.UTF-8"));
  EXPECT_FALSE(set(nullptr, "de_DE.ISO-8859-1", "en_US.UTF-8"));
}

}  // namespace
}  // namespace slackline::base
