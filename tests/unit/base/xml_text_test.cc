#include "base/xml_text.h"

#include <gtest/gtest.h>

namespace slackline::sched {
namespace {

TEST(XmlText, HoldsNoMarkup) {
  EXPECT_EQ(xml_text("chain:ranks=3"), "chain:ranks=3");
  EXPECT_EQ(xml_text("</title><script>&'\""), "&lt;/title&gt;&lt;script&gt;&amp;'&quot;");
  EXPECT_EQ(xml_text("a\xffz\x1b"), "a\\xffz\\x1b");
}

}  // namespace
}  // namespace slackline::sched
