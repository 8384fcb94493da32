// Pages of answers: they hold the document as it is, and refuse what is none.
#include "report/answer_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace slackline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AnswerPage, HoldsTheDocumentInItsOrder) {
  const std::string document =
      R"({"b":1,"a":[{"x":[1,2],"y":[3.5,null],"name":"</script><b>"}],"c":"\u2028"})";
  const std::string page = answer_page("<title>", document);
  EXPECT_THAT(page, HasSubstr("<title>&lt;title&gt;</title>"));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  const std::string begin = "id=\"facts\">";
  const std::size_t at = page.find(begin) + begin.size();
  const auto facts =
      nlohmann::ordered_json::parse(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(facts["answer"].dump(), nlohmann::ordered_json::parse(document).dump());
  EXPECT_EQ(facts["title"], "<title>");
  EXPECT_FALSE(facts.contains("schedule"));
  EXPECT_EQ(page, answer_page("<title>", document));
}

TEST(AnswerPage, IsOfAnObjectAlone) {
  for (const char* other : {"", "[1]", "3", "{\"a\":"}) {
    EXPECT_THROW(answer_page("x", other), InternalError) << other;
  }
}

}  // namespace
}  // namespace slackline::report
