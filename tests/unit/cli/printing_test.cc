// Tables, numbers for people, and the JSON document.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/csv_field.h"
#include "cli/human.h"
#include "cli/json_output.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

TEST(Table, LinesUpItsColumns) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  table.add({"name", "n", "what"});
  table.add({"a", "100", "x"});
  table.add({"longer", "7"});
  EXPECT_EQ(table.text("> "),
            "> name      n  what\n"
            "> a       100  x\n"
            "> longer    7\n");
}

TEST(Table, CountsCharactersAndNotBytes) {
  EXPECT_EQ(display_width("4…258 µs"), 8u);
  Table table({Align::kRight, Align::kLeft});
  table.add({"…", "a"});
  table.add({"10", "b"});
  EXPECT_EQ(table.text(), " …  a\n10  b\n");
}

TEST(Human, Bytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1 KiB");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(256ull << 20), "256 MiB");
  EXPECT_EQ(human_bytes(std::numeric_limits<std::uint64_t>::max()), "16 EiB");
}

TEST(Human, SharesAndCounts) {
  EXPECT_EQ(human_share(1, 3), "33.3 %");
  EXPECT_EQ(human_share(0, 0), "–");
  EXPECT_EQ(human_count(1, "rank"), "1 rank");
  EXPECT_EQ(human_count(0, "rank"), "0 ranks");
}

TEST(Human, AveragesInLowestTerms) {
  EXPECT_EQ(exact_average({22, 14}), "11/7");
  EXPECT_EQ(exact_average({28, 14}), "2");
  EXPECT_EQ(exact_average({0, 3}), "0");
  EXPECT_EQ(exact_average({0, 0}), "");
}

TEST(JsonOutput, KeepsOrderAndKinds) {
  JsonOutput document("7b8a", true);
  document.set("text", "a\"b\n");
  document.set("number", std::uint64_t{18446744073709551615u});
  document.set("small", std::uint32_t{3});
  document.set("real", 0.1);
  document.set("yes", true);
  document.set("never", std::numeric_limits<double>::infinity());
  // In a loop, since a compiler that knows it to be empty warns of what would then not be set.
  for (const auto& [key, value] : std::vector<std::pair<const char*, std::optional<double>>>{
           {"nothing", std::nullopt}, {"something", 2.5}}) {
    document.set(key, value);
  }
  document.set_null("none");
  const std::vector<double> reals = {1e-12, 0.0};
  const std::vector<std::uint64_t> numbers = {1, 2};
  document.set("reals", std::span<const double>(reals));
  document.set("numbers", std::span<const std::uint64_t>(numbers));
  document.begin_list("list");
  for (int i = 0; i < 3; ++i) {
    document.begin_object();
    document.set("i", static_cast<std::uint32_t>(i));
    document.end();
  }
  document.end();
  document.begin_list("empty");
  document.end();
  document.set("last", "");
  EXPECT_EQ(document.text(),
            "{\"schema\":1,\"digest\":\"7b8a\",\"proved\":true,\"text\":\"a\\\"b\\n\","
            "\"number\":18446744073709551615,\"small\":3,\"real\":0.1,\"yes\":true,\"never\":null,"
            "\"nothing\":null,\"something\":2.5,\"none\":null,\"reals\":[1e-12,0.0],"
            "\"numbers\":[1,2],\"list\":[{\"i\":0},{\"i\":1},{\"i\":2}],\"empty\":[],"
            "\"last\":\"\"}\n");
}

TEST(JsonOutput, WithoutADigest) {
  EXPECT_EQ(JsonOutput(std::nullopt, false).text(),
            "{\"schema\":1,\"digest\":null,\"proved\":false}\n");
}

TEST(JsonOutput, ReplacesWhatIsNoUtf8) {
  JsonOutput document(std::nullopt, false);
  document.set("text", "a\xff");
  EXPECT_TRUE(nlohmann::json::accept(document.text()));
}

TEST(JsonOutput, HoldsNothingThatATerminalObeys) {
  const std::string text = "a\x1b\x7f\u009b\u202eb×";
  JsonOutput document(std::nullopt, false);
  document.set("text", text);
  EXPECT_NE(document.text().find(R"("a\u001b\u007f\u009b\u202eb×")"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(document.text())["text"].get<std::string>(), text);
}

TEST(CsvField, IsQuotedAndNoFormula) {
  EXPECT_EQ(sched::csv_field("a b"), "a b");
  EXPECT_EQ(sched::csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
  for (const char* formula : {"=1+1", "+1", "-1", "@a"}) {
    EXPECT_EQ(sched::csv_field(formula), std::string("'") + formula);
  }
  EXPECT_EQ(sched::csv_field("\t=1\r\n"), "\\x09=1\\x0d\\x0a");
}

TEST(Table, CellsStayOnTheirLine) {
  Table table({Align::kLeft, Align::kLeft});
  table.add({"a\nb", "\x1b[2J"});
  EXPECT_EQ(table.text(), "a\\x0ab  \\x1b[2J\n");
}

TEST(JsonOutput, WritesRealsThatReadBackExactly) {
  for (const double value : {1.0 / 3, 8.668608e-05, 5e-324, 1.7976931348623157e308}) {
    JsonOutput document(std::nullopt, false);
    document.set("value", value);
    EXPECT_EQ(nlohmann::json::parse(document.text())["value"].get<double>(), value);
  }
}

}  // namespace
}  // namespace slackline::cli
