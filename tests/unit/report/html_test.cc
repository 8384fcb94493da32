#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Html, TextHoldsNoMarkup) {
  EXPECT_EQ(html_text("chain:ranks=3"), "chain:ranks=3");
  EXPECT_EQ(html_text("</title><script>&'\""), "&lt;/title&gt;&lt;script&gt;&amp;&#39;&quot;");
  EXPECT_EQ(html_text("a\xffz"), "a\uFFFDz");
}

TEST(Html, NothingInScriptJsonEndsItsElement) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>&<!--\u2028\"\\";
  const nlohmann::ordered_json value = {{"platform", hostile}, {hostile, 1}};
  const std::string text = script_json(value);
  for (const char* part : {"<", ">", "&", "\u2028"}) EXPECT_THAT(text, Not(HasSubstr(part)));
  EXPECT_EQ(nlohmann::ordered_json::parse(text), value);
}

TEST(Html, ScriptJsonReplacesWhatIsNotUtf8) { EXPECT_EQ(script_json("a\xffz"), "\"a\uFFFDz\""); }

}  // namespace
}  // namespace slackline::report
