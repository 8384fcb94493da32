#include "report/script_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ScriptJson, HoldsNothingThatEndsItsElement) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>&<!--\u2028\"\\";
  const nlohmann::ordered_json value = {{"platform", hostile}, {hostile, 1}};
  const std::string text = script_json(value);
  for (const char* part : {"<", ">", "&", "\u2028"}) EXPECT_THAT(text, Not(HasSubstr(part)));
  EXPECT_EQ(nlohmann::ordered_json::parse(text), value);
}

TEST(ScriptJson, ReplacesWhatIsNotUtf8) { EXPECT_EQ(script_json("a\xffz"), "\"a\uFFFDz\""); }

}  // namespace
}  // namespace slackline::report
