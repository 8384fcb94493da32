// What every reader of TOML files takes and refuses.
#include "machine/toml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "machine/input_text.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using slackline::testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = TomlValue::Kind;

std::string parse_error(const std::string& text) {
  return error_of([&] { parse_toml(text, "f"); });
}

TEST(TomlDocument, HasEveryKindOfValueWithItsLine) {
  const TomlValue document = parse_toml(
      "text = \"a b\"\nwhole = -7\ndecimal = 0.5\nlist = [1, \"x\"]\n"
      "flag = true\n\n[table]\nkey = 3\n",
      "f");
  EXPECT_EQ(document.kind, Kind::kTable);
  EXPECT_EQ(document.line, 1u);
  ASSERT_EQ(document.children.size(), 6u);
  const std::vector<Kind> kinds = {Kind::kText,  Kind::kInteger, Kind::kDecimal,
                                   Kind::kArray, Kind::kOther,   Kind::kTable};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(document.children[i].kind, kinds[i]);
    EXPECT_EQ(document.children[i].line, i == 5 ? 7 : i + 1);
  }
  EXPECT_EQ(document.children[0].key, "text");
  EXPECT_EQ(document.children[0].text, "a b");
  EXPECT_EQ(document.children[1].integer, -7);
  EXPECT_EQ(document.children[2].decimal, 0.5);
  ASSERT_EQ(document.children[3].children.size(), 2u);
  EXPECT_EQ(document.children[3].children[1].text, "x");
  EXPECT_EQ(document.children[5].children[0].key, "key");
  EXPECT_EQ(document.children[5].children[0].line, 8u);
}

TEST(TomlDocument, RefusesWhatIsNoDocument) {
  EXPECT_THAT(parse_error("a = 1\nb = = 2\n"), StartsWith("f:2: "));
  EXPECT_THAT(parse_error("a = 1\nb = = 2\n"), HasSubstr("; expected a well-formed TOML document"));
  EXPECT_EQ(parse_error("a = 1\nb = \"x\\u0001\"\n"),
            "f:2: 'x\\x01' has a control character; expected plain text");
  EXPECT_EQ(parse_error("a = 1\n\"b\\u0001\" = 2\n"),
            "f:2: 'b\\x01' has a control character; expected plain text");
}

TEST(TomlDocument, HasItsLimits) {
  const auto nested = [](int depth) {
    return "a = " + std::string(depth, '[') + std::string(depth, ']') + "\n";
  };
  EXPECT_EQ(parse_error(nested(8)), "");
  EXPECT_EQ(parse_error(nested(9)), "f:1: nested too deep; expected at most tables of tables");
  const std::string dots(64, '.');
  EXPECT_EQ(parse_error("a = \"" + dots + "\"\nb = \"" + dots + "\"\n"), "");
  EXPECT_EQ(parse_error("a = 1\nb = \"." + dots + "\"\n"),
            "f:2: a line with too many dots; expected at most 64");
  EXPECT_EQ(parse_error("#" + std::string(kMaxInputBytes, 'x')),
            "f:1: the document is too large; expected at most 16 MiB");
}

struct Read {
  explicit Read(const std::string& text)
      : document(parse_toml(text, "f")), table(document, "f", "") {}
  TomlValue document;
  TomlTable table;
};

TEST(TomlTable, ATextIsNoNumber) {
  Read r("a = \"x\"\nb = 3\nc = 0.25\nd = []\n");
  EXPECT_EQ(r.table.text("a", "a name"), "x");
  EXPECT_EQ(r.table.text("z", "a name"), std::nullopt);
  EXPECT_EQ(error_of([&] { r.table.text("b", "a name"); }),
            "f:2: b: a whole number stands here; expected a name");
  EXPECT_EQ(error_of([&] { r.table.text("c", "a name"); }),
            "f:3: c: a decimal number stands here; expected a name");
  EXPECT_EQ(r.table.text_or_number("a", "it"), "x");
  EXPECT_EQ(r.table.text_or_number("b", "it"), "3");
  EXPECT_EQ(r.table.text_or_number("c", "it"), "0.25");
  EXPECT_EQ(r.table.text_or_number("z", "it"), std::nullopt);
  EXPECT_EQ(error_of([&] { r.table.text_or_number("d", "it"); }),
            "f:4: d: an array stands here; expected it");
}

