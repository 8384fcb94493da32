#include "cli/answer.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace slackline::cli {
namespace {

constexpr Reader kPeople{false, false};
constexpr Reader kProgram{true, false};

// Three links, of which the second is busiest.
void say(Answer& answer) {
  static constexpr double kShares[] = {0.25, 0.75, 0.5};
  answer.set("schedule", answer.subject().name);
  answer.opening("  a line under the name\n");
  answer.row("engine", "flow");
  answer.makespan(1.5e-6);
  answer.both("bytes", "bytes", in_bytes(1024));
  answer.both("rate", "rate", as_rate(std::nullopt));
  answer.digest_row();
  answer.say("  a remark\n");
  const Columns columns = {
      {"link", "link", [](auto row) { return "link-" + std::to_string(row); }, Align::kLeft},
      {nullptr, "used", [](auto row) { return as_share(kShares[row]); }},
      {"share", nullptr, [](auto row) { return kShares[row]; }}};
  answer.list("links", rows_of(3), columns);
  answer.table("links, busiest first", columns,
               most_first(rows_of(3), [](auto row) { return kShares[row]; }), 2, "more link");
  answer.set_each("shares", std::span(kShares), [](double share) { return share; });
  answer.set_null({"nothing"});
}

TEST(Answer, IsLinesAndTablesForPeople) {
  Answer answer(kPeople, {"chain", "7b8a", true});
  say(answer);
  EXPECT_EQ(answer.text(),
            "chain\n"
            "  a line under the name\n"
            "  engine    flow\n"
            "  makespan  1.5 us (1.5e-06 s)\n"
            "  bytes     1 KiB\n"
            "  rate\n"
            "  digest    7b8a\n"
            "  a remark\n"
            "\n"
            "  links, busiest first:\n"
            "  link      used\n"
            "  link-1  75.0 %\n"
            "  link-2  50.0 %\n"
            "  … and 1 more link; --all shows them\n");
}

TEST(Answer, IsADocumentForAProgram) {
  Answer answer(kProgram, {"chain", "7b8a", true});
  say(answer);
  EXPECT_EQ(answer.text(),
            R"({"schema":1,"digest":"7b8a","proved":true,"schedule":"chain","makespan_s":1.5e-06,)"
            R"("bytes":1024,"rate":null,"links":[{"link":"link-0","share":0.25},)"
            R"({"link":"link-1","share":0.75},{"link":"link-2","share":0.5}],)"
            R"("shares":[0.25,0.75,0.5],"nothing":null})"
            "\n");
}

TEST(Answer, ShowsEveryRowWhereAllAreAskedFor) {
  Answer answer({false, true}, {"chain", std::nullopt});
  say(answer);
  EXPECT_NE(answer.text().find("link-0  25.0 %"), std::string::npos);
  EXPECT_EQ(answer.text().find("--all"), std::string::npos);
  EXPECT_NE(answer.text().find("none: answered without making the schedule"), std::string::npos);
}

TEST(Value, IsNullInADocumentWhateverPeopleReadInItsPlace) {
  JsonOutput json(std::nullopt, false);
  Value().shown_as("–").set(json, "none");
  Value(2.5).shown_as("two and a half").set(json, "some");
  EXPECT_EQ(Value().shown_as("–").text(), "–");
  EXPECT_EQ(Value(2.5).shown_as("two and a half").text(), "two and a half");
  EXPECT_EQ(Value().text(), "");
  EXPECT_NE(json.text().find(R"("none":null,"some":2.5)"), std::string::npos);
}

TEST(Rows, KeepTheirOrderWhereKeysAreTheSame) {
  const auto key = [](std::uint32_t row) { return row / 2; };
  EXPECT_EQ(most_first(rows_of(5), key), (Rows{4, 2, 3, 0, 1}));
  EXPECT_EQ(least_first(rows_of(5), key), (Rows{0, 1, 2, 3, 4}));
  EXPECT_EQ(rows_where(5, [](std::uint32_t row) { return row % 2 == 1; }), (Rows{1, 3}));
}

}  // namespace
}  // namespace slackline::cli
