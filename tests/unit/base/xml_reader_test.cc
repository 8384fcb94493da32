#include "base/xml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace slackline::base {
namespace {

using ::testing::StartsWith;

TEST(XmlReader, ReadsElementsAndAttributes) {
  const XmlElement root = read_xml(
      "<?xml version='1.0'?>\n<!-- <none> -->\n<a x=\"1\" y = 'two &amp; \"more\"' >\n"
      "  <b/><!-- -- -->\n  <c z=\"\"><b  /></c >\n</a>\n<!-- end -->\n",
      "x.xml");
  EXPECT_EQ(root.name, "a");
  EXPECT_EQ(root.line, 3u);
  ASSERT_NE(root.find("y"), nullptr);
  EXPECT_EQ(*root.find("y"), "two &amp; \"more\"");
  EXPECT_EQ(root.find("z"), nullptr);
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(root.children[1].line, 5u);
  EXPECT_EQ(*root.children[1].find("z"), "");
  EXPECT_EQ(root.children[1].children.at(0).name, "b");
  EXPECT_EQ(xml_root(" <!-- c --> <algo x"), "algo");
  EXPECT_EQ(xml_root("num_ranks 2"), "");
  EXPECT_EQ(xml_root("<!-- open"), "");
}

TEST(XmlReader, RefusesWhatIsNotWellFormed) {
  const auto error = [](const std::string& text) {
    return testing::error_of([&] { read_xml(text, "x.xml"); });
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x.xml:1: the text ends too early; expected an element"},
      {"a", "x.xml:1: 'a' is out of place; expected an element"},
      {"<a", "x.xml:1: the text ends too early; expected an attribute"},
      {"<a>", "x.xml:1: the text ends too early; expected </a>"},
      {"<a>\ntext</a>", "x.xml:2: the text within <a> is not expected"},
      {"<a></b>", "x.xml:1: </b> ends <a> of line 1; expected </a>"},
      {"<a/><b/>", "x.xml:1: text behind the root element; expected the end"},
      {"<a x=\"1\"y=\"2\"/>", "x.xml:1: no blank before an attribute"},
      {"<a x=\"1\" x=\"2\"/>", "x.xml:1: x stands twice in <a>; expected it once"},
      {"<a x=1/>", "x.xml:1: a value without quotes; expected some"},
      {"<a x=\"1/>", "x.xml:1: a value has no end; expected a quote"},
      {"<a x=\"<\"/>", "x.xml:1: '<' in a value; expected &lt;"},
      {"<a x/>", "x.xml:1: '/' is out of place; expected '='"},
      {"<!DOCTYPE a><a/>", "x.xml:1: a declaration within the document; expected an element"},
      {"<a><!-- </a>", "x.xml:1: a comment has no end; expected '-->'"},
  };
  for (const auto& [text, expected] : cases) EXPECT_THAT(error(text), StartsWith(expected)) << text;
  std::string deep;
  for (int i = 0; i < 33; ++i) deep += "<a>";
  EXPECT_EQ(error(deep), "x.xml:1: elements more than 32 deep; expected fewer");
}

}  // namespace
}  // namespace slackline::base