TEST(TomlTable, AWholeNumberHasItsRange) {
  Read r("a = 0\nb = 9\nc = 10\nd = -1\ne = 1.0\nf = true\n");
  EXPECT_EQ(r.table.whole("a", 9), 0u);
  EXPECT_EQ(r.table.whole("b", 9), 9u);
  EXPECT_EQ(r.table.whole("z", 9), std::nullopt);
  for (const auto& [key, what] :
       {std::pair("3: c", "10"), std::pair("4: d", "-1"), std::pair("5: e", "a decimal number"),
        std::pair("6: f", "another type of value")}) {
    EXPECT_EQ(error_of([&, name = std::string(key).substr(3)] { r.table.whole(name, 9); }),
              "f:" + std::string(key) + ": " + what +
                  " stands here; expected a whole number from 0 to 9");
  }
}

TEST(TomlTable, TablesHaveTheirHeads) {
  Read r("n = 1\nlist = [1]\nempty = []\n[one]\na = 1\n[[many]]\nb = 2\n[[many]]\nc = 3\n");
  ASSERT_EQ(r.table.tables("many").size(), 2u);
  EXPECT_EQ(r.table.tables("many")[1].where(), "f:8: many");
  EXPECT_EQ(r.table.tables("many")[1].whole("c", 9), 3u);
  EXPECT_TRUE(r.table.tables("z").empty());
  EXPECT_TRUE(r.table.tables("empty").empty());
  EXPECT_EQ(error_of([&] { r.table.tables("list"); }),
            "f:2: list: an array of something else stands here; expected tables headed [[list]]");
  EXPECT_EQ(error_of([&] { r.table.tables("one"); }),
            "f:4: one: a table stands here; expected tables headed [[one]]");
  EXPECT_EQ(r.table.table("one")->whole("a", 9), 1u);
  EXPECT_FALSE(r.table.table("z").has_value());
  EXPECT_EQ(error_of([&] { r.table.table("n"); }),
            "f:1: n: a whole number stands here; expected a table headed [n]");
  TomlTable one = *r.table.table("one");
  EXPECT_EQ(error_of([&] { one.text("a", "a name"); }),
            "f:5: one.a: a whole number stands here; expected a name");
  EXPECT_EQ(r.table.where(), "f:1");
}

TEST(TomlTable, OtherKeysAreRefused) {
  Read r("a = 1\n[b]\nc = 1\n");
  r.table.find("a");
  EXPECT_EQ(error_of([&] { r.table.refuse_others(); }), "f:2: unknown key 'b'; expected one of a");
  TomlTable b = *r.table.table("b");
  EXPECT_EQ(error_of([&] { r.table.refuse_others(); }), "");
  b.find("d");
  b.find("e");
  b.find("d");
  EXPECT_EQ(error_of([&] { b.refuse_others(); }),
            "f:3: unknown key 'c' in [b]; expected one of d, e");
}

TEST(TomlTable, ASchemaIsNoNewerThanTheProgram) {
  const auto error = [](const std::string& text, std::uint32_t newest) {
    Read r(text);
    return error_of([&] { r.table.check_schema(newest); });
  };
  EXPECT_EQ(error("", 1), "");
  EXPECT_EQ(error("schema = 1\n", 1), "");
  EXPECT_EQ(error("schema = 2\n", 2), "");
  EXPECT_EQ(error("schema = 0\n", 1), "f:1: schema: 0 is no schema this program reads; expected 1");
  EXPECT_EQ(error("schema = 3\n", 2),
            "f:1: schema: 3 is newer than any schema this program reads; expected 1 to 2");
}

}  // namespace
}  // namespace slackline::machine
